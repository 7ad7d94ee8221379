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

unsigned int raidtrace_hist_bins(enum raidtrace_histogram_kind kind)
{
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
		return RAIDTRACE_SIZE_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
		return RAIDTRACE_SEEK_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
		return RAIDTRACE_DEPTH_BINS;
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
		return RAIDTRACE_D2C_BINS;
	default:
		return 0;
	}
}

unsigned int raidtrace_hist_bin(enum raidtrace_histogram_kind kind, s64 value)
{
	u64 positive = value > 0 ? value : 0;

	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
		return raidtrace_size_bin(positive);
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
		return raidtrace_seek_bin(value);
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
		return raidtrace_depth_bin(positive);
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
		return raidtrace_d2c_bin(positive);
	default:
		return 0;
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

s64 raidtrace_hist_low(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
		if (bin <= RAIDTRACE_SIZE_LINEAR + 1)
			return bin;
		return octave_low(bin - RAIDTRACE_SIZE_LINEAR - 1, RAIDTRACE_SIZE_FIRST_OCTAVE);
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
		return seek_low(bin);
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
		if (bin < RAIDTRACE_HIST_SUB_BINS)
			return bin;
		return octave_low(bin - RAIDTRACE_HIST_SUB_BINS, RAIDTRACE_HIST_SUB_BITS);
	default:
		return bin;
	}
}

s64 raidtrace_hist_high(enum raidtrace_histogram_kind kind, unsigned int bin)
{
	if (bin + 1 >= raidtrace_hist_bins(kind))
		return NO_END;
	return raidtrace_hist_low(kind, bin + 1);
}
