// SPDX-License-Identifier: GPL-2.0-or-later

/* Answers that tell only what changed, against the difference of whole snapshots. */

#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"
#include "raidtrace.h"

#define ROUNDS	200
#define LOT	8

static uint32_t seed = 7;

static uint32_t chance(uint32_t of)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % of;
}

static struct nl_msg *message(const struct rt_counters *c, bool partial)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 20);

	genlmsg_put(msg, 0, 0, 0, 0, 0, 0, 1);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SNAPSHOT, c->snapshot);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SINCE_NS, c->since_ns);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_NOW_NS, c->now_ns);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_PLUGS, c->disk.plugs);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_RESETS, c->resets);
	if (partial)
		nla_put_flag(msg, RAIDTRACE_A_COUNTERS_PARTIAL);
	return msg;
}

static void put_flow(struct nl_msg *msg, unsigned int direction,
		     const struct rt_flow *flow)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_FLOW);

	nla_put_u32(msg, RAIDTRACE_A_FLOW_DIRECTION, direction);
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_FLOW_##attribute, flow->member);
	if (direction != RAIDTRACE_DIRECTION_ALL) {
		RT_FLOW_COUNTERS(X)
	}
#undef X
	nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT, flow->in_flight);
	nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX, flow->in_flight_max);
	nla_nest_end(msg, nest);
}

static void put_bins(struct nl_msg *msg, unsigned int direction,
		     unsigned int kind, unsigned int first, unsigned int nr,
		     const uint64_t *bins)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HISTOGRAM);

	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_KIND, kind);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_DIRECTION, direction);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first);
	nla_put(msg, RAIDTRACE_A_HISTOGRAM_COUNTS, (int)(nr * 8), bins);
	nla_nest_end(msg, nest);
}

static void put_submitter(struct nl_msg *msg, const struct rt_submitter *s)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_SUBMITTER);

	nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_INDEX, s->index);
	nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_PID, s->pid);
	nla_put_string(msg, RAIDTRACE_A_SUBMITTER_COMM, s->comm);
	nla_put_u64(msg, RAIDTRACE_A_SUBMITTER_QUEUED, s->queued);
	nla_nest_end(msg, nest);
}

static void put_hwq(struct nl_msg *msg, uint32_t index, const struct rt_hwq *hwq)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HWQ);

	nla_put_u32(msg, RAIDTRACE_A_HWQ_INDEX, index);
	nla_put_u64(msg, RAIDTRACE_A_HWQ_ISSUED, hwq->issued);
	nla_put_u32(msg, RAIDTRACE_A_HWQ_IN_FLIGHT_MAX, hwq->in_flight_max);
	nla_nest_end(msg, nest);
}

/* The answer to who has @before, or the whole one without it. */
static struct nl_msg *answer(const struct rt_counters *c,
			     const struct rt_counters *before)
{
	struct nl_msg *msg = message(c, before);

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		if (!before || memcmp(&c->flow[d], &before->flow[d],
				      sizeof(c->flow[d])))
			put_flow(msg, d, &c->flow[d]);
		for (unsigned int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *h = &c->histogram[d][k];

			for (unsigned int i = 0; i < h->nr_bins;) {
				unsigned int nr = before ? LOT : h->nr_bins;

				nr = nr < h->nr_bins - i ? nr : h->nr_bins - i;
				/* Lots that did not change come now and then all the same. */
				if (!before || chance(4))
					put_bins(msg, d, k, h->first_bin + i, nr,
						 h->counts + i);
				else if (before->histogram[d][k].nr_bins != h->nr_bins ||
					 memcmp(h->counts + i,
						before->histogram[d][k].counts + i, nr * 8))
					put_bins(msg, d, k, h->first_bin + i, nr,
						 h->counts + i);
				i += nr;
			}
		}
	}
	for (size_t i = 0; i < c->nr_submitters; i++)
		if (!before || i >= before->nr_submitters ||
		    memcmp(&c->submitters[i], &before->submitters[i],
			   sizeof(c->submitters[i])))
			put_submitter(msg, &c->submitters[i]);
	for (unsigned int i = 0; i < c->nr_hwqs; i++)
		if (!before || memcmp(&c->hwq[i], &before->hwq[i], sizeof(c->hwq[i])))
			put_hwq(msg, i, &c->hwq[i]);
	return msg;
}

