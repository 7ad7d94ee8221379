// SPDX-License-Identifier: GPL-2.0-or-later

/* Looks in their own thread. */

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

struct watch {
	pthread_t thread;
	bool running;		/* watch_finish() has not been called */
	struct look_scope scope;
	struct look_files files;	/* used only by the thread while it runs, like the members up to @nr */
	struct look last;
	struct disturbance *all;	/* every disturbance, by number - 1 */
	size_t nr;
	pthread_mutex_t lock;	/* protects all below */
	pthread_cond_t wake;
	bool stop;		/* the thread must end */
	struct changes changes;	/* not taken yet */
	int err;
};

/* Continue a disturbance of the last look, or add a new one. Return: NULL without memory. */
static const struct disturbance *merge_disturbance(struct watch *watch, const struct disturbance *what)
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

/* Append the differences of a look to the pending ones. The caller holds the lock. */
static int keep(struct watch *watch, struct changes *now)
{
	struct changes *all = &watch->changes;
	size_t nr_rows = all->nr_rows + now->nr_rows, nr = all->nr_disturbances + now->nr_disturbances;
	struct host_row *rows = reallocarray(all->rows, nr_rows + 1, sizeof(*rows));
	struct disturbance *disturbances = reallocarray(all->disturbances, nr + 1, sizeof(*disturbances));

	all->rows = rows ? rows : all->rows;
	all->disturbances = disturbances ? disturbances : all->disturbances;
	if (!rows || !disturbances)
		return -ENOMEM;
	for (size_t i = 0; i < now->nr_rows; i++)
		rows[all->nr_rows++] = now->rows[i];
	for (size_t i = 0; i < now->nr_disturbances; i++) {
		const struct disturbance *whole = merge_disturbance(watch, &now->disturbances[i]);

		if (!whole)
			return -ENOMEM;
		disturbances[all->nr_disturbances++] = *whole;
	}
	return 0;
}

static void look(struct watch *watch)
{
	struct changes changes = { 0 };
	struct look now;
	int err = look_read(&watch->files, &watch->scope, &watch->last, &now);

	if (!err)
		err = look_judge(&watch->last, &now, (double)sysconf(_SC_CLK_TCK), &changes);
	pthread_mutex_lock(&watch->lock);
	if (!err)
		err = keep(watch, &changes);
	if (err)
		watch->err = err;
	pthread_mutex_unlock(&watch->lock);
	changes_free(&changes);
	if (err) {
		look_free(&now);
		return;
	}
	look_free(&watch->last);
	watch->last = now;
}

static struct timespec due_at(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_S),
				  (long)(ns % NS_PER_S) };
}

static void *look_thread(void *data)
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
	/* The recorder's thread handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&watch->thread, NULL, look_thread, watch);
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

int watch_take(struct watch *watch, struct rows *to)
{
	struct changes changes;
	int err;

	pthread_mutex_lock(&watch->lock);
	changes = watch->changes;
	err = watch->err;
	watch->changes = (struct changes){ 0 };
	pthread_mutex_unlock(&watch->lock);
	for (size_t i = 0; i < changes.nr_rows && !err; i++)
		err = store_put_host(to, &changes.rows[i]);
	for (size_t i = 0; i < changes.nr_disturbances && !err; i++)
		err = store_put_disturbance(to, &changes.disturbances[i]);
	changes_free(&changes);
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

const struct disturbance *watch_all(const struct watch *watch, size_t *nr)
{
	*nr = watch->nr;
	return watch->all;
}

void watch_stop(struct watch *watch)
{
	if (!watch)
		return;
	watch_finish(watch);
	look_close(&watch->files);
	look_free(&watch->last);
	changes_free(&watch->changes);
	free(watch->all);
	free(watch);
}
