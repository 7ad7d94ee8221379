// SPDX-License-Identifier: GPL-2.0-or-later

/* Stores a recording from a thread of its own. */

#include "store/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/**
 * struct entry - one row to be stored
 * @next: in the same transaction
 * @store: stores it
 * @number: target or phase
 * @phase: of a sample
 * @time_ns: of whatever has a time
 * @name: first text, NULL if there is none
 * @value: second text or other data, NULL if there is none
 * @len: of @value where it is not terminated
 * @span: for put_sample, else NULL
 * @put: for writer_put(), with @value
 */
struct entry {
	struct entry *next;
	int (*store)(struct store *store, const struct entry *entry);
	uint32_t number;
	uint32_t phase;
	uint64_t time_ns;
	char *name;
	char *value;
	size_t len;
	struct rt_counters *span;
	int (*put)(struct store *store, const void *data);
};

/**
 * struct batch - what is stored together or not at all
 * @next: the one after it
 * @first: its rows
 * @last: where the next is added
 */
struct batch {
	struct batch *next;
	struct entry *first;
	struct entry **last;
};

/**
 * struct writer - thread and queue
 * @store: where to
 * @thread: the only user of @store while batches are pending
 * @failed: eventfd
 * @filling: the recorder's alone, NULL between transactions
 * @lock: protects all below
 * @changed: something below has
 * @pending: in order; the first of them are being stored
 * @last: where the next is added
 * @stop: end when nothing is pending
 * @err: of the first transaction that failed
 */
struct writer {
	struct store *store;
	pthread_t thread;
	int failed;
	struct batch *filling;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *pending;
	struct batch **last;
	bool stop;
	int err;
};

static void free_batch(struct batch *batch)
{
	struct entry *entry, *next;

	for (entry = batch ? batch->first : NULL; entry; entry = next) {
		next = entry->next;
		if (entry->span)
			rt_counters_free(entry->span);
		free(entry->span);
		free(entry->name);
		free(entry->value);
		free(entry);
	}
	free(batch);
}

/*
 * All that waits, up to the entry with @next equal to @end, is one transaction: a disk
 * that takes longer for one than an interval would be further behind with each.
 */
static int store_batches(struct store *store, const struct batch *batch,
			 struct batch *const *end)
{
	int err = store_begin(store);

