// SPDX-License-Identifier: GPL-2.0-or-later

/* Looks now and then, in a thread of its own, at what could disturb. */

#include "watch/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define LOOK_NS	NS_PER_S

/* struct found - rows and disturbances that nobody has taken yet */
struct found {
	size_t nr_rows;
	struct host_row *rows;
	size_t nr_disturbances;
	struct disturbance *disturbances;
	int err;
};

/**
 * struct watch - thread and what it found
 * @thread: while @running
 * @running: watch_finish() has not been called
 * @scope: what is not a disturbance
 * @files: the thread's
 * @last: the thread's, until @running ends
 * @all: every disturbance, by number - 1; the thread's
 * @nr: how many
 * @lock: protects all below
 * @wake: something below has changed
 * @stop: the thread is to end
 * @found: to be taken
 */
struct watch {
	pthread_t thread;
	bool running;
	struct look_scope scope;
	struct look_files files;
	struct look last;
	struct disturbance *all;
	size_t nr;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	struct found found;
};

static int keep_row(void *data, const struct host_row *row)
{
	struct watch *watch = data;
	struct found *found = &watch->found;
	struct host_row *more;

	pthread_mutex_lock(&watch->lock);
	more = reallocarray(found->rows, found->nr_rows + 1, sizeof(*more));
	if (more) {
		found->rows = more;
		more[found->nr_rows++] = *row;
	} else {
		found->err = -ENOMEM;
	}
	pthread_mutex_unlock(&watch->lock);
	return 0;
}

/* One that the last look found too goes on; else it is another one. */
static struct disturbance *merged(struct watch *watch,
				  const struct disturbance *what)
{
	struct disturbance *more;

	for (size_t i = 0; i < watch->nr; i++) {
		struct disturbance *known = &watch->all[i];

		if (!disturbance_goes_on(known, what))
			continue;
		known->end_ns = what->end_ns;
		known->value += what->value;
		look_describe(known);
		return known;
	}
	more = reallocarray(watch->all, watch->nr + 1, sizeof(*more));
	if (!more)
		return NULL;
	watch->all = more;
	more[watch->nr] = *what;
	more[watch->nr].number = (uint32_t)watch->nr + 1;
	return &more[watch->nr++];
}

static int keep_disturbance(void *data, const struct disturbance *what)
{
	struct watch *watch = data;
	struct found *found = &watch->found;
	struct disturbance *more, *whole;

	pthread_mutex_lock(&watch->lock);
	whole = merged(watch, what);
	more = whole ? reallocarray(found->disturbances,
				    found->nr_disturbances + 1,
				    sizeof(*more)) : NULL;
	if (more) {
		found->disturbances = more;
		more[found->nr_disturbances++] = *whole;
	} else {
		found->err = -ENOMEM;
	}
	pthread_mutex_unlock(&watch->lock);
	return 0;
}

static void look(struct watch *watch)
{
	const struct look_told told = {
		keep_disturbance, keep_row, watch,
	};
	struct look now;

	if (look_read(&watch->files, &watch->scope, &watch->last, &now)) {
		pthread_mutex_lock(&watch->lock);
		watch->found.err = -ENOMEM;
		pthread_mutex_unlock(&watch->lock);
		look_free(&now);
		return;
	}
	look_judge(&watch->last, &now, (double)sysconf(_SC_CLK_TCK), &told);
	look_free(&watch->last);
	watch->last = now;
}

static struct timespec due_at(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S),
				  (long)(ns % NS_PER_S) };
}

static void *look_on(void *data)
{
	struct watch *watch = data;
	uint64_t due = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	uint64_t took = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	pthread_mutex_lock(&watch->lock);
	while (!watch->stop) {
		struct timespec until = due_at(due);
		uint64_t spent;

		if (pthread_cond_timedwait(&watch->wake, &watch->lock,
					   &until) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&watch->lock);
		look(watch);
		spent = clock_ns(CLOCK_THREAD_CPUTIME_ID) - took;
		took += spent;
		due += LOOK_NS;
		if (spent * WATCH_SHARE > LOOK_NS)
			due += spent * WATCH_SHARE - LOOK_NS;
		pthread_mutex_lock(&watch->lock);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static int start_thread(struct watch *watch)
{
	pthread_condattr_t attributes;
	sigset_t all, before;
	int err;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&watch->lock, NULL);
	/* Signals are the recorder's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&watch->thread, NULL, look_on, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	watch->running = !err;
	return -err;
}

int watch_start(const struct look_scope *scope, struct watch **ret)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	int err;

	if (!watch)
		return -ENOMEM;
	watch->scope = *scope;
	look_open(&watch->files);
	err = look_read(&watch->files, scope, NULL, &watch->last);
	if (!err)
		err = start_thread(watch);
	if (err) {
		watch_stop(watch);
		return err;
	}
	*ret = watch;
	return 0;
}

int watch_take(struct watch *watch, const struct watch_hands *hands)
{
	struct found found;
	int err;

	pthread_mutex_lock(&watch->lock);
	found = watch->found;
	memset(&watch->found, 0, sizeof(watch->found));
	pthread_mutex_unlock(&watch->lock);
	err = found.err;
	for (size_t i = 0; i < found.nr_rows && !err; i++)
		err = hands->row(hands->data, &found.rows[i]);
	for (size_t i = 0; i < found.nr_disturbances && !err; i++)
		err = hands->disturbed(hands->data, &found.disturbances[i]);
	free(found.rows);
	free(found.disturbances);
	return err;
}

void watch_finish(struct watch *watch)
{
	if (!watch->running)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->stop = true;
	pthread_cond_signal(&watch->wake);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	watch->running = false;
	look(watch);
}

void watch_available(const struct watch *watch, char *watched, char *missing,
		     size_t size)
{
	const struct look *last = &watch->last;
	const struct {
		const char *kind;
		bool known;
	} kinds[] = {
		{ "processor", last->nr_processes > 1 },
		{ "process-io", last->io_accounted },
		{ "disk", last->disks_known },
		{ "interrupts", last->lines_known },
		{ "memory", last->pressure_us >= 0 },
		{ "swap", last->swapped_pages >= 0 },
		{ "steal", last->steal_ticks >= 0 },
		{ "clock", true },
		{ "clocksource", last->clocksource[0] },
		{ "governor", last->governor[0] },
		{ "thermal", last->throttled >= 0 },
	};

	watched[0] = '\0';
	missing[0] = '\0';
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char *to = kinds[i].known ? watched : missing;
		size_t len = strlen(to);

		snprintf(to + len, size - len, "%s%s", len ? " " : "",
			 kinds[i].kind);
	}
}

size_t watch_count(const struct watch *watch)
{
	return watch->nr;
}

void watch_stop(struct watch *watch)
{
	if (!watch)
		return;
	watch_finish(watch);
	look_close(&watch->files);
	look_free(&watch->last);
	free(watch->found.rows);
	free(watch->found.disturbances);
	free(watch->all);
	free(watch);
}
