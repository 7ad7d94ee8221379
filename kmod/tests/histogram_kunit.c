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
	{ "negative depth", DEPTH, -1, 0 },
	{ "negative size", SIZE, -1, 0 },
	{ "no time", D2C, 0, 0 },
	{ "time that ran back", D2C, -5, 0 },
	{ "last bin but one", D2C, (31ULL << 34) - 1, RAIDTRACE_D2C_BINS - 2 },
	{ "first of the last bin", D2C, 31ULL << 34, RAIDTRACE_D2C_BINS - 1 },
	{ "just beyond the last octave", D2C, 1ULL << 39, RAIDTRACE_D2C_BINS - 1 },
	{ "beyond the last octave of sizes", SIZE, 1 << 23, RAIDTRACE_SIZE_BINS - 1 },
	{ "last nanosecond of its own", D2C, 31, 31 },
	{ "first pair", D2C, 32, 32 },
	{ "first pair's other", D2C, 33, 32 },
	{ "1 ms", D2C, 1000000, 16 + (19 - 4) * 16 + 14 },
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
	if (c->value >= 0 || c->kind == SEEK)
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

static void unknown_kind_has_no_bins(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bins(RAIDTRACE_HISTOGRAM_KIND_MAX + 1), 0U);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bin(RAIDTRACE_HISTOGRAM_KIND_MAX + 1, 5), 0U);
}

/* What is printed of a bin: its bounds, to the value. */
static void bounds_are_what_is_documented(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 64), 0LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(SEEK, 64), 1LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 65), 1LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 63), -1LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 62), -3LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 127), 1LL << 62);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(SEEK, 127), S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 2), 1 - (1LL << 62));
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 1), -S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(SEEK, 0), S64_MIN);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(SIZE, RAIDTRACE_SIZE_BINS - 1), S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(DEPTH, 256), S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(DEPTH, 256), 256LL);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_high(D2C, RAIDTRACE_D2C_BINS - 1), S64_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_low(D2C, RAIDTRACE_D2C_BINS - 1), 31LL << 34);
}

static struct kunit_case histogram_cases[] = {
	KUNIT_CASE_PARAM(value_falls_in_its_bin, bin_gen_params),
	KUNIT_CASE(bins_follow_without_gap),
	KUNIT_CASE(low_bound_falls_in_its_bin),
	KUNIT_CASE(log_linear_bins_are_narrow),
	KUNIT_CASE(unknown_kind_has_no_bins),
	KUNIT_CASE(bounds_are_what_is_documented),
	{}
};

static struct kunit_suite histogram_suite = {
	.name = "raidtrace_histogram",
	.test_cases = histogram_cases,
};

kunit_test_suite(histogram_suite);
