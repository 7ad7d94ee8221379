/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters with values that all differ: a test notices one that is printed in the place of another. */

#ifndef FULL_H
#define FULL_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "raidtrace.h"

#define FULL_SUBMITTERS	10

/* The next of numbers that look random and are the same each time. */
static inline uint64_t full_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* A number of a name, so that a counter that is added changes no other. */
static inline uint64_t full_named(uint64_t state, const char *name)
{
	for (; *name; name++)
		state = (state ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return full_next(&state);
}

/* Some bins of each histogram, and what lies between them empty. */
static inline void full_histogram(struct rt_histogram *h, unsigned int kind, uint64_t *state)
{
	unsigned int bins = raidtrace_hist_bins(kind), bin = full_next(state) % bins / 2;

	for (unsigned int i = 0; i < 5; i++) {
		rt_histogram_count(h, bin, 1 + full_next(state) % 3000);
		bin += 1 + full_next(state) % (1 + (bins - bin) / 4);
		if (bin >= bins)
			return;
	}
}

/* A hardware queue without requests between others, and the row of the rest. */
static inline void full_hwqs(struct rt_counters *c, uint64_t state)
{
	static const unsigned int rows[] = { 0, 1, 3, RT_HWQS - 1 };

	c->hwq = calloc(RT_HWQS, sizeof(*c->hwq));
	assert_non_null(c->hwq);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rt_hwq *hwq = &c->hwq[rows[i]];

#define X(member, attribute, ...) hwq->member = 1 + full_named(state, #member) % 70000;
		RT_HWQ_COUNTERS(X)
#undef X
		hwq->in_flight = 1 + (uint32_t)full_next(&state) % 5;
		hwq->in_flight_max = 6 + (uint32_t)full_next(&state) % 50;
	}
	c->nr_hwqs = RT_HWQS;
}

/*
 * A span in which all that is counted happened. @c: zero but for its times, groups and what is unknown; to
 * be freed by rt_counters_free(). @submitters: room for FULL_SUBMITTERS, which @c points to then. @state:
 * of full_next(); another one makes other numbers.
 */
static inline void full_counters(struct rt_counters *c, struct rt_submitter *submitters, uint64_t *state)
{
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		struct rt_flow *flow = &c->flow[d];
		uint64_t most = d == RAIDTRACE_DIRECTION_WRITE ? 900 : 400000;

#define X(member, attribute, ...) flow->member = (strstr(#member, "_ns") ? 1000000 : strstr(#member, "bytes") ? 4096 : \
						  strstr(#member, "_sectors") ? 300 : 1) * (1 + full_named(*state, #member) % most);
		RT_FLOW_COUNTERS(X)
#undef X
		flow->issued += 2 * most;
		flow->queued += 2 * most;
		flow->in_flight = 1 + (uint32_t)full_next(state) % 5;
		flow->in_flight_max = 6 + (uint32_t)full_next(state) % 50;
		for (unsigned int k = 0; k < RT_KINDS; k++)
			full_histogram(&c->histogram[d][k], k, state);
	}
#define X(member, attribute, ...) c->disk.member = 1 + full_named(*state, #member) % 5000;
	RT_DISK_COUNTERS(X)
#undef X
	c->disk.streams_alive = 3;
	c->disk.streams_alive_queued = 5;
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute, ...) c->origin[i].member = full_named(*state, #member) % 70000;
		RT_ORIGIN_COUNTERS(X)
#undef X
		full_next(state);
	}
	/* One class without seeks, one without requests. */
	c->origin[1].seeks = 0;
	memset(&c->origin[2], 0, sizeof(c->origin[2]));
	for (unsigned int i = 0; i < FULL_SUBMITTERS; i++) {
		struct rt_submitter *s = &submitters[i];

		*s = (struct rt_submitter){ .index = i, .pid = 100 + i, .rest = i == FULL_SUBMITTERS - 1, .cgroup = i % 3 ? 70 + i : 0 };
		snprintf(s->comm, sizeof(s->comm), s->rest ? "" : "program%u", i);
		snprintf(s->path, sizeof(s->path), i == 4 ? "/kubepods.slice/burstable.slice/\033[2Jcri-0123456789abcdef-%u.scope" :
			 i % 3 == 1 ? "/a/b%u" : "", i);
#define X(member, attribute, ...) s->member = 1 + full_named(*state, #member) % 800000;
		RT_SUBMITTER_COUNTERS(X)
#undef X
		full_next(state);
	}
	c->submitters = submitters;
	c->nr_submitters = FULL_SUBMITTERS;
	if (c->groups & RAIDTRACE_GROUP_HWQ)
		full_hwqs(c, *state);
}

static inline uint64_t full_bin(const struct rt_histogram *h, unsigned int index)
{
	return index - h->first_bin < h->nr_bins ? h->counts[index - h->first_bin] : 0;
}

/* All counters but those of processes are equal, histograms bin by bin wherever they begin. */
static inline void expect_counters(const struct rt_counters *a, const struct rt_counters *b)
{
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
#define X(member, attribute, ...) assert_int_equal(a->flow[d].member, b->flow[d].member);
		RT_FLOW_COUNTERS(X)
		X(in_flight, IN_FLIGHT)
#undef X
		for (unsigned int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *x = &a->histogram[d][k], *y = &b->histogram[d][k];

			assert_int_equal(rt_histogram_sum(x), rt_histogram_sum(y));
			for (unsigned int i = 0; i < x->nr_bins; i++)
				assert_int_equal(x->counts[i], full_bin(y, x->first_bin + i));
		}
	}
#define X(member, attribute, ...) assert_int_equal(a->disk.member, b->disk.member);
	RT_DISK_COUNTERS(X)
#undef X
	assert_memory_equal(a->origin, b->origin, sizeof(a->origin));
	assert_int_equal(a->nr_hwqs, b->nr_hwqs);
	if (a->nr_hwqs)
		assert_memory_equal(a->hwq, b->hwq, a->nr_hwqs * sizeof(*a->hwq));
}

/* The processes are the same ones, in this order, with the same counters. */
static inline void expect_submitters(const struct rt_counters *a, const struct rt_counters *b)
{
	assert_int_equal(a->nr_submitters, b->nr_submitters);
	for (size_t i = 0; i < a->nr_submitters; i++) {
		const struct rt_submitter *x = &a->submitters[i], *y = &b->submitters[i];

		assert_int_equal(x->index, y->index);
		assert_int_equal(x->rest, y->rest);
		assert_int_equal(x->pid, y->rest ? x->pid : y->pid);
		assert_string_equal(x->comm, y->comm);
#define X(member, attribute, ...) assert_int_equal(x->member, y->member);
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
}

#endif