	for (;; batch = batch->next) {
		for (const struct entry *entry = batch->first; entry && !err;
		     entry = entry->next)
			err = entry->store(store, entry);
		if (&batch->next == end)
			break;
	}
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

/* Those up to @end are stored, or never will be; under the lock. */
static void drop_batches(struct writer *writer, struct batch **end)
{
	struct batch *batch = writer->pending, *next;

	writer->pending = *end;
	if (!writer->pending)
		writer->last = &writer->pending;
	*end = NULL;
	for (; batch; batch = next) {
		next = batch->next;
		free_batch(batch);
	}
}

static void *write_batches(void *data)
{
	struct writer *writer = data;

	pthread_mutex_lock(&writer->lock);
	while (writer->pending || !writer->stop) {
		struct batch *batch = writer->pending, **end = writer->last;
		int err = writer->err;

		if (!batch) {
			pthread_cond_wait(&writer->changed, &writer->lock);
			continue;
		}
		pthread_mutex_unlock(&writer->lock);
		/* After a gap the rest would be wrong. */
		if (!err)
			err = store_batches(writer->store, batch, end);
		pthread_mutex_lock(&writer->lock);
		if (err && !writer->err) {
			writer->err = err;
			eventfd_write(writer->failed, 1);
		}
		drop_batches(writer, end);
		pthread_cond_broadcast(&writer->changed);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

int writer_start(struct store *store, struct writer **ret)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	sigset_t all, before;
	int err;

	if (!writer)
		return -ENOMEM;
	writer->store = store;
	writer->last = &writer->pending;
	writer->failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->failed < 0) {
		free(writer);
		return -errno;
	}
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	/* Signals are the recorder's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&writer->thread, NULL, write_batches, writer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		close(writer->failed);
		free(writer);
		return -err;
	}
	*ret = writer;
	return 0;
}

int writer_failed_fd(const struct writer *writer)
{
	return writer->failed;
}

static struct entry *add_entry(struct writer *writer,
			       int (*store)(struct store *,
					    const struct entry *))
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!writer->filling) {
		writer->filling = calloc(1, sizeof(*writer->filling));
		if (writer->filling)
			writer->filling->last = &writer->filling->first;
	}
	if (!entry || !writer->filling) {
		free(entry);
		return NULL;
	}
	entry->store = store;
	*writer->filling->last = entry;
	writer->filling->last = &entry->next;
	return entry;
}

/* Of a moment, and of a target or phase; NULL stays NULL. */
static struct entry *of(struct entry *entry, uint64_t time_ns, uint32_t number)
{
	if (entry) {
		entry->time_ns = time_ns;
		entry->number = number;
	}
	return entry;
}

static int store_meta(struct store *store, const struct entry *entry)
{
	return store_put_meta(store, entry->name, entry->value);
}

static int store_target(struct store *store, const struct entry *entry)
{
	return store_put_target(store, entry->number,
				(const void *)entry->value);
}

static int store_setting(struct store *store, const struct entry *entry)
{
	return store_put_setting(store, entry->time_ns, entry->number,
				 entry->name, entry->value);
}

static int store_phase_begin(struct store *store, const struct entry *entry)
{
	return store_begin_phase(store, entry->number, entry->name,
				 entry->time_ns);
}

static int store_phase_end(struct store *store, const struct entry *entry)
{
	return store_end_phase(store, entry->number, entry->time_ns);
}

static int store_sample(struct store *store, const struct entry *entry)
{
	return store_put_sample(store, entry->number, entry->phase,
				entry->span);
}

static int store_output(struct store *store, const struct entry *entry)
{
	return store_put_output(store, entry->time_ns, entry->name,
				entry->value, entry->len);
}

static int store_data(struct store *store, const struct entry *entry)
{
	return entry->put(store, entry->value);
}

/* An entry with a copy of something, or -ENOMEM. */
static int add_data(struct entry *entry, const void *data, size_t size)
{
	if (!entry)
		return -ENOMEM;
	entry->value = malloc(size);
	entry->len = size;
	if (!entry->value)
		return -ENOMEM;
	memcpy(entry->value, data, size);
	return 0;
}

/* An entry with up to two texts; a text that cannot be copied is -ENOMEM. */
static int add_texts(struct entry *entry, const char *name, const char *value)
{
	if (!entry)
		return -ENOMEM;
	entry->name = strdup(name);
	entry->value = value ? strdup(value) : NULL;
	return entry->name && (!value || entry->value) ? 0 : -ENOMEM;
}

int writer_put_meta(struct writer *writer, const char *key, const char *value)
{
	return add_texts(add_entry(writer, store_meta), key, value);
}

int writer_put_target(struct writer *writer, uint32_t number,
		      const struct rt_target *target)
{
	return add_data(of(add_entry(writer, store_target), 0, number), target,
			sizeof(*target));
}

int writer_put_setting(struct writer *writer, uint64_t time_ns,
		       uint32_t target, const char *name, const char *value)
{
	return add_texts(of(add_entry(writer, store_setting), time_ns, target),
			 name, value);
}

int writer_begin_phase(struct writer *writer, uint32_t phase, const char *name,
		       uint64_t start_ns)
{
	return add_texts(of(add_entry(writer, store_phase_begin), start_ns, phase),
			 name, NULL);
}

int writer_end_phase(struct writer *writer, uint32_t phase, uint64_t end_ns)
{
	return of(add_entry(writer, store_phase_end), end_ns, phase) ? 0 : -ENOMEM;
}

int writer_put_sample(struct writer *writer, uint32_t target, uint32_t phase,
		      struct rt_counters *span)
{
	/* Most rows have none, and it is large: it is not cleared before it is filled. */
	struct rt_counters *taken = malloc(sizeof(*taken));
	struct entry *entry = taken ? add_entry(writer, store_sample) : NULL;

	if (!entry) {
		free(taken);
		rt_counters_free(span);
		return -ENOMEM;
	}
	entry->number = target;
	entry->phase = phase;
	*taken = *span;
	entry->span = taken;
	memset(span, 0, sizeof(*span));
	return 0;
}

int writer_put_output(struct writer *writer, uint64_t time_ns,
		      const char *stream, const char *text, size_t len)
{
	struct entry *entry = add_entry(writer, store_output);

	if (!entry)
		return -ENOMEM;
	entry->time_ns = time_ns;
	entry->name = strdup(stream);
	return entry->name ? add_data(entry, text, len) : -ENOMEM;
}

int writer_put(struct writer *writer,
	       int (*store)(struct store *store, const void *data),
	       const void *data, size_t size)
{
	struct entry *entry = add_entry(writer, store_data);

	if (entry)
		entry->put = store;
	return add_data(entry, data, size);
}

int writer_commit(struct writer *writer)
{
	int err;

	pthread_mutex_lock(&writer->lock);
	err = writer->err;
	if (writer->filling) {
		*writer->last = writer->filling;
		writer->last = &writer->filling->next;
		writer->filling = NULL;
		pthread_cond_broadcast(&writer->changed);
	}
	pthread_mutex_unlock(&writer->lock);
	return err;
}

void writer_drop(struct writer *writer)
{
	free_batch(writer->filling);
	writer->filling = NULL;
}

int writer_flush(struct writer *writer)
{
	int err;

	pthread_mutex_lock(&writer->lock);
	while (writer->pending)
		pthread_cond_wait(&writer->changed, &writer->lock);
	err = writer->err;
	pthread_mutex_unlock(&writer->lock);
	return err;
}

void writer_stop(struct writer *writer)
{
	if (!writer)
		return;
	pthread_mutex_lock(&writer->lock);
	writer->stop = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	writer_drop(writer);
	close(writer->failed);
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->changed);
	free(writer);
}
