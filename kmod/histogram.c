// SPDX-License-Identifier: GPL-2.0-only
/* Bins of every histogram: which one a value falls in, and what a bin spans. */
#include "histogram.h"

#define NO_END ((s64)(~0ULL >> 1))

static s64 octave_low(unsigned int bin, unsigned int first_octave)
{
	unsigned int e = first_octave + bin / RAIDTRACE_HIST_SUB_BINS;
	u64 sub = bin % RAIDTRACE_HIST_SUB_BINS;

	return (RAIDTRACE_HIST_SUB_BINS + sub) << (e - RAIDTRACE_HIST_SUB_BITS);
}

unsigned int raidtrace_hist_columns(enum raidtrace_histogram_kind kind)
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

u32 raidtrace_hist_row_low(enum raidtrace_histogram_kind kind, unsigned int row)
{
	if (kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C && row)
		return 1U << (row - 1);
	return row;
}

unsigned int raidtrace_hist_bins(enum raidtrace_histogram_kind kind)
{
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
	case RAIDTRACE_HISTOGRAM_KIND_RA_SYNC:
	case RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC:
		return RAIDTRACE_SIZE_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
	case RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED:
		return RAIDTRACE_SEEK_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
	case RAIDTRACE_HISTOGRAM_KIND_UNPLUG:
		return RAIDTRACE_DEPTH_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
	case RAIDTRACE_HISTOGRAM_KIND_I2D:
	case RAIDTRACE_HISTOGRAM_KIND_Q2C:
		return RAIDTRACE_D2C_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C:
		return RAIDTRACE_DEPTH_D2C_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_PLACE:
		return RAIDTRACE_PLACE_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_BLAME:
	case RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE:
		return RAIDTRACE_BLAME_BINS;
	default:
		return 0;
	}
}

/* The last bin takes what is beyond the last. */
static unsigned int at_most(u64 bin, unsigned int bins)
{
	return bin < bins ? bin : bins - 1;
}

unsigned int raidtrace_hist_bin(enum raidtrace_histogram_kind kind, s64 value)
{
	u64 positive = value > 0 ? value : 0;

	switch (raidtrace_hist_bins(kind)) {
	case RAIDTRACE_SIZE_BINS:
		return raidtrace_size_bin(positive);
	case RAIDTRACE_SEEK_BINS:
		return raidtrace_seek_bin(value);
	case RAIDTRACE_DEPTH_BINS:
		return raidtrace_depth_bin(positive);
	case RAIDTRACE_D2C_BINS:
		return raidtrace_d2c_bin(positive);
	case 0:
		return 0;
	default:
		return at_most(positive, raidtrace_hist_bins(kind));
	}
}

/* Bounds of |distance| are 2^(n-1) .. 2^n - 1 for the bin n away from the middle, whose low one is 0. */
static s64 seek_low(unsigned int bin)
{
	if (bin == RAIDTRACE_SEEK_BINS - 1)
		return NO_END;
	if (bin > RAIDTRACE_SEEK_ZERO)
		return (s64)1 << (bin - RAIDTRACE_SEEK_ZERO - 1);
	if (bin <= 1)
		return bin ? -NO_END : -NO_END - 1;
	return 1 - ((s64)1 << (RAIDTRACE_SEEK_ZERO - bin));
}

static s64 size_low(unsigned int bin)
{
	if (bin <= RAIDTRACE_SIZE_LINEAR + 1)
		return bin;
	return octave_low(bin - RAIDTRACE_SIZE_LINEAR - 1, RAIDTRACE_SIZE_FIRST_OCTAVE);
}

static s64 latency_low(unsigned int bin)
{
	if (bin < RAIDTRACE_HIST_SUB_BINS)
		return bin;
	return octave_low(bin - RAIDTRACE_HIST_SUB_BINS, RAIDTRACE_HIST_SUB_BITS);
}

static s64 column_low(enum raidtrace_histogram_kind kind, unsigned int column)
{
	if (kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C && column)
		return (s64)1 << (column - 1);
	return column;
}

s64 raidtrace_hist_low(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	unsigned int columns = raidtrace_hist_columns(kind);

	if (columns)
		return column_low(kind, bin % columns);
	switch (raidtrace_hist_bins(kind)) {
	case RAIDTRACE_SIZE_BINS:
		return size_low(bin);
	case RAIDTRACE_SEEK_BINS:
		return seek_low(bin);
	case RAIDTRACE_D2C_BINS:
		return latency_low(bin);
	default:
		return bin;
	}
}

s64 raidtrace_hist_high(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	unsigned int columns = raidtrace_hist_columns(kind);

	if (columns)
		bin = bin % columns + 1;
	else
		bin++;
	if (kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C && bin == columns)
		return NO_END;
	if (!columns && bin >= raidtrace_hist_bins(kind))
		return kind == RAIDTRACE_HISTOGRAM_KIND_PLACE ? bin : NO_END;
	return columns ? column_low(kind, bin) : raidtrace_hist_low(kind, bin);
}
