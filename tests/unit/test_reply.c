// SPDX-License-Identifier: GPL-2.0-or-later

/* Answers of the module with all that one can hold, and with each part of it missing or wrong. */

#include "unit.h"

#include <errno.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"
#include "full.h"
#include "raidtrace.h"
#include "report/report.h"

static struct rt_submitter submitters[FULL_SUBMITTERS];
static struct rt_counters full;

static void put_flow(struct nl_msg *msg, unsigned int d, const struct rt_flow *flow, int without)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_FLOW);

	nla_put_u32(msg, RAIDTRACE_A_FLOW_DIRECTION, d);
#define X(member, attribute, ...)						\
	if (without != RAIDTRACE_A_FLOW_##attribute &&				\
	    (RAIDTRACE_A_FLOW_##attribute != RAIDTRACE_A_FLOW_DEPTH_SUM_NS || d <= RAIDTRACE_DIRECTION_WRITE || \
	     d == RAIDTRACE_DIRECTION_ALL))					\
		nla_put_u64(msg, RAIDTRACE_A_FLOW_##attribute, flow->member);
	RT_FLOW_COUNTERS(X)
#undef X
	if (without != RAIDTRACE_A_FLOW_IN_FLIGHT)
		nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT, flow->in_flight);
	nla_put_u32(msg, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX, flow->in_flight_max);
	nla_nest_end(msg, nest);
}

static void put_histogram(struct nl_msg *msg, uint32_t d, uint32_t k, uint32_t first, const uint64_t *counts, unsigned int nr)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HISTOGRAM);

	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_DIRECTION, d);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_KIND, k);
	nla_put_u32(msg, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first);
	if (counts)
		nla_put(msg, RAIDTRACE_A_HISTOGRAM_COUNTS, (int)(nr * 8), counts);
	nla_nest_end(msg, nest);
}

static void put_origin(struct nl_msg *msg, uint32_t class_)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_ORIGIN);
	const struct rt_origin *origin = &full.origin[class_ < RT_CLASSES ? class_ : 0];

	nla_put_u32(msg, RAIDTRACE_A_ORIGIN_CLASS, class_);
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_ORIGIN_##attribute, origin->member);
	RT_ORIGIN_COUNTERS(X)
#undef X
	nla_nest_end(msg, nest);
}

static void put_submitter(struct nl_msg *msg, const struct rt_submitter *s)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_SUBMITTER);

	nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_INDEX, s->index);
	if (!s->rest) {
		nla_put_u32(msg, RAIDTRACE_A_SUBMITTER_PID, s->pid);
		nla_put_string(msg, RAIDTRACE_A_SUBMITTER_COMM, s->comm);
	}
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_SUBMITTER_##attribute, s->member);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	nla_nest_end(msg, nest);
}

static void put_hwq(struct nl_msg *msg, uint32_t index, const struct rt_hwq *hwq)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_COUNTERS_HWQ);

	nla_put_u32(msg, RAIDTRACE_A_HWQ_INDEX, index);
#define X(member, attribute, ...) nla_put_u64(msg, RAIDTRACE_A_HWQ_##attribute, hwq->member);
	RT_HWQ_COUNTERS(X)
#undef X
	nla_put_u32(msg, RAIDTRACE_A_HWQ_IN_FLIGHT, hwq->in_flight);
	nla_put_u32(msg, RAIDTRACE_A_HWQ_IN_FLIGHT_MAX, hwq->in_flight_max);
	nla_nest_end(msg, nest);
}

/* The head and what has no direction, without one of it. */
static struct nl_msg *head(const struct rt_counters *c, int without)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 20);

	assert_non_null(genlmsg_put(msg, 0, 0, 30, 0, 0, RAIDTRACE_CMD_COUNTERS_GET, 1));
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_ID, c->id);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SNAPSHOT, c->snapshot);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SINCE_NS, c->since_ns);
	if (without != RAIDTRACE_A_COUNTERS_NOW_NS)
		nla_put_u64(msg, RAIDTRACE_A_COUNTERS_NOW_NS, c->now_ns);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_RESETS, c->resets);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STATE, c->gone ? RAIDTRACE_STATE_GONE : RAIDTRACE_STATE_ACTIVE);
	nla_put_u64(msg, RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS, c->readahead_sectors);
	nla_put_u32(msg, RAIDTRACE_A_COUNTERS_GROUPS, c->groups);
