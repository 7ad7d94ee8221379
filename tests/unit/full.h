/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters with values that all differ: a test notices one in the place of another. */

#ifndef FULL_H
#define FULL_H

#include <stdio.h>
#include <string.h>

#include "account.h"
#include "raidtrace.h"

#define FULL_SUBMITTERS	10

/* The next number: no other is the same, and none is 0. */
static inline uint64_t full_next(void)
{
	static uint64_t value;

	return ++value;
}

/* Some bins of a histogram; the bins between them are empty. */
static inline void full_histogram(struct rt_histogram *h, unsigned int kind)
{
	unsigned int bins = raidtrace_hist_bins(kind), bin = full_next() * 7 % bins / 2;

	for (unsigned int i = 0; i < 5 && bin < bins; i++) {
		rt_histogram_count(h, bin, full_next());
		bin += 1 + full_next() % (1 + (bins - bin) / 4);
	}
}

/* A hardware queue without requests between others, and the row of the rest. */
static inline void full_hwqs(struct rt_counters *c)
{
	static const unsigned int rows[] = { 0, 1, 3, RT_HWQS - 1 };

	c->hwq = calloc(RT_HWQS, sizeof(*c->hwq));
	assert_non_null(c->hwq);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rt_hwq *hwq = &c->hwq[rows[i]];

#define X(member, attribute, ...) hwq->member = full_next();
		RT_HWQ_COUNTERS(X)
#undef X
		hwq->in_flight = (uint32_t)full_next();
		hwq->in_flight_max = (uint32_t)full_next();
	}
	c->nr_hwqs = RT_HWQS;
}

/*
 * A span in which all that is counted happened. @c: zero but for its times and groups, to be freed by rt_counters_free().
 * @submitters: room for FULL_SUBMITTERS, which @c points to then.
 */
static inline void full_counters(struct rt_counters *c, struct rt_submitter *submitters)
{
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		struct rt_flow *flow = &c->flow[d];

#define X(member, attribute, ...) flow->member = full_next();
		RT_FLOW_COUNTERS(X)
#undef X
		flow->in_flight = (uint32_t)full_next();
		flow->in_flight_max = (uint32_t)full_next();
		for (unsigned int k = 0; k < RT_KINDS; k++)
			full_histogram(&c->histogram[d][k], k);
	}
#define X(member, attribute, ...) c->disk.member = full_next();
	RT_DISK_COUNTERS(X)
#undef X
	c->disk.streams_alive = 3;
	c->disk.streams_alive_queued = 5;
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute, ...) c->origin[i].member = full_next();
		RT_ORIGIN_COUNTERS(X)
#undef X
	}
	for (unsigned int i = 0; i < FULL_SUBMITTERS; i++) {
		struct rt_submitter *s = &submitters[i];

		*s = (struct rt_submitter){ .index = i, .pid = 100 + i, .rest = i == FULL_SUBMITTERS - 1 };
		snprintf(s->comm, sizeof(s->comm), s->rest ? "" : "program%u", i);
#define X(member, attribute, ...) s->member = full_next();
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	c->submitters = submitters;
	c->nr_submitters = FULL_SUBMITTERS;
	if (c->groups & RAIDTRACE_GROUP_HWQ)
		full_hwqs(c);
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
