/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Stores a recording from a thread of its own.
 *
 * A commit waits for the disk, which may be the busy one that is being
 * recorded; the moment at which a phase is cut must not wait for it.  So the
 * recorder fills transactions in memory and hands them over.  They are stored
 * in order.  After the first that fails nothing more is stored.
 *
 * All functions are for one thread, the recorder's.  Those that return int
 * return 0, -ENOMEM, or the -errno of the first transaction that failed;
 * store_error() then has words.
 */

#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"
#include "store/store.h"

struct writer;

/**
 * writer_start - begin to store
 * @store: not to be used by others until writer_flush() has returned
 * @ret: to be given to writer_stop()
 */
int writer_start(struct store *store, struct writer **ret);

/* writer_failed_fd - becomes readable when a transaction has failed */
int writer_failed_fd(const struct writer *writer);

/* Parts of the transaction being filled; see the functions of the store. */
int writer_put_meta(struct writer *writer, const char *key, const char *value);
int writer_put_target(struct writer *writer, uint32_t number,
		      const struct rt_target *target);
int writer_put_setting(struct writer *writer, uint64_t time_ns,
		       uint32_t target, const char *name, const char *value);
int writer_begin_phase(struct writer *writer, uint32_t phase, const char *name,
		       uint64_t start_ns);
int writer_end_phase(struct writer *writer, uint32_t phase, uint64_t end_ns);
int writer_put_output(struct writer *writer, uint64_t time_ns,
		      const char *stream, const char *text, size_t len);

/**
 * writer_put_sample - one span
 * @writer: started
 * @target: number of the disk
 * @phase: number of the phase
 * @span: is taken over, and is all zero after, also when it fails
 */
int writer_put_sample(struct writer *writer, uint32_t target, uint32_t phase,
		      struct rt_counters *span);

/**
 * writer_put - any other row
 * @writer: started
 * @store: stores it, in the writer's thread
 * @data: what it stores
 * @size: of @data, which is copied
 */
int writer_put(struct writer *writer,
	       int (*store)(struct store *store, const void *data),
	       const void *data, size_t size);

/* writer_commit - hand the transaction over; it is not stored yet */
int writer_commit(struct writer *writer);

/* writer_drop - forget the transaction being filled */
void writer_drop(struct writer *writer);

/* writer_flush - wait until all that was handed over is stored */
int writer_flush(struct writer *writer);

/* writer_stop - store what was handed over, then end */
void writer_stop(struct writer *writer);

#endif
