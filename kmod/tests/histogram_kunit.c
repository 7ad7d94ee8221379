// SPDX-License-Identifier: GPL-2.0-only
/* Every value falls in the bin whose bounds hold it, at all edges of all kinds. */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../histogram.c"

struct bin_case {
	const char *name;
	enum raidtrace_histogram_kind kind;
	s64 value;
	unsigned int bin;
};

#define SIZE RAIDTRACE_HISTOGRAM_KIND_SIZE
#define SEEK RAIDTRACE_HISTOGRAM_KIND_SEEK
#define DEPTH RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME
#define UNPLUG RAIDTRACE_HISTOGRAM_KIND_UNPLUG
#define I2D RAIDTRACE_HISTOGRAM_KIND_I2D
#define PLACE RAIDTRACE_HISTOGRAM_KIND_PLACE
#define DEPTH_D2C RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C
#define BLAME RAIDTRACE_HISTOGRAM_KIND_BLAME
#define D2C RAIDTRACE_HISTOGRAM_KIND_D2C

static const struct bin_case bin_cases[] = {
	{ "no sectors", SIZE, 0, 0 },
	{ "one sector", SIZE, 1, 1 },
	{ "largest 3ware request", SIZE, 256, 256 },
	{ "first beyond it", SIZE, 257, 257 },
	{ "last of the first sub-bin", SIZE, 271, 257 },
	{ "second sub-bin", SIZE, 272, 258 },
	{ "1 MiB less a sector", SIZE, 2047, 257 + 47 },
	{ "1 MiB", SIZE, 2048, 257 + 48 },
	{ "4 GiB less a sector", SIZE, (1 << 23) - 1, RAIDTRACE_SIZE_BINS - 1 },
	{ "4 GiB", SIZE, 1 << 23, RAIDTRACE_SIZE_BINS - 1 },
	{ "absurd size", SIZE, S64_MAX, RAIDTRACE_SIZE_BINS - 1 },
	{ "sequential", SEEK, 0, 64 },
	{ "one sector on", SEEK, 1, 65 },
	{ "one sector back", SEEK, -1, 63 },
	{ "three on", SEEK, 3, 66 },
	{ "four on", SEEK, 4, 67 },
	{ "three back", SEEK, -3, 62 },
	{ "four back", SEEK, -4, 61 },
	{ "farthest on", SEEK, S64_MAX, 127 },
	{ "farthest back but one", SEEK, -S64_MAX, 1 },
	{ "farthest back", SEEK, S64_MIN, 0 },
	{ "idle", DEPTH, 0, 0 },
	{ "last depth of its own", DEPTH, 255, 255 },
	{ "first depth that shares", DEPTH, 256, 256 },
	{ "absurd depth", DEPTH, 1 << 20, 256 },
	{ "no time", D2C, 0, 0 },
	{ "last nanosecond of its own", D2C, 31, 31 },
	{ "first pair", D2C, 32, 32 },
	{ "first pair's other", D2C, 33, 32 },
	{ "1 ms", D2C, 1000000, 16 + (19 - 4) * 16 + 14 },
	{ "no request held", UNPLUG, 0, 0 },
	{ "many requests held", UNPLUG, 300, 256 },
	{ "longest insert", I2D, S64_MAX, RAIDTRACE_D2C_BINS - 1 },
	{ "last part of the disk", PLACE, 255, 255 },
	{ "first that is too long", D2C, 1LL << 39, RAIDTRACE_D2C_BINS - 1 },
	{ "longest", D2C, S64_MAX, RAIDTRACE_D2C_BINS - 1 },
};

static void bin_desc(const struct bin_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bin, bin_cases, bin_desc);

static void value_falls_in_its_bin(struct kunit *test)
{
	const struct bin_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, raidtrace_hist_bin(c->kind, c->value), c->bin);
	KUNIT_EXPECT_LE(test, raidtrace_hist_low(c->kind, c->bin), c->value);
	if (c->value != S64_MAX)
		KUNIT_EXPECT_GT(test, raidtrace_hist_high(c->kind, c->bin), c->value);
}

static const enum raidtrace_histogram_kind kinds[] = { SIZE, SEEK, DEPTH, D2C };

/* The bin above the highest distance is never used: its bounds are of no value. */
static unsigned int bins_with_bounds(enum raidtrace_histogram_kind kind)
{
	return raidtrace_hist_bins(kind) - (kind == SEEK);
}

