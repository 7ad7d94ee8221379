// SPDX-License-Identifier: GPL-2.0-only
/* Bins of every histogram: which one a value falls in, and what a bin spans. */
#include "histogram.h"

#define NO_END ((s64)(~0ULL >> 1))

/* Position of the highest set bit of a value that is not 0. */
static unsigned int log2_floor(u64 value)
{
	return 63 - __builtin_clzll(value);
}

/*
 * Log-linear bins: octave e of values 2^e .. 2^(e+1)-1 is cut in 16 equal
 * sub-bins. Octave e >= 4 is number e - 4; values below 16 need no octave.
 */
static unsigned int octave_bin(u64 value, unsigned int first_octave)
{
	unsigned int e = log2_floor(value);
	unsigned int sub = (value >> (e - RAIDTRACE_HIST_SUB_BITS)) & (RAIDTRACE_HIST_SUB_BINS - 1);

	return (e - first_octave) * RAIDTRACE_HIST_SUB_BINS + sub;
}

static s64 octave_low(unsigned int bin, unsigned int first_octave)
{
	unsigned int e = first_octave + bin / RAIDTRACE_HIST_SUB_BINS;
	u64 sub = bin % RAIDTRACE_HIST_SUB_BINS;

	return (RAIDTRACE_HIST_SUB_BINS + sub) << (e - RAIDTRACE_HIST_SUB_BITS);
}

/* First octave beyond the linear sizes: 256 = 2^8, itself still linear. */
#define SIZE_FIRST_OCTAVE 8

/**
 * raidtrace_size_bin() - bin of a request's size
 * @sectors: size in sectors
 *
 * Return: index of the bin.
 */
unsigned int raidtrace_size_bin(u64 sectors)
{
	unsigned int bin;

	if (sectors <= RAIDTRACE_SIZE_LINEAR)
		return sectors;
	bin = RAIDTRACE_SIZE_LINEAR + 1 + octave_bin(sectors, SIZE_FIRST_OCTAVE);
	return bin < RAIDTRACE_SIZE_BINS ? bin : RAIDTRACE_SIZE_BINS - 1;
}

/**
 * raidtrace_seek_bin() - bin of a distance
 * @distance: sectors from the previous request's end to this one's start
 *
 * Return: index of the bin.
 */
unsigned int raidtrace_seek_bin(s64 distance)
{
	if (!distance)
		return RAIDTRACE_SEEK_ZERO;
	if (distance > 0)
		return RAIDTRACE_SEEK_ZERO + 1 + log2_floor(distance);
	return RAIDTRACE_SEEK_ZERO - 1 - log2_floor(-(u64)distance);
}

/**
 * raidtrace_depth_bin() - bin of a depth
 * @depth: requests in flight
 *
 * Return: index of the bin.
 */
unsigned int raidtrace_depth_bin(u64 depth)
{
	return depth < RAIDTRACE_DEPTH_LINEAR ? depth : RAIDTRACE_DEPTH_LINEAR;
}

/**
 * raidtrace_d2c_bin() - bin of a latency
 * @ns: nanoseconds from issue to completion
 *
 * Return: index of the bin.
 */
unsigned int raidtrace_d2c_bin(u64 ns)
{
	unsigned int bin;

	if (ns < RAIDTRACE_HIST_SUB_BINS)
		return ns;
	bin = RAIDTRACE_HIST_SUB_BINS + octave_bin(ns, RAIDTRACE_HIST_SUB_BITS);
	return bin < RAIDTRACE_D2C_BINS ? bin : RAIDTRACE_D2C_BINS - 1;
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

/* Bounds of |distance| are 2^(n-1) .. 2^n - 1 for the bin n away from the middle. */
static s64 seek_low(unsigned int bin)
{
	if (bin == RAIDTRACE_SEEK_ZERO)
		return 0;
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
		return octave_low(bin - RAIDTRACE_SIZE_LINEAR - 1, SIZE_FIRST_OCTAVE);
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
