// SPDX-License-Identifier: GPL-2.0-or-later

/* Bounds of bins are those of the module's bins: each value lies in what its bin spans, at all edges of all kinds. */

#include "unit.h"

#include "bin_of.h"
#include "numbers/numbers.h"

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
