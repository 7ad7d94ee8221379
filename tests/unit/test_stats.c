// SPDX-License-Identifier: GPL-2.0-or-later

/* Means, modes and shares, against numbers worked out by hand. */

#include "unit.h"

#include <stdlib.h>

#include "bin_of.h"
#include "numbers/stats.h"

static void count(struct rt_counters *c, unsigned int kind, int64_t value,
		  uint64_t n)
{
	assert_int_equal(
		rt_histogram_count(&c->histogram[RAIDTRACE_DIRECTION_READ][kind],
				   bin_of(kind, value), n), 0);
}

static void mode(void **state)
{
	struct rt_counters c = { 0 };
	struct rt_histogram *sizes =
		&c.histogram[RAIDTRACE_DIRECTION_READ][RAIDTRACE_HISTOGRAM_KIND_SIZE];
	uint64_t n = 42;
	struct range range;

	(void)state;
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_false(range.known);
	assert_int_equal(n, 0);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 3);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 256, 7);
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_true(range.known);
	assert_int_equal(range.low, 256);
	assert_int_equal(range.high, 257);
	assert_int_equal(n, 7);
	/* Of two the smaller; beyond 256 sectors a bin is a range. */
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 4);
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_int_equal(range.low, 8);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 1000, 100);
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_true(range.low <= 1000 && range.high > 1000);
	assert_true(range.high - range.low > 1);
	rt_counters_free(&c);
}

static void percentile(void **state)
{
	struct rt_counters c = { 0 };
	struct rt_histogram *d2c =
		&c.histogram[RAIDTRACE_DIRECTION_READ][RAIDTRACE_HISTOGRAM_KIND_D2C];
	struct range range;

	(void)state;
	assert_false(histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C,
					  0.5).known);
	/* 1 .. 10 ns, once each: the median is the fifth. */
	for (int64_t ns = 1; ns <= 10; ns++)
		count(&c, RAIDTRACE_HISTOGRAM_KIND_D2C, ns, 1);
	range = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.5);
	assert_int_equal(range.low, 5);
	range = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.99);
	assert_int_equal(range.low, 10);
	range = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.51);
	assert_int_equal(range.low, 6);
	/* 990 fast ones: exactly 99 % do not exceed the fast bin. */
	rt_counters_free(&c);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_D2C, 1000000, 990);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_D2C, 50000000, 10);
	range = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.99);
	assert_true(range.low <= 1000000 && range.high > 1000000);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_D2C, 50000000, 1);
	range = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.99);
	assert_true(range.low <= 50000000 && range.high > 50000000);
	rt_counters_free(&c);
}

static void depth(void **state)
{
	struct rt_counters c = { .since_ns = 1000, .now_ns = 1100 };
	struct direction_stats stats;

	(void)state;
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.depth_known);
	/* A quarter of the time idle, half at 2, a quarter at 30. */
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, 25);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 2, 50);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 30, 25);
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_true(stats.depth_known);
	assert_true(stats.depth_mean == 8.5);
	assert_int_equal(stats.depth_max, 30);
	assert_false(stats.depth_open);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 256, 1);
	c.flow[RAIDTRACE_DIRECTION_READ].depth_sum_ns = 850 + 1000;
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_true(stats.depth_open);
	assert_true(stats.depth_exact);
	assert_true(stats.depth_mean == 1850. / 101);
	c.unknown = RT_COUNTER_BIT(DEPTH_SUM_NS);
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.depth_exact);
	assert_true(stats.depth_mean == (850. + 256) / 101);
	rt_counters_free(&c);
}

/* Ten issued: the first has no one before it, six follow on, three seek. */
static void seeks(void **state)
{
	struct rt_counters c = { .since_ns = 0, .now_ns = 2000000000 };
	struct rt_flow *flow = &c.flow[RAIDTRACE_DIRECTION_READ];
	struct direction_stats stats;

	(void)state;
	flow->issued = 10;
	flow->bytes_issued = 10 * 4096;
	flow->bytes_completed = 8 * 4096;
	flow->completed = 8;
	flow->d2c_sum_ns = 8000;
	flow->sequential = 6;
	flow->seek_forward_sectors = 1000;
	flow->seek_backward_sectors = 500;
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SEEK, 0, 6);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SEEK, 500, 2);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SEEK, -500, 1);
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_int_equal(stats.requests, 10);
	assert_int_equal(stats.sequential, 6);
	assert_int_equal(stats.seeks, 3);
	assert_true(stats.seek_mean_sectors == 500);
	assert_true(stats.size_mean_bytes == 4096);
	assert_true(stats.bytes_per_s == 4 * 4096);
	assert_true(stats.d2c_mean_ns == 1000);
	rt_counters_free(&c);
	/* None, and their mean is nothing. */
	flow->seek_forward_sectors = 0;
	flow->seek_backward_sectors = 0;
	stats_of(&c, RAIDTRACE_DIRECTION_READ, &stats);
	assert_int_equal(stats.seeks, 0);
	assert_true(stats.seek_mean_sectors == 0);
}

static void idle(void **state)
{
	struct rt_flow flow = { .in_flight_max = 9 };

	(void)state;
	/* How deep it once was is no event. */
	assert_true(flow_is_idle(&flow));
	flow.unmatched = 1;
	assert_false(flow_is_idle(&flow));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode),	 cmocka_unit_test(percentile),
		cmocka_unit_test(depth), cmocka_unit_test(seeks),
		cmocka_unit_test(idle),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