/* Some more of everything. */
static void go_on(struct rt_counters *c)
{
	static struct rt_submitter processes[4];

	c->snapshot++;
	c->now_ns += 100;
	c->disk.plugs += chance(3);
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		if (chance(3))
			continue;
		c->flow[d].in_flight = chance(9);
		if (d == RAIDTRACE_DIRECTION_ALL)
			continue;
		c->flow[d].issued += chance(50);
		c->flow[d].bytes_ahead_queued += chance(1000);
		for (unsigned int n = chance(9); n; n--)
			rt_histogram_count(&c->histogram[d][chance(RT_KINDS)],
					   chance(200), chance(5));
	}
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int row = chance(6) * 20;

		c->hwq[row].issued += 1 + chance(5);
		c->hwq[row].in_flight_max += chance(2);
		c->nr_hwqs = row < c->nr_hwqs ? c->nr_hwqs : row + 1;
	}
	c->submitters = processes;
	if (c->nr_submitters < 4 && !chance(8)) {
		processes[c->nr_submitters].index = (uint32_t)c->nr_submitters;
		processes[c->nr_submitters++].pid = chance(1000);
	}
	for (size_t i = 0; i < c->nr_submitters; i++)
		processes[i].queued += chance(4);
}

static void same(const struct rt_counters *a, const struct rt_counters *b)
{
	assert_int_equal(a->now_ns, b->now_ns);
	assert_int_equal(a->since_ns, b->since_ns);
	assert_int_equal(a->snapshot, b->snapshot);
	assert_int_equal(a->disk.plugs, b->disk.plugs);
	assert_int_equal(a->nr_hwqs, b->nr_hwqs);
	assert_memory_equal(a->hwq, b->hwq, sizeof(a->hwq));
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		assert_memory_equal(&a->flow[d], &b->flow[d], sizeof(a->flow[d]));
		for (unsigned int k = 0; k < RT_KINDS; k++) {
			for (unsigned int i = 0; i < 200; i++) {
				const struct rt_histogram *x = &a->histogram[d][k];
				const struct rt_histogram *y = &b->histogram[d][k];

				assert_int_equal(i - x->first_bin < x->nr_bins ? x->counts[i - x->first_bin] : 0,
						 i - y->first_bin < y->nr_bins ? y->counts[i - y->first_bin] : 0);
			}
		}
	}
	for (size_t i = 0; i < a->nr_submitters; i++)
		for (size_t j = 0; j < b->nr_submitters; j++)
			if (a->submitters[i].index == b->submitters[j].index)
				assert_int_equal(a->submitters[i].queued, b->submitters[j].queued);
}

static int advance(struct nl_msg *msg, struct rt_counters *last,
		   struct rt_counters *span)
{
	struct rt_advance a = { .last = last };
	int err = rt_parse_advance(nlmsg_hdr(msg), &a);

	memset(span, 0, sizeof(*span));
	if (!err)
		err = rt_advance_apply(&a, last, span);
	rt_counters_free(&a.now);
	nlmsg_free(msg);
	return err;
}

static struct rt_counters copy_of(const struct rt_counters *c)
{
	struct rt_counters copy = { 0 };

	assert_int_equal(rt_counters_add(&copy, c), 0);
	copy.unknown = 0;
	return copy;
}

static void let_go(struct rt_counters *c)
{
	c->submitters = NULL;
	c->nr_submitters = 0;
	rt_counters_free(c);
}

static void is_the_difference(void **state)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;

	(void)state;
	last.since_ns = last.now_ns = 1;
	go_on(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	same(&last, &now);
	rt_counters_free(&span);
	for (int i = 0; i < ROUNDS; i++) {
		struct rt_counters before = copy_of(&now), delta;

		go_on(&now);
		assert_int_equal(rt_counters_delta(&before, &now, &delta), 0);
		assert_int_equal(advance(answer(&now, &before), &last, &span), 0);
		same(&last, &now);
		same(&span, &delta);
		rt_counters_free(&span);
		rt_counters_free(&delta);
		rt_counters_free(&before);
	}
	rt_counters_free(&last);
	let_go(&now);
}

static struct rt_submitter of(uint32_t index, const char *comm, uint64_t queued)
{
	struct rt_submitter s = { .index = index, .queued = queued };

	s.rest = !*comm;
	snprintf(s.comm, sizeof(s.comm), "%s", comm);
	return s;
}

static void has(const struct rt_counters *c, const char *comm, uint64_t queued)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->nr_submitters; i++)
		if (!strcmp(c->submitters[i].comm, comm))
			sum += c->submitters[i].queued;
	assert_int_equal(sum, queued);
}

