/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings: one SQLite file each.
 *
 * Durability. The rows of one sample are in one transaction, so a reader finds only complete samples; samples that wait
 * for a slow disk share one. The journal is a rollback journal (TRUNCATE), because WAL needs shared memory between
 * processes, which hostfs and network file systems do not have. synchronous is NORMAL. If the tool is killed, every
 * committed sample is kept, because it is in the page cache. After a crash of the machine, all of them but perhaps the
 * last are kept. FULL would wait for one more flush per sample. OFF could leave a file that cannot be read after a
 * crash, when a recording matters most.
 *
 * Versions. A new table or column is not a new version: readers name the columns that they use, and a missing column
 * reads as NULL.
 *
 * Functions that return int return 0 or -errno; store_error() then has a text.
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

/* The text of the last failure of a store, or of any store if @store is NULL. */
const char *store_error(const struct store *store);

/*
 * Create the file of a recording, and keep it locked until store_close(). Return: 0; -EEXIST, then the file is
 * unchanged; -ENOTUNIQ if the journal of another recording with that name exists; another -errno. End with
 * store_close().
 */
int store_create(const char *path, struct store **ret);

/* Create a recording without a file. Return: 0 or -errno. End with store_close(). */
int store_create_in_memory(struct store **ret);

/* Get the bytes of a recording. Return: @size bytes to be given to store_bytes_free(), NULL without memory. */
unsigned char *store_bytes(struct store *store, size_t *size);
void store_bytes_free(unsigned char *bytes);

/* Remove all facts, disks, settings, phases and samples, for the next ones. */
int store_clear(struct store *store);

/* Close a recording. NULL is allowed. */
void store_close(struct store *store);

/* Return: false if the file was removed, replaced or renamed after store_create(). */
bool store_is_there(struct store *store);

/* After a failed commit, overwrite the value "running" of the key end by "stopped" in place, which needs no space. */
void store_stopped(struct store *store);

/* Remove a closed recording and its journal. */
void store_remove(const char *path);

/* Remove a recording for a new one. Return: 0; -EBUSY if a process writes it, then it is unchanged. */
int store_replace(const char *path);

/* Is a process writing the recording? A file that cannot be read counts as not written. */
bool store_is_recorded(const char *path);

/*
 * One transaction. A failed commit leaves the file as after the previous one. After a failed row, the caller must call
 * store_rollback().
 */
int store_begin(struct store *store);
int store_commit(struct store *store);
void store_rollback(struct store *store);

/* rows.c: rows. A store stores them at once, a writer in its next transaction. */

struct cell;
struct rows {
	int (*put)(struct rows *to, const char *sql, const struct cell *cells, int nr);
};

/* The rows of the present transaction of a store. */
struct rows *store_rows(struct store *store);

int store_put_meta(struct rows *to, const char *key, const char *value);
int store_put_meta_number(struct rows *to, const char *key, uint64_t value);

/* Put pairs { key, value }. A value of NULL is left out. */
#define store_put_metas(to, ...) store_put_pairs(to, (const char *const[][2]){ __VA_ARGS__, { NULL } })
int store_put_pairs(struct rows *to, const char *const (*pairs)[2]);

/* Room for the names of all groups of counters. */
#define GROUPS_TEXT	160

/* Write names of enum raidtrace_group flags, separated by blanks, to GROUPS_TEXT bytes. Return: @ret. */
char *groups_text(char *ret, uint32_t groups);

/* Put a disk, with its number in the recording. */
int store_put_target(struct rows *to, uint32_t number,
		     const struct rt_target *target);

/* Put a setting of a disk, or of the machine (number 0). */
int store_put_setting(struct rows *to, uint64_t time_ns, uint32_t target,
		      const char *name, const char *value);
int store_begin_phase(struct rows *to, uint32_t phase, const char *name,
		      uint64_t start_ns);
int store_end_phase(struct rows *to, uint32_t phase, uint64_t end_ns);

