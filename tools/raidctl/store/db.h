/* SPDX-License-Identifier: GPL-2.0-or-later */

/* SQLite, which only the files of store/ use. Each file contains its statements. */

#ifndef STORE_DB_H
#define STORE_DB_H

#include <sqlite3.h>

#include "store/store.h"

/* Upper limit of the prepared statements of a recording. */
#define STORE_STATEMENTS	32

/* packed.c: the histograms of a sample as one text; the memory is used again for each sample */
struct packed {
	char *text;	/* not terminated; NULL at first */
	size_t len;
	size_t room;
};

/* Write the text of the bins that are not zero. Return: 0 or -ENOMEM. */
int packed_put(struct packed *packed, const struct rt_counters *span);
void packed_free(struct packed *packed);

/* Directions in alphabetical order, which is the order of all rows and members of a sample. */
extern const uint8_t packed_directions[RT_DIRECTIONS];

/* One open recording. */
struct store {
	struct rows rows;
	sqlite3 *db;
	sqlite3_stmt *statements[STORE_STATEMENTS];	/* prepared at first use */
	const char *sql[STORE_STATEMENTS];		/* text of each, compared by pointer */
	struct packed packed;				/* histograms of the sample being stored */
	bool writing;					/* created by store_create() */
	int lock;					/* descriptor that keeps the file locked, or -1 */
	char error[256];				/* text of the last failure */
};

/* schema.sql as a string, made by the Makefile. */
extern const char store_schema[];

/* Open an existing database, or one in memory. Return: 0 or -errno, then store_error(NULL) has a text. */
int store_connect(const char *path, struct store **ret);

/* Store SQLite's last failure as the store's error. Return: the failure as -errno. */
int store_failed(struct store *store);

/* Run statements without parameters; their rows are ignored. */
int store_execute(struct store *store, const char *sql);

/*
 * Get a statement. It is compiled when a string, which must never be freed, is used first. Return: a statement to bind
 * and pass to store_run(); NULL after a failure, see store_failed().
 */
sqlite3_stmt *store_prepared(struct store *store, const char *sql);

/* Run a statement without result rows, and reset it for the next use. */
int store_run(struct store *store, sqlite3_stmt *stmt);

/* Bind a string without copying it. The string must be valid until the statement has run. */
void store_bind_text(sqlite3_stmt *stmt, int place, const char *text);

/* Bind a count, or NULL if it is not known. */
void store_bind_known(sqlite3_stmt *stmt, int place, uint64_t unknown,
		      uint64_t value);

/* A value of a row. If the text is NULL and @len is 0, it is a number; a number that is not known is NULL. */
struct cell {
	const char *text;
	size_t len;	/* of bytes stored unchanged; 0 for a terminated text, which is repaired to UTF-8 */
	int64_t number;
	bool known;
};

#define NUMBER(value)		{ .number = (int64_t)(value), .known = true }
#define KNOWN(is, value)	{ .number = (int64_t)(value), .known = (is) }
#define TEXT(value)		{ .text = (value) }

#define ROW(...) \
	(const struct cell[]){ __VA_ARGS__ }, (int)(sizeof((const struct cell[]){ __VA_ARGS__ }) / sizeof(struct cell))

/* Run a statement without result rows, with a parameter for each cell: ROW(...). */
int store_put_row(struct store *store, const char *sql, const struct cell *cells, int nr);

#endif
