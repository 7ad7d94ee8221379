/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the files of store/ share, and nobody else uses: SQLite is known to
 * them alone.  Each file has the statements that it runs.
 */

#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>

#include "store/packed.h"
#include "store/store.h"

struct recording;

/* Statements that one recording keeps prepared; more than there are. */
#define STORE_STATEMENTS	32

/**
 * struct store - one open recording
 * @db: SQLite's handle
 * @statements: prepared on first use
 * @sql: which statement that is, compared as a pointer
 * @packed: histograms of the sample that is being stored
 * @writing: made by store_create()
 * @error: words of the last failure
 */
struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[STORE_STATEMENTS];
	const char *sql[STORE_STATEMENTS];
	struct packed packed;
	bool writing;
	char error[256];
};

/* schema.sql as a string, made by the Makefile. */
extern const char store_schema[];

/**
 * store_connect - open a database, whatever is in it
 * @path: the file
 * @flags: SQLITE_OPEN_*
 * @ret: to be given to store_close()
 *
 * Return: 0 or -errno, then store_error(NULL) has words.
 */
int store_connect(const char *path, int flags, struct store **ret);

/* Keep the words that store_error(NULL) then gives; returns @err. */
int store_refused(int err, const char *words);

/* Take SQLite's last failure into @error and return it as -errno. */
int store_failed(struct store *store);

/* Run statements without parameters; their rows are ignored. */
int store_execute(struct store *store, const char *sql);

/**
 * store_prepared - a statement, compiled on first use
 * @store: open
 * @sql: a string that is there as long as the program
 *
 * Return: to be bound and given to store_run(); NULL on failure, then
 * store_failed() says why.
 */
sqlite3_stmt *store_prepared(struct store *store, const char *sql);

/* Run a statement that returns no row, and make it ready for the next use. */
int store_run(struct store *store, sqlite3_stmt *stmt);

/* Columns of the table sample that have no direction, in the order in which they are bound. */
#define STORE_DISK_NAME(member, attribute, ...)	"," #member
#define STORE_DISK_PLACE(member, attribute, ...)	",?"
#define STORE_DISK_NAMES						\
	",streams_alive,streams_alive_queued" RT_DISK_COUNTERS(STORE_DISK_NAME)
#define STORE_DISK_PLACES	",?,?" RT_DISK_COUNTERS(STORE_DISK_PLACE)

/* Bind them from behind @place on; the place of the last. */
int store_bind_disk(sqlite3_stmt *stmt, int place,
		    const struct rt_counters *span);

/* What else of a sample has no direction. */
int store_put_groups(struct store *store, int64_t sample,
		     const struct rt_counters *span);
/* Bind a string that is there until the statement has run; it is not copied. */
void store_bind_text(sqlite3_stmt *stmt, int place, const char *text);

/* Bind a count, or NULL when it is not known. */
void store_bind_known(sqlite3_stmt *stmt, int place, uint64_t unknown,
		      uint64_t value);

/**
 * struct cell - a value of a row, by one of the macros below
 * @text: there until the row is put, NULL where it is a number
 * @number: any that SQLite holds
 * @known: of @number; false is NULL in the table
 */
struct cell {
	const char *text;
	int64_t number;
	bool known;
};

#define NUMBER(value)		{ .number = (int64_t)(value), .known = true }
#define KNOWN(is, value)	{ .number = (int64_t)(value), .known = (is) }
#define TEXT(value)		{ .text = (value) }

#define ROW(...) \
	(const struct cell[]){ __VA_ARGS__ }, (int)(sizeof((const struct cell[]){ __VA_ARGS__ }) / sizeof(struct cell))

/**
 * store_put_row - run a statement that returns no row
 * @store: open
 * @sql: as store_prepared() wants it
 * @cells: its parameters, and how many there are: ROW(...)
 * @nr: as many as @sql has
 *
 * Return: 0 or -errno.
 */
int store_put_row(struct store *store, const char *sql, const struct cell *cells, int nr);

#endif