static void bins_follow_without_gap(struct kunit *test)
{
	unsigned int k, bin;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (bin = 0; bin + 1 < bins_with_bounds(kinds[k]); bin++) {
			s64 high = raidtrace_hist_high(kinds[k], bin);

			KUNIT_ASSERT_EQ(test, high, raidtrace_hist_low(kinds[k], bin + 1));
			KUNIT_ASSERT_EQ(test, raidtrace_hist_bin(kinds[k], high - 1), bin);
			KUNIT_ASSERT_EQ(test, raidtrace_hist_bin(kinds[k], high), bin + 1);
		}
	}
}

static void low_bound_falls_in_its_bin(struct kunit *test)
{
	unsigned int k, bin;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (bin = 0; bin < bins_with_bounds(kinds[k]); bin++) {
			s64 low = raidtrace_hist_low(kinds[k], bin);

			KUNIT_ASSERT_EQ(test, raidtrace_hist_bin(kinds[k], low), bin);
		}
	}
}

static void log_linear_bins_are_narrow(struct kunit *test)
{
	unsigned int bin;

	for (bin = RAIDTRACE_HIST_SUB_BINS; bin + 1 < RAIDTRACE_D2C_BINS; bin++) {
		s64 low = raidtrace_hist_low(D2C, bin);

		KUNIT_ASSERT_LE(test, (raidtrace_hist_high(D2C, bin) - low) * 16, low);
	}
}

/* Column and row of d2c by depth hold what their bounds say. */
static void two_dimensions_have_rows_and_columns(struct kunit *test)
{
	unsigned int columns = raidtrace_hist_columns(DEPTH_D2C);
	unsigned int row, column;

	KUNIT_ASSERT_EQ(test, columns * RAIDTRACE_DEPTH_ROWS, raidtrace_hist_bins(DEPTH_D2C));
	for (column = 0; column < columns; column++) {
		s64 low = raidtrace_hist_low(DEPTH_D2C, columns + column);
		s64 high = raidtrace_hist_high(DEPTH_D2C, columns + column);

		KUNIT_ASSERT_EQ(test, raidtrace_d2c_column(low), column);
		KUNIT_ASSERT_EQ(test, raidtrace_d2c_column(high - 1), column);
	}
	for (row = 0; row < RAIDTRACE_DEPTH_ROWS; row++)
		KUNIT_ASSERT_EQ(test, raidtrace_depth_row(raidtrace_hist_row_low(DEPTH_D2C, row)),
				row);
	KUNIT_EXPECT_EQ(test, raidtrace_depth_row(100000), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(DEPTH_D2C, columns - 1), S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_columns(BLAME), (unsigned int)RAIDTRACE_CLASSES);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(BLAME, RAIDTRACE_CLASSES + 3), 3LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_row_low(BLAME, 1), 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bin(BLAME, 1000), RAIDTRACE_BLAME_BINS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_columns(SIZE), 0U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(PLACE, 255), 256LL);
}

/* The first value that would have a bin of its own behind the last, and has not. */
static void last_bin_takes_what_is_beyond_it(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, raidtrace_d2c_column((1ULL << 39) - 1), RAIDTRACE_D2C_COLUMNS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_d2c_column(1ULL << 39), RAIDTRACE_D2C_COLUMNS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_depth_row(511), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_depth_row(512), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bin(PLACE, RAIDTRACE_PLACE_BINS),
			RAIDTRACE_PLACE_BINS - 1U);
}

static void unknown_kind_has_no_bins(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bins(RAIDTRACE_HISTOGRAM_KIND_MAX + 1), 0U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bin(RAIDTRACE_HISTOGRAM_KIND_MAX + 1, 7), 0U);
}

static struct kunit_case histogram_cases[] = {
	KUNIT_CASE_PARAM(value_falls_in_its_bin, bin_gen_params),
	KUNIT_CASE(bins_follow_without_gap),
	KUNIT_CASE(low_bound_falls_in_its_bin),
	KUNIT_CASE(log_linear_bins_are_narrow),
	KUNIT_CASE(two_dimensions_have_rows_and_columns),
	KUNIT_CASE(last_bin_takes_what_is_beyond_it),
	KUNIT_CASE(unknown_kind_has_no_bins),
	{}
};

static struct kunit_suite histogram_suite = {
	.name = "raidtrace_histogram",
	.test_cases = histogram_cases,
};

kunit_test_suite(histogram_suite);
