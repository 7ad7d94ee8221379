// SPDX-License-Identifier: GPL-2.0-only
/* Each value has its bin, at all bounds. tests/python/quantity/test_statistics.py tests the bounds. */
#include <kunit/test.h>
#include <linux/limits.h>

#include "../histogram.h"

struct bin_case {
	const char *name;
	enum raidtrace_histogram_kind kind;
	s64 value;
	unsigned int bin;
};

#define SIZE RAIDTRACE_HISTOGRAM_KIND_SIZE
#define SEEK RAIDTRACE_HISTOGRAM_KIND_SEEK
#define DEPTH RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME
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
	{ "no request", DEPTH, 0, 0 },
	{ "many requests", DEPTH, 300, 256 },
	{ "longest insert", D2C, S64_MAX, RAIDTRACE_D2C_BINS - 1 },
	{ "first that is too long", D2C, 1LL << 39, RAIDTRACE_D2C_BINS - 1 },
	{ "longest", D2C, S64_MAX, RAIDTRACE_D2C_BINS - 1 },
};

static void bin_desc(const struct bin_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bin, bin_cases, bin_desc);

static unsigned int bin_of(const struct bin_case *c)
{
	switch (c->kind) {
	case SIZE:
		return raidtrace_size_bin(c->value);
	case SEEK:
		return raidtrace_seek_bin(c->value);
	case DEPTH:
		return raidtrace_depth_bin(c->value);
	default:
		return raidtrace_d2c_bin(c->value);
	}
}

static void value_falls_in_its_bin(struct kunit *test)
{
	const struct bin_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, bin_of(c), c->bin);
}

/* Each bin begins where the one below ends, and none is wider than 1/16 of its values. */
static void log_linear_bins_are_narrow(struct kunit *test)
{
	unsigned int bin = RAIDTRACE_HIST_SUB_BINS;
	u64 low = RAIDTRACE_HIST_SUB_BINS;

	for (; bin + 1 < RAIDTRACE_D2C_BINS; bin++) {
		u64 width = 1ULL << (raidtrace_log2(low) - RAIDTRACE_HIST_SUB_BITS);

		KUNIT_ASSERT_EQ(test, raidtrace_d2c_bin(low), bin);
		KUNIT_ASSERT_EQ(test, raidtrace_d2c_bin(low + width - 1), bin);
		low += width;
	}
}

static unsigned int depth_row_of(u32 depth)
{
	return raidtrace_depth_row(raidtrace_depth_bin(depth));
}

static unsigned int d2c_column_of(u64 ns)
{
	return raidtrace_d2c_column(raidtrace_d2c_bin(ns));
}

/* Octaves of depth and of time. The last one has all larger values. */
static void two_dimensions_have_rows_and_columns(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, depth_row_of(0), 0U);
	KUNIT_EXPECT_EQ(test, depth_row_of(1), 1U);
	KUNIT_EXPECT_EQ(test, depth_row_of(255), 8U);
	KUNIT_EXPECT_EQ(test, depth_row_of(256), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, depth_row_of(511), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, depth_row_of(512), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, depth_row_of(100000), RAIDTRACE_DEPTH_ROWS - 1U);
	KUNIT_EXPECT_EQ(test, d2c_column_of(0), 0U);
	KUNIT_EXPECT_EQ(test, d2c_column_of(1), 1U);
	KUNIT_EXPECT_EQ(test, d2c_column_of(3), 2U);
	KUNIT_EXPECT_EQ(test, d2c_column_of((1ULL << 38) - 1), RAIDTRACE_D2C_COLUMNS - 2U);
	KUNIT_EXPECT_EQ(test, d2c_column_of((1ULL << 39) - 1), RAIDTRACE_D2C_COLUMNS - 1U);
	KUNIT_EXPECT_EQ(test, d2c_column_of(1ULL << 39), RAIDTRACE_D2C_COLUMNS - 1U);
}

static struct kunit_case histogram_cases[] = {
	KUNIT_CASE_PARAM(value_falls_in_its_bin, bin_gen_params),
	KUNIT_CASE(log_linear_bins_are_narrow),
	KUNIT_CASE(two_dimensions_have_rows_and_columns),
	{}
};

static struct kunit_suite histogram_suite = {
	.name = "raidtrace_histogram",
	.test_cases = histogram_cases,
};

kunit_test_suite(histogram_suite);