#define X(member, attribute, ...)				\
	if (without != RAIDTRACE_A_COUNTERS_##attribute)	\
		nla_put_u64(msg, RAIDTRACE_A_COUNTERS_##attribute, c->disk.member);
	RT_DISK_COUNTERS(X)
#undef X
	if (without != RAIDTRACE_A_COUNTERS_STREAMS_ALIVE)
		nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE, c->disk.streams_alive);
	if (without != RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED)
		nla_put_u32(msg, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED, c->disk.streams_alive_queued);
	return msg;
}

static int parse_counters(struct nl_msg *msg, struct rt_counters *got)
{
	int err;

	memset(got, 0, sizeof(*got));
	err = rt_parse_counters(nlmsg_hdr(msg), got);
	nlmsg_free(msg);
	return err;
}

TEST(complete_answer)
{
	struct nl_msg *msg = head(&full, -1);
	struct rt_counters got;

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		put_flow(msg, d, &full.flow[d], -1);
		for (unsigned int k = 0; k < RT_KINDS; k++)
			put_histogram(msg, d, k, full.histogram[d][k].first_bin, full.histogram[d][k].counts,
				      full.histogram[d][k].nr_bins);
	}
	for (uint32_t i = 0; i < RT_CLASSES; i++)
		put_origin(msg, i);
	for (size_t i = 0; i < FULL_SUBMITTERS; i++)
		put_submitter(msg, &submitters[i]);
	for (uint32_t i = RT_HWQS; i--;)
		if (full.hwq[i].issued)
			put_hwq(msg, i, &full.hwq[i]);
	assert_int_equal(parse_counters(msg, &got), 0);
	assert_int_equal(got.id, full.id);
	assert_int_equal(got.snapshot, full.snapshot);
	assert_int_equal(got.since_ns, full.since_ns);
	assert_int_equal(got.now_ns, full.now_ns);
	assert_int_equal(got.resets, full.resets);
	assert_true(got.gone);
	assert_int_equal(got.readahead_sectors, full.readahead_sectors);
	assert_int_equal(got.groups, full.groups);
	assert_int_equal(got.unknown, 0);
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		if (d > RAIDTRACE_DIRECTION_WRITE && d != RAIDTRACE_DIRECTION_ALL)
			full.flow[d].depth_sum_ns = 0;
		assert_memory_equal(&got.flow[d], &full.flow[d], sizeof(got.flow[d]));
	}
	assert_memory_equal(&got.disk, &full.disk, sizeof(got.disk));
	expect_counters(&got, &full);
	expect_submitters(&got, &full);
	assert_int_equal(got.submitters[FULL_SUBMITTERS - 1].pid, 0);
	rt_counters_free(&got);
}