/* Put bytes that the command printed. */
int store_put_output(struct rows *to, uint64_t time_ns, const char *stream,
		     const char *text, size_t len);

/* Put a completed request of a disk with a number. */
int store_put_request(struct rows *to, uint32_t target, const struct rt_ended *ended);

/* Put a note of the user. */
int store_put_note(struct rows *to, uint64_t time_ns, const char *text);

/* Record that the disk @target is a part of the disk @parent. */
int store_put_stacked(struct rows *to, uint32_t target, uint32_t parent);

#define HOST_NAME	32
#define HOST_SUBJECT	64
#define HOST_TEXT	192

/* One number about a span of time. */
struct host_row {
	uint64_t start_ns;
	uint64_t end_ns;
	char source[HOST_NAME];		/* cpu, vmstat, command, process, interrupt */
	char subject[HOST_SUBJECT];	/* name of the process, line, ...; "" if there is only one */
	char name[HOST_NAME];
	char unit[HOST_NAME];
	int64_t value;			/* difference between start and end */
};

int store_put_host(struct rows *to, const struct host_row *row);

/* Activity that does not belong to the recorded command. */
struct disturbance {
	uint32_t number;		/* number of the row, which is replaced */
	char kind[HOST_NAME];		/* processor, process-io, disk, interrupts, memory, swap, clock, ... */
	char subject[HOST_SUBJECT];
	uint64_t start_ns;		/* start of the first look that detected it */
	uint64_t end_ns;		/* end of the last look that detected it */
	char unit[HOST_NAME];
	int64_t value;			/* sum between them */
	char text[HOST_TEXT];		/* description as text */
};

int store_put_disturbance(struct rows *to, const struct disturbance *disturbance);

/* sample.c: counters */

/* Store one span with all its rows in other tables. */
int store_put_sample(struct store *store, uint32_t target, uint32_t phase,
		     const struct rt_counters *span);

/*
 * Set counters that turn out not to be known to NULL in all samples of a target, and remove their histograms. @unknown
 * has RT_COUNTER_BIT() of each, @disk has RT_DISK_BIT().
 */
int store_forget(struct store *store, uint32_t target, uint64_t unknown,
		 uint32_t disk);

/* Return: 0 if SQLite can hold each sum that a report prints. Distances and times of a trace may have any value. */
int store_sums_fit(struct store *store);

/*
 * writer.c: stores a recording in its own thread.
 *
 * A commit waits for the disk, which may be the busy one that is being recorded. A change of phase must not wait for
 * it. So the recorder fills transactions in memory and hands them over. They are stored in order. After the first
 * failure nothing more is stored.
 *
 * Only the recorder's thread may call these functions. Those that return int return 0, -ENOMEM, or the -errno of the
 * first transaction that failed.
 */

struct writer;

/* Start the thread. Only this thread uses @store until writer_flush() has returned. End with writer_stop(). */
int writer_start(struct store *store, struct writer **ret);

/* A descriptor that becomes readable when a transaction has failed. */
int writer_failed_fd(const struct writer *writer);

/* Get the rows of the present transaction. */
struct rows *writer_rows(struct writer *writer);

/* Put one span, which is all zero afterwards, also after a failure. */
int writer_put_sample(struct writer *writer, uint32_t target, uint32_t phase,
		      struct rt_counters *span);

/* Call @store with a copy of @data in the writer's thread, to put rows into the present transaction. */
int writer_put(struct writer *writer,
	       int (*store)(struct store *store, const void *data),
	       const void *data, size_t size);

/* Hand the present transaction over. It is not stored yet. */
int writer_commit(struct writer *writer);

/* Drop the present transaction. */
void writer_drop(struct writer *writer);

/* Wait until all transactions that were handed over are stored. */
int writer_flush(struct writer *writer);

/* Store all transactions that were handed over, then end the thread. */
void writer_stop(struct writer *writer);

#endif
