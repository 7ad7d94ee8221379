// SPDX-License-Identifier: GPL-2.0-or-later

/* Differences and sums of snapshots, and what they must agree on. */

#include "unit.h"

#include <errno.h>

#include "full.h"
#include "raidtrace.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define WRITE	RAIDTRACE_DIRECTION_WRITE
#define ALL	RAIDTRACE_DIRECTION_ALL
#define SIZE	RAIDTRACE_HISTOGRAM_KIND_SIZE
#define TIME	RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME

/* Bins that nothing happened in are not in a difference, wherever they are. */
TEST(difference_is_short)
{
	struct rt_counters from = { .now_ns = 100 }, to = { .now_ns = 150 };
	struct rt_counters span;

	from.flow[READ].in_flight = from.flow[READ].in_flight_max = 4;
	to.flow[READ].in_flight = 2;
	to.flow[READ].in_flight_max = 6;
	for (unsigned int i = 10; i < 20; i++) {
		rt_histogram_count(&from.histogram[READ][SIZE], i, i);
		rt_histogram_count(&to.histogram[READ][SIZE], i, i);
		rt_histogram_count(&to.histogram[WRITE][SIZE], i, i);
	}
	/* Room without counts on both sides of what is counted. */
	rt_histogram_count(&from.histogram[READ][SIZE], 5, 0);
	rt_histogram_count(&from.histogram[READ][SIZE], 25, 0);
	assert_int_equal(rt_counters_delta(&from, &to, &span), 0);
	assert_int_equal(span.flow[READ].in_flight, 2);
	assert_int_equal(span.flow[READ].in_flight_max, 6);
	assert_int_equal(span.histogram[READ][SIZE].nr_bins, 0);
	assert_int_equal(span.histogram[WRITE][SIZE].nr_bins, 10);
	rt_counters_free(&span);
	rt_histogram_count(&to.histogram[READ][SIZE], 13, 2);
	rt_histogram_count(&to.histogram[READ][SIZE], 15, 3);
	assert_int_equal(rt_counters_delta(&from, &to, &span), 0);
	assert_int_equal(span.histogram[READ][SIZE].first_bin, 13);
	assert_int_equal(span.histogram[READ][SIZE].nr_bins, 3);
	assert_int_equal(full_bin(&span.histogram[READ][SIZE], 13), 2);
	assert_int_equal(full_bin(&span.histogram[READ][SIZE], 14), 0);
	assert_int_equal(full_bin(&span.histogram[READ][SIZE], 15), 3);
	rt_counters_free(&span);
	rt_histogram_count(&from.histogram[READ][SIZE], 21, 1);
	assert_int_equal(rt_counters_delta(&from, &to, &span), -ERANGE);
	rt_counters_free(&from);
	rt_counters_free(&to);
}

/* The difference of a sum is the counters that were added, and a fall of any counter is an error. */
TEST(everything)
{
	struct rt_submitter rows[2][FULL_SUBMITTERS];
	struct rt_counters a = { .since_ns = 1, .now_ns = 5, .groups = 0x1fff }, b = { .since_ns = 5, .now_ns = 9, .groups = 0x1fff };
	struct rt_counters total = { 0 }, span;
	const struct rt_histogram *was, *now;
	uint64_t *fallen[7];

	full_counters(&a, rows[0]);
	full_counters(&b, rows[1]);
	b.id = 3;
	b.resets = 0;
	b.readahead_sectors = 77;
	b.gone = true;
	b.disk.streams_alive = 9;
	assert_int_equal(rt_counters_add(&total, &a), 0);
	expect_counters(&total, &a);
	expect_submitters(&total, &a);
	assert_int_equal(rt_counters_add(&total, &b), 0);
	assert_int_equal(total.id, 3);
	assert_int_equal(total.readahead_sectors, 77);
	assert_true(total.gone);
	assert_int_equal(total.disk.streams_alive, 9);
	assert_int_equal(total.disk.streams_alive_queued, 5);
	assert_int_equal(total.flow[READ].in_flight, b.flow[READ].in_flight);
	assert_int_equal(total.groups, 0x1fff);
	assert_int_equal(total.since_ns, 1);
	assert_int_equal(total.now_ns, 9);
	assert_int_equal(rt_counters_delta(&a, &total, &span), 0);
	expect_counters(&span, &b);
	expect_submitters(&span, &b);
	assert_int_equal(span.since_ns, 5);
	assert_int_equal(span.now_ns, 9);
	rt_counters_free(&span);
	fallen[0] = &total.flow[5].errors;
	fallen[1] = &total.origin[RT_CLASSES - 1].seeks;
	fallen[2] = &total.disk.tag_waits;
	fallen[3] = &total.submitters[7].queued;
	was = &a.histogram[1][RAIDTRACE_HISTOGRAM_KIND_D2C];
	now = &total.histogram[1][RAIDTRACE_HISTOGRAM_KIND_D2C];
	fallen[4] = &now->counts[was->first_bin - now->first_bin];
	fallen[6] = &total.hwq[RT_HWQS - 1].completed_other_node;
	fallen[5] = &total.submitters[0].bytes_queued;
	for (size_t i = 0; i < sizeof(fallen) / sizeof(fallen[0]); i++) {
		uint64_t kept = *fallen[i];

		*fallen[i] = 0;
		if (rt_counters_delta(&a, &total, &span) != -ERANGE)
			fail_msg("%zu fell, and that is no error", i);
		*fallen[i] = kept;
	}
	/* A row that was and is not. */
	total.nr_submitters--;
	assert_int_equal(rt_counters_delta(&a, &total, &span), -ERANGE);
	total.nr_submitters++;
	a.submitters = b.submitters = NULL;
	a.nr_submitters = b.nr_submitters = 0;
	rt_counters_free(&a);
	rt_counters_free(&b);
	rt_counters_free(&total);
}

