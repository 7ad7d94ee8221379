// SPDX-License-Identifier: GPL-2.0-or-later

/* Means, modes and shares, against numbers worked out by hand. */

#include "unit.h"

#include "bin_of.h"
#include "numbers/numbers.h"

static void count(struct rt_counters *c, unsigned int kind, int64_t value, uint64_t n)
{
	assert_int_equal(rt_histogram_count(&c->histogram[RAIDTRACE_DIRECTION_READ][kind], bin_of(kind, value), n), 0);
}

TEST(mode)
{
	struct rt_counters c = { 0 };
	struct rt_histogram *sizes =
		&c.histogram[RAIDTRACE_DIRECTION_READ][RAIDTRACE_HISTOGRAM_KIND_SIZE];
	uint64_t n = 42;
	struct range range;

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
	/* The smaller of two modes counts; beyond 256 sectors a bin is a range. */
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 4);
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_int_equal(range.low, 8);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_SIZE, 1000, 100);
	range = histogram_mode(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, &n);
	assert_true(range.low <= 1000 && range.high > 1000);
	assert_true(range.high - range.low > 1);
	rt_counters_free(&c);
}

TEST(percentile)
{
	struct rt_counters c = { 0 };
	struct rt_histogram *d2c =
		&c.histogram[RAIDTRACE_DIRECTION_READ][RAIDTRACE_HISTOGRAM_KIND_D2C];
	struct range range;

	assert_false(histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C, 0.5).known);
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

TEST(depth)
{
	struct rt_counters c = { .since_ns = 1000, .now_ns = 1100 };
	struct direction_stats stats;

	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.depth_known);
	/* A quarter of the time idle, half at 2, a quarter at 30. */
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, 25);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 2, 50);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 30, 25);
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_true(stats.depth_known);
	assert_true(stats.depth_mean == 8.5);
	assert_int_equal(stats.depth_max, 30);
	assert_false(stats.depth_open);
	count(&c, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 256, 1);
	c.flow[RAIDTRACE_DIRECTION_READ].depth_sum_ns = 850 + 1000;
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_true(stats.depth_open);
	assert_true(stats.depth_exact);
	assert_true(stats.depth_mean == 1850. / 101);
	c.unknown = RT_COUNTER_BIT(DEPTH_SUM_NS);
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.depth_exact);
	assert_true(stats.depth_mean == (850. + 256) / 101);
	rt_counters_free(&c);
}

/* Ten issued: the first has no one before it, six follow on, three seek. */
TEST(seeks)
{
	struct rt_counters c = { .since_ns = 0, .now_ns = 2000000000 };
	struct rt_flow *flow = &c.flow[RAIDTRACE_DIRECTION_READ];
	struct direction_stats stats;

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
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_int_equal(stats.requests, 10);
	assert_int_equal(stats.sequential, 6);
	assert_int_equal(stats.seeks, 3);
	assert_true(stats.seek_mean_sectors == 500);
	assert_true(stats.size_mean_bytes == 4096);
	assert_true(stats.rate_known && stats.bytes_per_s == 4 * 4096);
	assert_true(stats.iops == 4);
	assert_true(stats.d2c_mean_ns == 1000);
	/* A disk without requests has the rate of its bios, if these are counted. */
	flow->bytes_queued = 6 * 4096;
	c.unknown = RT_COUNTER_BIT(BYTES_COMPLETED);
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.rate_known);
	stats_of(&c, true, RAIDTRACE_DIRECTION_READ, &stats);
	assert_true(stats.rate_known && stats.bytes_per_s == 3 * 4096);
	c.unknown = RT_COUNTER_BIT(BYTES_QUEUED);
	stats_of(&c, true, RAIDTRACE_DIRECTION_READ, &stats);
	assert_false(stats.rate_known);
	rt_counters_free(&c);
	/* Without seeks their mean is 0. */
	flow->seek_forward_sectors = 0;
	flow->seek_backward_sectors = 0;
	stats_of(&c, false, RAIDTRACE_DIRECTION_READ, &stats);
	assert_int_equal(stats.seeks, 0);
	assert_true(stats.seek_mean_sectors == 0);
}

TEST(idle)
{
	struct rt_flow flow = { .in_flight_max = 9 };

	/* The highest depth is no event. */
	assert_true(flow_is_idle(&flow));
	flow.unmatched = 1;
	assert_false(flow_is_idle(&flow));
}

/* Bounds of bins are those of the module's bins: each value lies in what its bin spans, at all edges of all kinds. */

#define SIZE RAIDTRACE_HISTOGRAM_KIND_SIZE
#define SEEK RAIDTRACE_HISTOGRAM_KIND_SEEK
#define DEPTH RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME
#define D2C RAIDTRACE_HISTOGRAM_KIND_D2C
#define PLACE RAIDTRACE_HISTOGRAM_KIND_PLACE
#define DEPTH_D2C RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C
#define BLAME RAIDTRACE_HISTOGRAM_KIND_BLAME

static const enum raidtrace_histogram_kind kinds[] = { SIZE, SEEK, DEPTH, D2C };