/* A missing counter is unknown, and no other counter is. */
TEST(missing_attributes)
{
	struct rt_counters got;
	struct nl_msg *msg;

#define X(member, attribute, ...)						\
	assert_int_equal(parse_counters(head(&full, RAIDTRACE_A_COUNTERS_##attribute), &got), 0); \
	assert_int_equal(got.disk.unknown, RT_DISK_BIT(attribute));		\
	rt_counters_free(&got);
	RT_DISK_COUNTERS(X)
	X(streams_alive, STREAMS_ALIVE)
	X(streams_alive_queued, STREAMS_ALIVE_QUEUED)
#undef X
#define X(member, attribute, ...)						\
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {			\
		bool counted = RT_COUNTER_##attribute == RT_COUNTER_IN_FLIGHT || \
			       (d != RAIDTRACE_DIRECTION_ALL &&			\
				(RT_COUNTER_##attribute != RT_COUNTER_DEPTH_SUM_NS || d <= RAIDTRACE_DIRECTION_WRITE)); \
										\
		msg = head(&full, -1);							\
		put_flow(msg, d, &full.flow[d], RAIDTRACE_A_FLOW_##attribute);			\
		assert_int_equal(parse_counters(msg, &got), 0);			\
		assert_true(got.unknown == (counted ? RT_COUNTER_BIT(attribute) : 0)); \
		rt_counters_free(&got);						\
	}
	RT_FLOW_COUNTERS(X)
	X(in_flight, IN_FLIGHT)
#undef X
	assert_int_equal(parse_counters(head(&full, RAIDTRACE_A_COUNTERS_NOW_NS), &got), -EBADMSG);
	rt_counters_free(&got);
}

/* A part that says what cannot be, or that comes twice. */
TEST(invalid_parts)
{
	static const uint64_t counts[2] = { 1, 2 };
	struct rt_counters got;

	for (int i = 0; i < 14; i++) {
		struct nl_msg *msg = head(&full, -1);
		bool good = i < 2;

		switch (i) {
		case 0: put_histogram(msg, RT_DIRECTIONS - 1, RT_KINDS - 1, 7, counts, 2); break;
		case 1: put_histogram(msg, 0, 0, 7, counts, 0); put_histogram(msg, 0, 0, 7, counts, 1); break;
		case 2: put_histogram(msg, RT_DIRECTIONS, 0, 7, counts, 2); break;
		case 3: put_histogram(msg, 0, RT_KINDS, 7, counts, 2); break;
		case 4: put_histogram(msg, 0, 0, 7, NULL, 0); break;
		case 5: put_histogram(msg, 0, 0, UINT32_MAX, counts, 2); break;
		case 6: put_histogram(msg, 0, 0, 7, counts, 1); put_histogram(msg, 0, 0, 9, counts, 1); break;
		case 7: put_origin(msg, RT_CLASSES); break;
		case 8: put_submitter(msg, &submitters[3]); put_submitter(msg, &submitters[3]); break;
		case 9: put_flow(msg, RT_DIRECTIONS, &full.flow[0], -1); break;
		case 10: put_hwq(msg, RT_HWQS, &full.hwq[0]); break;
		case 11: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_HWQ, 0); break;
		case 12: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_ORIGIN, 0); break;
		default: nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SUBMITTER, 0); break;
		}
		if (parse_counters(msg, &got) != (good ? 0 : -EBADMSG))
			fail_msg("case %d", i);
		rt_counters_free(&got);
	}
}

static int fill_full(void **state)
{
	(void)state;
	full = (struct rt_counters){ .id = 9, .snapshot = 8, .since_ns = 7, .now_ns = 1000, .resets = 6, .readahead_sectors = 5,
				     .gone = true, .groups = 0x1fff };
	full_counters(&full, submitters);
	return 0;
}

static int free_full(void **state)
{
	(void)state;
	full.submitters = NULL;
	full.nr_submitters = 0;
	rt_counters_free(&full);
	return 0;
}

/* Answers that tell only what changed, against the difference of whole snapshots. */

#define ROUNDS	200
#define LOT	8

static uint32_t chance(uint32_t of)
{
	static uint32_t seed = 7;

	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % of;
}

/* The answer to who has @before, or the whole one without it. */
static struct nl_msg *answer(const struct rt_counters *c, const struct rt_counters *before)
{
	struct nl_msg *msg = head(c, -1);

	if (before)
		nla_put_flag(msg, RAIDTRACE_A_COUNTERS_PARTIAL);
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		if (!before || memcmp(&c->flow[d], &before->flow[d], sizeof(c->flow[d])))
			put_flow(msg, d, &c->flow[d], -1);
		for (unsigned int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *h = &c->histogram[d][k];

			for (unsigned int i = 0; i < h->nr_bins;) {
				unsigned int nr = before ? LOT : h->nr_bins;

				nr = nr < h->nr_bins - i ? nr : h->nr_bins - i;
				/* Lots that did not change come now and then all the same. */
				if (!before || chance(4) || before->histogram[d][k].nr_bins != h->nr_bins ||
				    memcmp(h->counts + i, before->histogram[d][k].counts + i, nr * 8))
					put_histogram(msg, d, k, h->first_bin + i, h->counts + i, nr);
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
		if (!before || i >= before->nr_hwqs || memcmp(&c->hwq[i], &before->hwq[i], sizeof(c->hwq[i])))
			put_hwq(msg, i, &c->hwq[i]);
	return msg;
}

/* Some more of everything. */
static void count_more(struct rt_counters *c)
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
			rt_histogram_count(&c->histogram[d][chance(RT_KINDS)], chance(200), chance(5));
	}
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int row = chance(6) * 20;

		if (!c->hwq)
			c->hwq = calloc(RT_HWQS, sizeof(*c->hwq));
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

static void expect_same(const struct rt_counters *a, const struct rt_counters *b)
{
	assert_int_equal(a->now_ns, b->now_ns);
	assert_int_equal(a->since_ns, b->since_ns);
	assert_int_equal(a->snapshot, b->snapshot);
	expect_counters(a, b);
	for (size_t i = 0; i < a->nr_submitters; i++)
		for (size_t j = 0; j < b->nr_submitters; j++)
			if (a->submitters[i].index == b->submitters[j].index)
				assert_int_equal(a->submitters[i].queued, b->submitters[j].queued);
}

static int advance(struct nl_msg *msg, struct rt_counters *last, struct rt_counters *span)
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

static void free_counters(struct rt_counters *c)
{
	c->submitters = NULL;
	c->nr_submitters = 0;
	rt_counters_free(c);
}

TEST(span_is_difference)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;

	last.since_ns = last.now_ns = 1;
	count_more(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	expect_same(&last, &now);
	rt_counters_free(&span);
	for (int i = 0; i < ROUNDS; i++) {
		struct rt_counters before = copy_of(&now), delta;

		count_more(&now);
		assert_int_equal(rt_counters_delta(&before, &now, &delta), 0);
		assert_int_equal(advance(answer(&now, &before), &last, &span), 0);
		expect_same(&last, &now);
		expect_same(&span, &delta);
		rt_counters_free(&span);
		rt_counters_free(&delta);
		rt_counters_free(&before);
	}
	rt_counters_free(&last);
	free_counters(&now);
}

static struct rt_submitter process(uint32_t index, const char *comm, uint64_t queued)
{
	struct rt_submitter s = { .index = index, .queued = queued };

	s.rest = !*comm;
	snprintf(s.comm, sizeof(s.comm), "%s", comm);
	return s;
}

static void expect_queued(const struct rt_counters *c, const char *comm, uint64_t queued)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->nr_submitters; i++)
		if (!strcmp(c->submitters[i].comm, comm))
			sum += c->submitters[i].queued;
	assert_int_equal(sum, queued);
}

/* A process that gave its row away is with the rest; what the rest had more in the span is no more than that. */
TEST(row_changes_hands)
{
	struct rt_submitter before[] = { process(0, "a", 10), process(1, "b", 20), process(2, "c", 30), process(64, "", 5) };
	struct rt_submitter after[] = {
		process(0, "d", 7), process(1, "b", 21), process(2, "c", 4), process(64, "", 5 + 10 + 2 + 31),
	};

	/* In any order: the rest comes last, then first. */
	for (unsigned int i = 0; i < 4; i++) {
		struct rt_counters last = { .now_ns = 1 }, span = { 0 };
		struct rt_advance a = { .last = &last, .partial = i & 1, .now = { .since_ns = 1, .now_ns = 2 } };

		for (unsigned int row = 0; row < 4; row++) {
			assert_int_equal(rt_submitters_append(&last, &before[row]), 0);
			assert_int_equal(rt_submitters_append(&a.now, &after[i & 2 ? 3 - row : row]), 0);
		}
		assert_int_equal(rt_advance_apply(&a, &last, &span), 0);
		expect_queued(&span, "d", 7);
		expect_queued(&span, "b", 1);
		expect_queued(&span, "c", 4);
		expect_queued(&span, "a", 0);
		expect_queued(&span, "", 2 + 1);
		expect_queued(&last, "a", 0);
		expect_queued(&last, "c", 4);
		expect_queued(&last, "", 48);
		assert_int_equal(last.nr_submitters, 4);
		rt_counters_free(&span);
		rt_counters_free(&last);
	}
}

/* The span of a target that was reset begins at the reset, and has all its counters. */
TEST(span_begins_at_reset)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;

	count_more(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	rt_counters_free(&span);
	free_counters(&now);
	now = (struct rt_counters){ .since_ns = 500, .now_ns = 500, .resets = 1, .snapshot = 9 };
	rt_histogram_count(&now.histogram[0][0], 8, 2);
	now.flow[0].issued = 2;
	now.now_ns = 700;
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	assert_int_equal(last.resets, 1);
	expect_same(&last, &now);
	expect_same(&span, &now);
	rt_counters_free(&span);
	rt_counters_free(&last);
	free_counters(&now);
}

/* An answer that does not fit changes nothing, and can be requested again. */
TEST(wrong_answers_change_nothing)
{
	struct rt_counters now = { .since_ns = 1, .now_ns = 1 }, last = { 0 }, span;
	const uint64_t bins[2] = { 1, 1 };
	struct rt_flow flow = { 0 };

	rt_histogram_count(&now.histogram[0][0], 8, 5);
	now.flow[0].issued = 5;
	count_more(&now);
	assert_int_equal(advance(answer(&now, NULL), &last, &span), 0);
	rt_counters_free(&span);
	for (int i = 0; i < 5; i++) {
		struct nl_msg *msg = head(&now, -1);

		nla_put_flag(msg, RAIDTRACE_A_COUNTERS_PARTIAL);
		switch (i) {
		case 0: put_flow(msg, 0, &flow, -1); break;
		case 1: put_histogram(msg, 0, 0, 8, bins, 1); break;
		case 2: put_histogram(msg, 1, 9, 300, bins, 2); put_histogram(msg, 1, 9, 301, bins, 1); break;
		case 3: put_histogram(msg, 0, RT_KINDS, 300, bins, 2); break;
		default: put_histogram(msg, 0, 0, 70000, bins, 2); break;
		}
		assert_int_equal(advance(msg, &last, &span), i < 2 ? -ERANGE : -EBADMSG);
	}
	expect_same(&last, &now);
	rt_counters_free(&last);
	free_counters(&now);
}

/* Answers about the last requests of a disk, and how requests are printed. */

static void put_ended(struct nl_msg *msg, uint64_t number, uint32_t class_, uint64_t completed_ns)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_HISTORY_ENDED);

	nla_put_u64(msg, RAIDTRACE_A_ENDED_NUMBER, number);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_QUEUED_NS, 1000000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_ISSUED_NS, 1002000000);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_COMPLETED_NS, completed_ns);
	nla_put_u64(msg, RAIDTRACE_A_ENDED_SECTOR, 4096 * number);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_BYTES, 65536);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DIRECTION, RAIDTRACE_DIRECTION_WRITE);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_CLASS, class_);
	nla_put_u32(msg, RAIDTRACE_A_ENDED_DEPTH, 7);
	if (number & 1) {
		nla_put_u32(msg, RAIDTRACE_A_ENDED_PID, 42);
		nla_put_string(msg, RAIDTRACE_A_ENDED_COMM, "fio");
	} else {
		nla_put_flag(msg, RAIDTRACE_A_ENDED_ERROR);
		nla_put_flag(msg, RAIDTRACE_A_ENDED_AGAIN);
	}
	nla_nest_end(msg, nest);
}

