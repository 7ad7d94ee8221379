// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests are issued on one CPU and completed on another, while a third takes
 * events out: no completion may come before its issue, nothing may be lost. Then
 * the two moments at which that could happen, put there on purpose: once as it
 * is, and once with the rule broken that keeps it from happening.
 */
#include "machine.h"

#include <stdio.h>

#define DEPTH 1024

static struct raidtrace_probe *probe;
static uint64_t requests;
static uint64_t mailbox[DEPTH];	/* number of the request that was issued there, 0 when it is done */
static int ended, calls;

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	(void)queue;
	(void)work;
	__atomic_store_n(&calls, 1, __ATOMIC_RELAXED);
}

static uint64_t address(uint64_t place)
{
	return 0xffff888000000000 + place * 384;
}

static void *issuer(void *unused)
{
	for (uint64_t i = 1; i <= requests; i++) {
		uint64_t *place = &mailbox[i % DEPTH];

		while (__atomic_load_n(place, __ATOMIC_ACQUIRE))
			sched_yield();
		write_queue(probe, 0, address(i % DEPTH) + 64, i * 8);
		write_issue(probe, 0, address(i % DEPTH), address(i % DEPTH) + 64, i * 8);
		__atomic_store_n(place, i, __ATOMIC_RELEASE);
	}
	return unused;
}

static void *completer(void *unused)
{
	for (uint64_t i = 1; i <= requests; i++) {
		uint64_t *place = &mailbox[i % DEPTH];

		while (!__atomic_load_n(place, __ATOMIC_ACQUIRE))
			sched_yield();
		write_complete(probe, 1, address(i % DEPTH), address(i % DEPTH) + 64, 0);
		__atomic_store_n(place, 0, __ATOMIC_RELEASE);
	}
	return unused;
}

static void *taker(void *unused)
{
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
		raidtrace_rings_catch_up(probe);
		sched_yield();
	}
	return unused;
}

static int failed, passed;

static void say(bool ok, const char *what)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	*(ok ? &passed : &failed) += 1;
}

static const struct raidtrace_flow *reads(void)
{
	return &probe->engine.account->flow[RAIDTRACE_DIRECTION_READ];
}

/* Three threads at once. */
static void pass_through(void)
{
	pthread_t thread[3];

	probe = machine_new(2);
	pthread_create(&thread[0], NULL, issuer, NULL);
	pthread_create(&thread[1], NULL, completer, NULL);
	pthread_create(&thread[2], NULL, taker, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	pthread_join(thread[2], NULL);
	raidtrace_rings_catch_up(probe);
	printf("# %llu requests, %llu completed before their issue\n",
	       (unsigned long long)reads()->completed, (unsigned long long)reads()->unmatched);
	say(!reads()->unmatched && reads()->completed == requests, "no completion comes before its issue");
	say(!reads()->q2c_unknown && reads()->queued == requests, "no bio is lost");
	machine_free(probe);
}

static bool armed;

/* A request that begins and ends between the readings of the first and of the second head. */
void on_load(void)
{
	if (!armed)
		return;
	armed = false;
	write_issue(probe, 0, address(0), 0, 0);
	write_complete(probe, 1, address(0), 0, 0);
}

/* How many completions come before their issue when one comes in between. */
static uint64_t in_between(bool broken)
{
	uint64_t early;

	no_cut = broken;
	probe = machine_new(2);
	armed = true;
	raidtrace_rings_catch_up(probe);
	raidtrace_rings_catch_up(probe);
	early = reads()->unmatched;
	no_cut = false;
	machine_free(probe);
	return early;
}

/* The same when the completing CPU reads its clock before it can have seen the issue, or after. */
static uint64_t clock_read_too_early(bool broken)
{
	uint64_t time = clock_ticks(), early;

	probe = machine_new(2);
	write_issue(probe, 0, address(0), 0, 0);
	write_complete(probe, 1, address(0), 0, broken ? time : 0);
	raidtrace_rings_catch_up(probe);
	early = reads()->unmatched;
	machine_free(probe);
	return early;
}

/* Full rings, nobody who takes events but the writer itself: all the same nothing is lost. */
static void nobody_comes(void)
{
	const uint64_t nr = 100000;
	const struct raidtrace_flow *flow;

	probe = machine_new(2);
	for (uint64_t i = 0; i < nr; i++) {
		write_queue(probe, 0, address(i % DEPTH) + 64, i * 8);
		write_issue(probe, 0, address(i % DEPTH), address(i % DEPTH) + 64, i * 8);
		write_complete(probe, 1, address(i % DEPTH), address(i % DEPTH) + 64, 0);
	}
	raidtrace_rings_catch_up(probe);
	flow = reads();
	say(flow->queued == nr && flow->completed == nr && flow->sequential == nr - 1 &&
	    !flow->q2c_unknown && !flow->unmatched && calls,
	    "a full ring is emptied by its writer, nothing is lost");
	machine_free(probe);
}

int main(int argc, char **argv)
{
	requests = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	nobody_comes();
	pass_through();
	say(!in_between(false), "what comes while the rings are looked at is left for the next time");
	say(in_between(true) == 1, "control: without the cut it is torn");
	say(!clock_read_too_early(false), "a clock that is read in order keeps the order");
	say(clock_read_too_early(true) == 1, "control: one that is not does not");
	return failed ? 1 : 0;
}
