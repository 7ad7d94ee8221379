// SPDX-License-Identifier: GPL-2.0-or-later

/* Values of the bins of the module's histograms. */

#include "numbers/numbers.h"

#define NO_END INT64_MAX

static int64_t octave_low(unsigned int bin, unsigned int first_octave)
{
	unsigned int e = first_octave + bin / RAIDTRACE_HIST_SUB_BINS;
	uint64_t sub = bin % RAIDTRACE_HIST_SUB_BINS;

	return (RAIDTRACE_HIST_SUB_BINS + sub) << (e - RAIDTRACE_HIST_SUB_BITS);
}

unsigned int bin_columns(enum raidtrace_histogram_kind kind)
{
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C:
		return RAIDTRACE_D2C_COLUMNS;
	case RAIDTRACE_HISTOGRAM_KIND_BLAME:
	case RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE:
		return RAIDTRACE_CLASSES;
	default:
		return 0;
	}
}

/* The n-th bin from the middle has |distance| 2^(n-1) .. 2^n - 1. */
static int64_t seek_low(unsigned int bin)
{
	if (bin == RAIDTRACE_SEEK_BINS - 1)
		return NO_END;
	if (bin > RAIDTRACE_SEEK_ZERO)
		return (int64_t)1 << (bin - RAIDTRACE_SEEK_ZERO - 1);
	if (bin <= 1)
		return bin ? -NO_END : -NO_END - 1;
	return 1 - ((int64_t)1 << (RAIDTRACE_SEEK_ZERO - bin));
}

static int64_t size_low(unsigned int bin)
{
	if (bin <= RAIDTRACE_SIZE_LINEAR + 1)
		return bin;
	return octave_low(bin - RAIDTRACE_SIZE_LINEAR - 1, RAIDTRACE_SIZE_FIRST_OCTAVE);
}

static int64_t latency_low(unsigned int bin)
{
	if (bin < RAIDTRACE_HIST_SUB_BINS)
		return bin;
	return octave_low(bin - RAIDTRACE_HIST_SUB_BINS, RAIDTRACE_HIST_SUB_BITS);
}

static int64_t column_low(enum raidtrace_histogram_kind kind, unsigned int column)
{
	if (kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C && column)
		return (int64_t)1 << (column - 1);
	return column;
}

/* A row is an octave of depths or of sectors. */
static int64_t row_low(unsigned int row)
{
	return row ? (int64_t)1 << (row - 1) : 0;
}

/* Where rows of d2c by distance begin, and behind the last one: 0, forward, backward. */
static const struct {
	int64_t low;
	int64_t high;
} seek_rows[RAIDTRACE_SEEK_ROWS] = {
	{ 0, 1 },
	{ 1, 128 }, { 128, 2048 }, { 2048, 131072 }, { 131072, 2097152 }, { 2097152, NO_END },
	{ -127, 0 }, { -2047, -127 }, { -131071, -2047 }, { -2097151, -131071 }, { -NO_END - 1, -2097151 },
};

int64_t bin_low(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	unsigned int columns = bin_columns(kind);

	if (columns)
		return column_low(kind, bin % columns);
	switch (raidtrace_hist_bins(kind)) {
	case RAIDTRACE_SIZE_BINS:
		return size_low(bin);
	case RAIDTRACE_SEEK_BINS:
		return seek_low(bin);
	case RAIDTRACE_D2C_BINS:
		return latency_low(bin);
	case RAIDTRACE_DEPTH_ROWS:
	case RAIDTRACE_SIZE_ROWS:
		return row_low(bin);
	case RAIDTRACE_SEEK_ROWS:
		return seek_rows[bin].low;
	default:
		return bin;
	}
}

int64_t bin_high(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	unsigned int columns = bin_columns(kind);

	if (raidtrace_hist_bins(kind) == RAIDTRACE_SEEK_ROWS)
		return seek_rows[bin].high;
	if (columns)
		bin = bin % columns + 1;
	else
		bin++;
	if (kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C && bin == columns)
		return NO_END;
	if (!columns && bin >= raidtrace_hist_bins(kind))
		return kind == RAIDTRACE_HISTOGRAM_KIND_PLACE ? bin : NO_END;
	return columns ? column_low(kind, bin) : bin_low(kind, bin);
}