#define for_each_kind(k) for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)

/* The bin above the highest distance is never used: its bounds are of no value. */
static unsigned int bins_with_bounds(enum raidtrace_histogram_kind kind)
{
	return raidtrace_hist_bins(kind) - (kind == SEEK);
}

TEST(bins_without_gap)
{
	for_each_kind(k) {
		assert_int_equal(bin_of(kinds[k], bin_low(kinds[k], 0)), 0);
		for (unsigned int bin = 0; bin + 1 < bins_with_bounds(kinds[k]); bin++) {
			int64_t high = bin_high(kinds[k], bin);

			assert_int_equal(high, bin_low(kinds[k], bin + 1));
			assert_int_equal(bin_of(kinds[k], high - 1), bin);
			assert_int_equal(bin_of(kinds[k], high), bin + 1);
		}
	}
}

TEST(log_linear_bins_are_narrow)
{
	for (unsigned int bin = RAIDTRACE_HIST_SUB_BINS; bin + 1 < RAIDTRACE_D2C_BINS; bin++) {
		int64_t low = bin_low(D2C, bin);

		assert_true((bin_high(D2C, bin) - low) * 16 <= low);
	}
}

TEST(last_bins_are_open)
{
	assert_int_equal(bin_high(SIZE, RAIDTRACE_SIZE_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(DEPTH, RAIDTRACE_DEPTH_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(D2C, RAIDTRACE_D2C_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(DEPTH_D2C, RAIDTRACE_D2C_COLUMNS - 1), INT64_MAX);
	assert_int_equal(bin_high(PLACE, 255), 256);
}

/* Bounds of bins that the documentation names. */
TEST(documented_bounds)
{
	static const struct {
		enum raidtrace_histogram_kind kind;
		unsigned int bin;
		int64_t low;
	} known[] = {
		{ SEEK, 64, 0 }, { SEEK, 65, 1 }, { SEEK, 63, -1 }, { SEEK, 62, -3 },
		{ SEEK, 127, INT64_C(1) << 62 }, { SEEK, 128, INT64_MAX },
		{ SEEK, 2, 1 - (INT64_C(1) << 62) }, { SEEK, 1, -INT64_MAX }, { SEEK, 0, INT64_MIN },
		{ SIZE, 257, 257 }, { SIZE, 258, 272 }, { SIZE, 257 + 48, 2048 },
		{ DEPTH, 256, 256 }, { D2C, 31, 31 }, { D2C, 33, 34 },
		{ D2C, RAIDTRACE_D2C_BINS - 1, INT64_C(31) << 34 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(bin_low(known[i].kind, known[i].bin), known[i].low);
	assert_int_equal(bin_high(SEEK, 64), 1);
	assert_int_equal(bin_high(SEEK, 127), INT64_MAX);
}

/* Rows of sums of d2c hold what their bounds say. */
TEST(rows_of_sums)
{
	static const struct {
		enum raidtrace_histogram_kind kind;
		unsigned int rows;
	} table[] = {
		{ RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C_NS, RAIDTRACE_DEPTH_ROWS },
		{ RAIDTRACE_HISTOGRAM_KIND_SIZE_D2C, RAIDTRACE_SIZE_ROWS },
		{ RAIDTRACE_HISTOGRAM_KIND_SEEK_D2C_NS, RAIDTRACE_SEEK_ROWS },
	};

	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(raidtrace_hist_bins(table[i].kind), table[i].rows);
		for (unsigned int row = 0; row < table[i].rows; row++) {
			int64_t values[] = { bin_low(table[i].kind, row), bin_high(table[i].kind, row) - 1 };

			for (unsigned int end = 0; end < 2; end++)
				assert_int_equal(i == 0 ? raidtrace_depth_row(raidtrace_depth_bin((uint32_t)values[end])) :
						 i == 1 ? raidtrace_size_row((uint64_t)values[end]) :
						 raidtrace_seek_row(raidtrace_seek_bin(values[end])), row);
		}
	}
}

/* Columns of d2c by depth hold what their bounds say. */
TEST(columns_of_two_dimensions)
{
	unsigned int columns = bin_columns(DEPTH_D2C);

	assert_int_equal(columns * RAIDTRACE_DEPTH_ROWS, raidtrace_hist_bins(DEPTH_D2C));
	for (unsigned int column = 0; column < columns; column++) {
		int64_t low = bin_low(DEPTH_D2C, columns + column);
		int64_t high = bin_high(DEPTH_D2C, columns + column);

		assert_int_equal(raidtrace_d2c_column(raidtrace_d2c_bin((uint64_t)low)), column);
		assert_int_equal(raidtrace_d2c_column(raidtrace_d2c_bin((uint64_t)high - 1)), column);
	}
	assert_int_equal(bin_columns(BLAME), RAIDTRACE_CLASSES);
	assert_int_equal(bin_low(BLAME, RAIDTRACE_CLASSES + 3), 3);
	assert_int_equal(bin_high(BLAME, RAIDTRACE_CLASSES + 3), 4);
	assert_int_equal(bin_columns(SIZE), 0);
}