/* A span that agrees with itself: 3 in flight before, 10 issued, 4 after. */
static void consistent_span(struct rt_counters *c, uint32_t before[RT_DIRECTIONS])
{
	memset(c, 0, sizeof(*c));
	memset(before, 0, RT_DIRECTIONS * sizeof(before[0]));
	c->since_ns = 100;
	c->now_ns = 200;
	before[READ] = before[ALL] = 3;
	c->flow[READ].issued = 10;
	c->flow[READ].completed = 8;
	c->flow[READ].requeued = 1;
	c->flow[READ].in_flight = c->flow[ALL].in_flight = 4;
	rt_histogram_count(&c->histogram[READ][SIZE], 256, 10);
	rt_histogram_count(&c->histogram[READ][TIME], 2, 100);
	rt_histogram_count(&c->histogram[WRITE][TIME], 0, 100);
	rt_histogram_count(&c->histogram[ALL][TIME], 2, 100);
}

TEST(agreement)
{
	uint32_t before[RT_DIRECTIONS];
	struct rt_counters c;
	char text[256] = "";

	consistent_span(&c, before);
	assert_true(rt_counters_check(&c, before, text, sizeof(text)));
	assert_string_equal(text, "");
	c.flow[READ].completed++;
	assert_false(rt_counters_check(&c, before, text, sizeof(text)));
	assert_string_equal(text, "read: issued + in flight before = 13, but completed + requeued + abandoned + in flight after = 14");
	c.flow[READ].completed -= 2;
	c.flow[READ].abandoned = 1;
	assert_true(rt_counters_check(&c, before, text, sizeof(text)));
	c.flow[READ].abandoned = 0;
	c.flow[READ].completed++;
	c.flow[ALL].in_flight++;
	assert_false(rt_counters_check(&c, before, text, sizeof(text)));
	assert_non_null(strstr(text, "all: issued"));
	c.flow[ALL].in_flight--;
	rt_histogram_count(&c.histogram[READ][SIZE], 8, 1);
	assert_false(rt_counters_check(&c, before, text, sizeof(text)));
	assert_string_equal(text, "read: size histogram sums to 11 instead of 10");
	rt_counters_free(&c);
	consistent_span(&c, before);
	rt_histogram_count(&c.histogram[ALL][TIME], 0, 1);
	assert_false(rt_counters_check(&c, before, text, sizeof(text)));
	assert_string_equal(text, "all: depth_time histogram sums to 101 instead of 100");
	rt_counters_free(&c);
}

/* A bio-based disk has no requests: there is nothing that could disagree. */
TEST(nothing_known)
{
	uint32_t before[RT_DIRECTIONS] = { 0 };
	struct rt_counters c = { .since_ns = 100, .now_ns = 200 };
	char text[256] = "";

	assert_false(rt_counters_check(&c, before, text, sizeof(text)));
	c.unknown = RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT);
	assert_true(rt_counters_check(&c, before, text, sizeof(text)));
}
