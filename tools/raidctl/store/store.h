/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings: one SQLite file each.
 *
 * Durability.  The rows of one sample are in one transaction, so a reader finds
 * whole samples only; samples that wait for a slow disk share one.  The journal
 * is a rollback journal (TRUNCATE): WAL needs shared memory between processes,
 * which hostfs and network file systems do not have.  synchronous is NORMAL: when
 * the tool is killed, every committed sample stays, because it is in the page
 * cache by then.  After a crash of the machine all of them but perhaps the last
 * stay.  FULL would wait for one more flush per sample; OFF could leave a file
 * that cannot be read after a crash, when a recording matters most.
 *
 * Versions.  A new table or column is no new version: readers name the columns
 * that they use, and one that a recording lacks reads as NULL.
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

/* open.c: the file and its transactions */

struct store;

/* The words of the last failure on a store, of any when @store is NULL. */
const char *store_error(const struct store *store);

/*
 * Create the file of a recording. Return: 0; -EEXIST, then the file is untouched; -ENOTUNIQ when the journal of
 * another recording of that name exists; another -errno. End with store_close().
 */
int store_create(const char *path, struct store **ret);

/* End a recording; NULL is none. */
void store_close(struct store *store);

/* Return: false when the file was removed, replaced or renamed after store_create(). */
bool store_is_there(struct store *store);

/*
 * The last commit failed: overwrite the value "running" of the key end in place by "stopped", which takes no room.
 */
void store_stopped(struct store *store);

/* Remove a closed recording and its journal. */
void store_remove(const char *path);

/*
 * One transaction.  A failed commit leaves the file as it was at the last
 * one; after a failed row the caller has to call store_rollback().
 */
int store_begin(struct store *store);
int store_commit(struct store *store);
void store_rollback(struct store *store);

/* rows.c: rows, which a store stores at once, and a writer in its next transaction */

struct cell;
struct rows {
	int (*put)(struct rows *to, const char *sql, const struct cell *cells, int nr);
};

/* The rows of the present transaction of a store. */
struct rows *store_rows(struct store *store);

int store_put_meta(struct rows *to, const char *key, const char *value);
int store_put_meta_number(struct rows *to, const char *key, uint64_t value);

/* A disk, by its number in the recording. */
int store_put_target(struct rows *to, uint32_t number,
		     const struct rt_target *target);

/* A setting of a disk, or of the machine with the number 0. */
int store_put_setting(struct rows *to, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value);
int store_begin_phase(struct rows *to, uint32_t phase, const char *name,
		      uint64_t start_ns);
int store_end_phase(struct rows *to, uint32_t phase, uint64_t end_ns);

/* Bytes that the command printed. */
int store_put_output(struct rows *to, uint64_t time_ns, const char *stream,
		     const char *text, size_t len);

/* A request that ended, of a disk by its number. */
int store_put_request(struct rows *to, uint32_t target, const struct rt_ended *ended);

/* A note of the user. */
int store_put_note(struct rows *to, uint64_t time_ns, const char *text);

/* The disk @target is a part of the disk @parent. */
int store_put_stacked(struct rows *to, uint32_t target, uint32_t parent);

#define HOST_NAME	32
#define HOST_SUBJECT	64
#define HOST_TEXT	192

/* One number about a span of time. */
struct host_row {
	uint64_t start_ns;
	uint64_t end_ns;
	char source[HOST_NAME];		/* cpu, vmstat, command, process, interrupt */
	char subject[HOST_SUBJECT];	/* which of them, "" when there is only one */
	char name[HOST_NAME];
	char unit[HOST_NAME];
	int64_t value;			/* difference between begin and end */
};

int store_put_host(struct rows *to, const struct host_row *row);

/* Activity that does not belong to the recorded command. */
struct disturbance {
	uint32_t number;		/* the row of that number is replaced */
	char kind[HOST_NAME];		/* processor, process-io, disk, interrupts, memory, swap, clock, ... */
	char subject[HOST_SUBJECT];
	uint64_t start_ns;		/* begin of the first look that found it */
	uint64_t end_ns;		/* end of the last look that found it */
	char unit[HOST_NAME];
	int64_t value;			/* sum between them */
	char text[HOST_TEXT];		/* the same in words */
};

int store_put_disturbance(struct rows *to, const struct disturbance *disturbance);

/* sample.c: counters */

/* One span with all its rows in other tables. */
int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span);

/*
 * Make counters of all samples of a target NULL that turn out not to be known, and remove histograms that belong to
 * them. @unknown has RT_COUNTER_BIT() of each, @disk has RT_DISK_BIT().
 */
int store_forget(struct store *store, uint32_t target, uint64_t unknown,
		 uint32_t disk);

/* Return: 0 when SQLite can hold each sum that a report prints; distances and times of a trace can be of any length. */
int store_sums_fit(struct store *store);

/*
 * writer.c: stores a recording from a thread of its own.
 *
 * A commit waits for the disk, which may be the busy one that is being
 * recorded; the moment at which a phase is cut must not wait for it.  So the
 * recorder fills transactions in memory and hands them over.  They are stored
 * in order.  After the first that fails nothing more is stored.
 *
 * All functions are for one thread, the recorder's.  Those that return int
 * return 0, -ENOMEM, or the -errno of the first transaction that failed.
 */

struct writer;

/* Start the thread. Only it uses @store until writer_flush() has returned. End with writer_stop(). */
int writer_start(struct store *store, struct writer **ret);

/* A descriptor that becomes readable when a transaction has failed. */
int writer_failed_fd(const struct writer *writer);

/* The rows of the transaction being filled. */
struct rows *writer_rows(struct writer *writer);

/* One span, which is all zero afterwards, also after a failure. */
int writer_put_sample(struct writer *writer, uint32_t target, uint32_t phase,
		      struct rt_counters *span);

/* Call @store with a copy of @data in the writer's thread, where it puts rows of the transaction being filled. */
int writer_put(struct writer *writer,
	       int (*store)(struct store *store, const void *data),
	       const void *data, size_t size);

/* Hand the transaction over; it is not stored yet. */
int writer_commit(struct writer *writer);

/* Forget the transaction being filled. */
void writer_drop(struct writer *writer);

/* Wait until all that was handed over is stored. */
int writer_flush(struct writer *writer);

/* Store all that was handed over, then end. */
void writer_stop(struct writer *writer);

#endif