static struct nl_msg *history_answer(void)
{
	struct nl_msg *msg = nlmsg_alloc_size(32768);

	assert_non_null(genlmsg_put(msg, 0, 0, 30, 0, 0, RAIDTRACE_CMD_HISTORY_GET, 1));
	nla_put_u64(msg, RAIDTRACE_A_HISTORY_NR, 9);
	return msg;
}

static int parse_history(struct nl_msg *msg, struct rt_history *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = rt_parse_history(nlmsg_hdr(msg), ret);
	nlmsg_free(msg);
	return err;
}

TEST(history)
{
	static struct rt_history history;
	struct nl_msg *msg = history_answer();

	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse_history(msg, &history), 0);
	assert_int_equal(history.total, 9);
	assert_int_equal(history.nr, 2);
	assert_int_equal(history.ended[0].sector, 4096 * 5);
	assert_int_equal(history.ended[0].inserted_ns, 0);
	assert_int_equal(history.ended[0].class_, RAIDTRACE_CLASS_JOURNAL);
	assert_string_equal(history.ended[0].comm, "fio");
	assert_true(history.ended[0].known && !history.ended[0].error && !history.ended[0].again);
	assert_true(!history.ended[1].known && history.ended[1].error && history.ended[1].again);
}

/* Invalid answers are refused: an unknown class, an end before the issue, more requests than fit. */
TEST(invalid_history)
{
	static struct rt_history history;
	struct nl_msg *msg = history_answer();

	put_ended(msg, 5, RT_CLASSES, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	put_ended(msg, 5, 0, 1001000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	put_ended(msg, 0, 0, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	msg = history_answer();
	for (uint64_t i = 1; i <= RT_HISTORY_MOST + 1; i++)
		put_ended(msg, i, 0, 1012000000);
	assert_int_equal(parse_history(msg, &history), -EBADMSG);
	assert_int_equal(history.nr, RT_HISTORY_MOST);
}

static char *printed(int how, const struct requests *requests, size_t first)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (how == 't') {
		requests_text(to, requests, first, "sda");
	} else if (how == 'c') {
		requests_csv_names(to);
		requests_csv(to, requests, first);
	} else {
		requests_json(to, requests, first, "sda");
	}
	fclose(to);
	return text;
}

TEST(printed_requests)
{
	static struct rt_history history;
	struct requests requests = {
		.has_awaited = true, .classes = true, .source = "bpf", .losses.lost.records[3] = 4,
	};
	struct nl_msg *msg = history_answer();
	char *text;

	text = printed('t', &requests, 0);
	assert_string_equal(text, "sda: no request was kept since it was attached (counted by bpf)\n");
	free(text);
	put_ended(msg, 5, RAIDTRACE_CLASS_JOURNAL, 1012000000);
	put_ended(msg, 8, RAIDTRACE_CLASS_DATA, 1502000000);
	assert_int_equal(parse_history(msg, &history), 0);
	assert_int_equal(requests_add(&requests, history.ended, history.nr), 0);
	text = printed('t', &requests, 0);
	assert_string_equal(text,
			    " before     q2d     d2c depth           sector     data class        who\n"
			    " 490 ms 2.00 ms 10.0 ms     7 write      20480   64 KiB journal   -- fio\n"
			    "        2 requests were lost here\n"
			    "   0 ns 2.00 ms  500 ms     7 write      32768   64 KiB data      FA -\n"
			    "The last request is the one that tail waited for.\n"
			    "Counted by bpf.\n");
	free(text);
	text = printed('c', &requests, 1);
	assert_string_equal(text,
			    "number,queued_ns,inserted_ns,issued_ns,completed_ns,sector,bytes,direction,class,depth,pid,comm,error,again\r\n"
			    "8,1000000000,,1002000000,1502000000,32768,65536,write,data,7,,,1,1\r\n");
	free(text);
	text = printed('j', &requests, 0);
	assert_non_null(strstr(text, "\"lost\":2"));
	assert_non_null(strstr(text, "\"source\":\"bpf\",\n  \"lost_records\":{\n    \"end\":4\n  }"));
	assert_non_null(strstr(text, "\"inserted_ns\":null"));
	assert_non_null(strstr(text, "\"ended\":true"));
	assert_non_null(strstr(text, "\"simulated\":false"));
	assert_non_null(strstr(text, "\"class\":\"data\""));
	free(text);
	requests.classes = false;
	text = printed('t', &requests, 1);
	assert_non_null(strstr(text, "64 KiB n/a "));
	free(text);
	text = printed('c', &requests, 1);
	assert_non_null(strstr(text, ",write,,7,"));
	free(text);
	text = printed('j', &requests, 1);
	assert_non_null(strstr(text, "\"class\":null"));
	free(text);
	free(requests.ended);
}

GROUP_FIXTURE(fill_full, free_full)
