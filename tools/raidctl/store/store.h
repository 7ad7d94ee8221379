/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings: one SQLite file each.
 *
 * Durability.  What belongs to one sample is in one transaction, so a reader
 * finds whole samples only; samples that wait for a slow disk share one.  The
 * journal is a rollback journal (TRUNCATE): WAL needs shared memory between
 * processes, which hostfs and network file systems do not give.  synchronous is NORMAL: whatever kills the tool leaves
 * every committed sample, because it is in the page cache by then, and a
 * crash of the machine leaves all of them but perhaps the last; FULL would
 * wait for one more flush per sample, OFF could leave a file that cannot be
 * read after a crash, when a recording matters most.
 *
 * Versions.  A new table or column is no new version; readers name the columns
 * they want, and one that a recording lacks reads as NULL.
 *
 * Functions that return int return 0 or -errno; store_error() then has words.
 */

#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"

#define STORE_APPLICATION_ID	0x52544442	/* "RTDB" */
#define STORE_VERSION		2

/* Most columns of a query. */
#define STORE_COLUMNS		160

struct store;

/* The words of the last failure on a store, of any when @store is NULL. */
const char *store_error(const struct store *store);

/**
 * store_create - begin a recording
 * @path: a file that does not exist
 * @ret: to be given to store_close()
 *
 * Return: 0; -EEXIST, then the file is untouched; -ENOTUNIQ when the journal
 * of another recording of that name is there; another -errno.
 */
int store_create(const char *path, struct store **ret);

/* store_close - end a recording; NULL is none */
int store_close(struct store *store);

/**
 * store_is_there - does the path still lead to the open file?
 * @store: open to be written
 *
 * Return: false when the file was removed, replaced or renamed meanwhile.
 */
bool store_is_there(struct store *store);

/**
 * store_stopped - note that nothing more could be stored
 * @store: its last commit failed
 *
 * Overwrites one word in place, which takes no room: "running", of the key end.
 */
void store_stopped(struct store *store);

/* store_remove - remove a closed recording and its journal */
void store_remove(const char *path);

/*
 * One transaction.  A failed commit leaves the file as it was at the last
 * one; after a failed write store_rollback() has to be called.
 */
int store_begin(struct store *store);
int store_commit(struct store *store);
void store_rollback(struct store *store);

/* Rows of the transaction; each returns 0 or -errno, and store_error() has words. */
int store_put_meta(struct store *store, const char *key, const char *value);
int store_put_target(struct store *store, uint32_t number,
		     const struct rt_target *target);
int store_put_setting(struct store *store, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value);
int store_begin_phase(struct store *store, uint32_t phase, const char *name,
		      uint64_t start_ns);
int store_end_phase(struct store *store, uint32_t phase, uint64_t end_ns);

/* store_put_request - one that ended, of a disk by its number */
int store_put_request(struct store *store, uint32_t target, const struct rt_ended *ended);

/* store_put_sample - one span with all its rows in flow and bin */
int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span);

/**
 * store_forget - take back counters that turn out not to be known
 * @store: in a transaction
 * @target: number
 * @unknown: RT_COUNTER_BIT() of each; in all samples of the target they become
 *	NULL, and histograms that belong to them go
 * @disk: RT_DISK_BIT() of each, likewise
 *
 * Return: 0 or -errno.
 */
int store_forget(struct store *store, uint32_t target, uint64_t unknown,
		 uint32_t disk);
int store_put_output(struct store *store, uint64_t time_ns, const char *stream,
		     const char *text, size_t len);

/**
 * store_each_row - hand every row of a query to a function
 * @store: open
 * @sql: a query without parameters
 * @row: called with text of each column, NULL for a null; non-zero ends it; NULL: rows do not matter
 * @data: for @row
 *
 * Return: 0; what @row returned; -errno.
 */
int store_each_row(struct store *store, const char *sql,
		   int (*row)(void *data, int columns,
			      const char *const *values),
		   void *data);

/**
 * store_sum - counters of directions, and histograms, of all samples of one phase and target together
 * @store: open
 * @phase: number
 * @target: number
 * @ret: to be given to rt_counters_free(); since_ns and now_ns bound the
 *	samples, both are 0 when there is none
 *
 * Return: 0 or -errno.
 */
int store_sum(struct store *store, uint32_t phase, uint32_t target,
	      struct rt_counters *ret);

/**
 * store_sums_fit - can each sum that a report prints be stored?
 * @store: open
 *
 * Distances and times of a trace can be of any length.
 *
 * Return: 0 or -errno.
 */
int store_sums_fit(struct store *store);

#endif