/* A process that gave its row away is with the rest; what the rest had more in the span is no more than that. */
static void row_changes_hands(void **state)
{
	struct rt_submitter before[] = { of(0, "a", 10), of(1, "b", 20), of(2, "c", 30), of(64, "", 5) };
	struct rt_submitter after[] = { of(0, "d", 7), of(1, "b", 21), of(2, "c", 4), of(64, "", 5 + 10 + 2 + 31) };

	(void)state;
	for (unsigned int partial = 0; partial < 2; partial++) {
		struct rt_counters last = { .now_ns = 1 }, span = { 0 };
		struct rt_advance a = { .last = &last, .partial = partial };

		a.now = (struct rt_counters){ .since_ns = 1, .now_ns = 2 };
		for (unsigned int i = 0; i < 4; i++) {
			assert_int_equal(rt_submitters_append(&last, &before[i]), 0);
			assert_int_equal(rt_submitters_append(&a.now, &after[i]), 0);
		}
		assert_int_equal(rt_advance_apply(&a, &last, &span), 0);
		has(&span, "d", 7);
		has(&span, "b", 1);
		has(&span, "c", 4);
		has(&span, "a", 0);
		has(&span, "", 2 + 1);
		has(&last, "a", 0);
		has(&last, "c", 4);
		has(&last, "", 48);
		rt_counters_free(&span);
		rt_counters_free(&last);
	}
}

/* In any order. */
static void the_rest_comes_first(void **state)
{
	struct rt_submitter before[] = { of(0, "a", 10), of(64, "", 5) }, after[] = { of(64, "", 17), of(0, "d", 7) };
	struct rt_counters last = { .now_ns = 1 }, span = { 0 };
	struct rt_advance a = { .last = &last, .now = { .since_ns = 1, .now_ns = 2 } };

	(void)state;
	assert_int_equal(rt_submitters_append(&last, &before[0]), 0);
	assert_int_equal(rt_submitters_append(&last, &before[1]), 0);
	assert_int_equal(rt_submitters_append(&a.now, &after[0]), 0);
	assert_int_equal(rt_submitters_append(&a.now, &after[1]), 0);
	assert_int_equal(rt_advance_apply(&a, &last, &span), 0);
	has(&span, "", 2);
	has(&span, "d", 7);
	has(&last, "", 17);
	has(&last, "a", 0);
	assert_int_equal(last.nr_submitters, 2);
	rt_counters_free(&span);
	rt_counters_free(&last);
}

/* Of a target that was reset the span begins there, and is all there is. */
static void begins_at_a_reset(void **state)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;

	(void)state;
	go_on(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	rt_counters_free(&span);
	let_go(&now);
	now = (struct rt_counters){ .since_ns = 500, .now_ns = 500, .resets = 1, .snapshot = 9 };
	rt_histogram_count(&now.histogram[0][0], 8, 2);
	now.flow[0].issued = 2;
	now.now_ns = 700;
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	assert_int_equal(last.resets, 1);
	same(&last, &now);
	same(&span, &now);
	rt_counters_free(&span);
	rt_counters_free(&last);
	let_go(&now);
}

/* An answer that does not fit changes nothing, and can be requested again. */
static void wrong_answers_change_nothing(void **state)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;
	const uint64_t bins[2] = { 1, 1 };
	struct rt_flow flow = { 0 };
	struct nl_msg *msg;

	(void)state;
	rt_histogram_count(&now.histogram[0][0], 8, 5);
	now.flow[0].issued = 5;
	go_on(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	rt_counters_free(&span);
	msg = message(&now, true);
	put_flow(msg, 0, &flow);
	assert_int_equal(advance(msg, &last, &span), -ERANGE);
	msg = message(&now, true);
	put_bins(msg, 0, 0, 8, 1, bins);
	assert_int_equal(advance(msg, &last, &span), -ERANGE);
	msg = message(&now, true);
	put_bins(msg, 1, 9, 300, 2, bins);
	put_bins(msg, 1, 9, 301, 1, bins);
	assert_int_equal(advance(msg, &last, &span), -EBADMSG);
	msg = message(&now, true);
	put_bins(msg, 0, RT_KINDS, 300, 2, bins);
	assert_int_equal(advance(msg, &last, &span), -EBADMSG);
	msg = message(&now, true);
	put_bins(msg, 0, 0, 70000, 2, bins);
	assert_int_equal(advance(msg, &last, &span), -EBADMSG);
	same(&last, &now);
	rt_counters_free(&last);
	let_go(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_difference),
		cmocka_unit_test(begins_at_a_reset),
		cmocka_unit_test(the_rest_comes_first), cmocka_unit_test(row_changes_hands),
		cmocka_unit_test(wrong_answers_change_nothing),
	};

	return cmocka_run_group_tests_name("advance", tests, NULL, NULL);
}
