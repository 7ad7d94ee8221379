// SPDX-License-Identifier: GPL-2.0-or-later

/* Stores a recording in its own thread. */

#include "store/db.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Data to be stored in the writer's thread. */
struct entry {
	struct entry *next;	/* the next one in the same transaction */
	int (*store)(struct store *store, const void *data);
	max_align_t data[];
};

/* Data of store_cells(): a row. The texts of the cells follow them. */
struct row {
	const char *sql;
	int nr;
	struct cell cells[];
};

/* Data of store_sample(). The arrays of @span follow it. */
struct sample {
	uint32_t target;
	uint32_t phase;
	struct rt_counters span;
};

/* Entries that are stored together or not at all. */
struct batch {
	struct batch *next;
	struct entry *first;
	struct entry **last;	/* end of the list */
};

struct writer {
	struct rows rows;
	struct store *store;
	pthread_t thread;	/* the only user of @store while batches are pending */
	int failed;		/* eventfd */
	struct batch *filling;	/* used only by the recorder's thread; NULL between transactions */
	pthread_mutex_t lock;	/* protects all below */
	pthread_cond_t changed;
	struct batch *pending;	/* in order; the first ones are being stored */
	struct batch **last;	/* end of the list */
	bool stop;		/* end when nothing is pending */
	int err;		/* of the first transaction that failed */
};

static int store_cells(struct store *store, const void *data)
{
	const struct row *row = data;

	return store_put_row(store, row->sql, row->cells, row->nr);
}

static int store_sample(struct store *store, const void *data)
{
	const struct sample *sample = data;

	return store_put_sample(store, sample->target, sample->phase, &sample->span);
}

static void free_batch(struct batch *batch)
{
	struct entry *entry, *next;

	for (entry = batch ? batch->first : NULL; entry; entry = next) {
		next = entry->next;
		free(entry);
	}
	free(batch);
}

/*
 * Store all batches up to the one with @next equal to @end in one transaction. Otherwise a disk that takes longer than
 * an interval for one would be further behind with each.
 */
static int store_batches(struct store *store, const struct batch *batch,
			 struct batch *const *end)
{
	int err = store_begin(store);

	for (;; batch = batch->next) {
		for (const struct entry *entry = batch->first; entry && !err;
		     entry = entry->next)
			err = entry->store(store, entry->data);
		if (&batch->next == end)
			break;
	}
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

/* Free the batches up to @end, which are stored or never will be. The caller holds the lock. */
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
		/* After a gap, further rows would be wrong. */
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

int writer_failed_fd(const struct writer *writer)
{
	return writer->failed;
}

struct rows *writer_rows(struct writer *writer)
{
	return &writer->rows;
}

/* Add an entry with memory for data, which is not cleared because a sample is large. Return: NULL without memory. */
static struct entry *add_entry(struct writer *writer,
			       int (*store)(struct store *, const void *),
			       size_t size)
{
	struct entry *entry = malloc(sizeof(*entry) + size);

	if (!writer->filling) {
		writer->filling = calloc(1, sizeof(*writer->filling));
		if (writer->filling)
			writer->filling->last = &writer->filling->first;
	}
	if (!entry || !writer->filling) {
		free(entry);
		return NULL;
	}
	entry->next = NULL;
	entry->store = store;
	*writer->filling->last = entry;
	writer->filling->last = &entry->next;
	return entry;
}

static size_t text_size(const struct cell *cell)
{
	return cell->len ? cell->len : cell->text ? strlen(cell->text) + 1 : 0;
}

static int put_later(struct rows *to, const char *sql, const struct cell *cells, int nr)
{
	size_t size = sizeof(struct row) + (size_t)nr * sizeof(*cells);
	struct entry *entry;
	struct row *row;
	char *text;

	for (int i = 0; i < nr; i++)
		size += text_size(&cells[i]);
	entry = add_entry((struct writer *)to, store_cells, size);
	if (!entry)
		return -ENOMEM;
	row = (void *)entry->data;
	row->sql = sql;
	row->nr = nr;
	text = (char *)&row->cells[nr];
	for (int i = 0; i < nr; i++) {
		size = text_size(&cells[i]);
		row->cells[i] = cells[i];
		if (!size)
			continue;
		row->cells[i].text = memcpy(text, cells[i].text, size);
		text += size;
	}
	return 0;
}

int writer_start(struct store *store, struct writer **ret)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	sigset_t all, before;
	int err;

	if (!writer)
		return -ENOMEM;
	writer->rows.put = put_later;
	writer->store = store;
	writer->last = &writer->pending;
	writer->failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->failed < 0) {
		free(writer);
		return -errno;
	}
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->changed, NULL);
	/* The recorder's thread handles signals. */
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

static size_t hwqs_size(const struct rt_counters *span)
{
	return span->hwq ? RT_HWQS * sizeof(*span->hwq) : 0;
}

/* Bytes of all arrays of a span. */
static size_t arrays_size(const struct rt_counters *span)
{
	size_t bins = 0;

	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++)
			bins += span->histogram[d][k].nr_bins;
	return bins * sizeof(uint64_t) + span->nr_submitters * sizeof(*span->submitters) +
	       hwqs_size(span);
}

/* Copy an array to @at, which becomes its end. Return: the copy, NULL for an array without a byte. */
static void *copy_array(char **at, const void *array, size_t size)
{
	void *copy = size ? memcpy(*at, array, size) : NULL;

	*at += size;
	return copy;
}

static void copy_arrays(struct rt_counters *span, char *at)
{
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++) {
			struct rt_histogram *h = &span->histogram[d][k];

			if (h->counts)
				h->counts = copy_array(&at, h->counts, h->nr_bins * sizeof(*h->counts));
		}
	span->submitters = copy_array(&at, span->submitters,
				      span->nr_submitters * sizeof(*span->submitters));
	span->hwq = copy_array(&at, span->hwq, hwqs_size(span));
}

/*
 * The arrays of a sample, some forty, are copied to its entry: memory that another thread frees takes several times as
 * long to allocate and to free.
 */
int writer_put_sample(struct writer *writer, uint32_t target, uint32_t phase,
		      struct rt_counters *span)
{
	struct entry *entry = add_entry(writer, store_sample, sizeof(struct sample) + arrays_size(span));
	struct sample *sample = entry ? (void *)entry->data : NULL;

	if (sample) {
		sample->target = target;
		sample->phase = phase;
		sample->span = *span;
		copy_arrays(&sample->span, (char *)(sample + 1));
	}
	rt_counters_free(span);
	return sample ? 0 : -ENOMEM;
}

int writer_put(struct writer *writer,
	       int (*store)(struct store *store, const void *data),
	       const void *data, size_t size)
{
	struct entry *entry = add_entry(writer, store, size);

	if (!entry)
		return -ENOMEM;
	memcpy(entry->data, data, size);
	return 0;
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
