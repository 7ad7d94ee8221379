// SPDX-License-Identifier: GPL-2.0-or-later

/* Bounds of bins are those of the module's bins: each value lies in what its bin spans, at all edges of all kinds. */

#include "unit.h"

#include <stdlib.h>

#include "bin_of.h"

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

static void follow_without_gap(void **state)
{
	(void)state;
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

static void log_linear_are_narrow(void **state)
{
	(void)state;
	for (unsigned int bin = RAIDTRACE_HIST_SUB_BINS; bin + 1 < RAIDTRACE_D2C_BINS; bin++) {
		int64_t low = bin_low(D2C, bin);

		assert_true((bin_high(D2C, bin) - low) * 16 <= low);
	}
}

static void last_have_no_end(void **state)
{
	(void)state;
	assert_int_equal(bin_high(SIZE, RAIDTRACE_SIZE_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(DEPTH, RAIDTRACE_DEPTH_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(D2C, RAIDTRACE_D2C_BINS - 1), INT64_MAX);
	assert_int_equal(bin_high(DEPTH_D2C, RAIDTRACE_D2C_COLUMNS - 1), INT64_MAX);
	assert_int_equal(bin_high(PLACE, 255), 256);
}

/* What is printed of a bin: its bounds, to the value. */
static void are_what_is_documented(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(bin_low(known[i].kind, known[i].bin), known[i].low);
	assert_int_equal(bin_high(SEEK, 64), 1);
	assert_int_equal(bin_high(SEEK, 127), INT64_MAX);
}

/* Columns of d2c by depth hold what their bounds say. */
static void two_dimensions_have_columns(void **state)
{
	unsigned int columns = bin_columns(DEPTH_D2C);

	(void)state;
	assert_int_equal(columns * RAIDTRACE_DEPTH_ROWS, raidtrace_hist_bins(DEPTH_D2C));
	for (unsigned int column = 0; column < columns; column++) {
		int64_t low = bin_low(DEPTH_D2C, columns + column);
		int64_t high = bin_high(DEPTH_D2C, columns + column);

		assert_int_equal(raidtrace_d2c_column((uint64_t)low), column);
		assert_int_equal(raidtrace_d2c_column((uint64_t)high - 1), column);
	}
	assert_int_equal(bin_columns(BLAME), RAIDTRACE_CLASSES);
	assert_int_equal(bin_low(BLAME, RAIDTRACE_CLASSES + 3), 3);
	assert_int_equal(bin_high(BLAME, RAIDTRACE_CLASSES + 3), 4);
	assert_int_equal(bin_columns(SIZE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follow_without_gap),
		cmocka_unit_test(log_linear_are_narrow),
		cmocka_unit_test(last_have_no_end),
		cmocka_unit_test(are_what_is_documented),
		cmocka_unit_test(two_dimensions_have_columns),
	};

	return cmocka_run_group_tests_name("bins", tests, NULL, NULL);
}
