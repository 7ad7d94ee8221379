/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bin of a value in each histogram. tools/python/raidtrace/quantity/bins.py has the bounds of
 * bins. Plain C, for the module, raidctl and the tests.
 */
#ifndef RAIDTRACE_HISTOGRAM_H
#define RAIDTRACE_HISTOGRAM_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <uapi/linux/raidtrace.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/raidtrace.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
#endif

/* Sub-bins per octave of a log-linear histogram: no bin is wider than 1/16 of its low bound. */
#define RAIDTRACE_HIST_SUB_BITS		4
#define RAIDTRACE_HIST_SUB_BINS		16

/* Sizes up to this many sectors, the largest 3ware request, have a bin each. */
#define RAIDTRACE_SIZE_LINEAR		256
/* A request is shorter than 4 GiB: 2^23 sectors. */
#define RAIDTRACE_SIZE_OCTAVES		15
#define RAIDTRACE_SIZE_BINS \
	(RAIDTRACE_SIZE_LINEAR + 1 + RAIDTRACE_SIZE_OCTAVES * RAIDTRACE_HIST_SUB_BINS)

/* Bin of distance 0; a distance d > 0 is 1 + log2(d) bins above it, d < 0 below. */
#define RAIDTRACE_SEEK_ZERO		64
#define RAIDTRACE_SEEK_BINS		129
/* In place of a bin, and of a row: there is no previous request, or no position. */
#define RAIDTRACE_SEEK_NONE		RAIDTRACE_SEEK_BINS

/* Depths below this have a bin each, the last bin holds the rest. */
#define RAIDTRACE_DEPTH_LINEAR		256
#define RAIDTRACE_DEPTH_BINS		(RAIDTRACE_DEPTH_LINEAR + 1)

/* The last bin holds all from 2^39 ns (550 s) less one sub-bin on. */
#define RAIDTRACE_D2C_OCTAVES		35
#define RAIDTRACE_D2C_BINS		(RAIDTRACE_HIST_SUB_BINS * (RAIDTRACE_D2C_OCTAVES + 1))

/* Parts of the disk that bytes are counted in. */
#define RAIDTRACE_PLACE_BINS		256

/*
 * Rows of d2c by depth: depth 0, then an octave of depths each, the last holds
 * all from 256 on. Columns: nanoseconds, an octave each, the last is open.
 */
#define RAIDTRACE_DEPTH_ROWS		10
#define RAIDTRACE_D2C_COLUMNS		40
#define RAIDTRACE_DEPTH_D2C_NS_BINS	RAIDTRACE_DEPTH_ROWS
#define RAIDTRACE_DEPTH_D2C_BINS	(RAIDTRACE_DEPTH_ROWS * RAIDTRACE_D2C_COLUMNS)

/*
 * Rows of d2c by size: less than a sector, then an octave of sectors each, the last holds all from
 * 8 MiB on.
 */
#define RAIDTRACE_SIZE_ROWS		16
#define RAIDTRACE_SIZE_D2C_BINS		RAIDTRACE_SIZE_ROWS

/*
 * Rows of d2c by distance from the previous end: none, then forward less than 64 KiB, 1 MiB, 64 MiB,
 * 1 GiB and beyond, then the same backward.
 */
#define RAIDTRACE_SEEK_FAR		5
#define RAIDTRACE_SEEK_ROWS		(1 + 2 * RAIDTRACE_SEEK_FAR)
#define RAIDTRACE_SEEK_D2C_BINS		RAIDTRACE_SEEK_ROWS
#define RAIDTRACE_SEEK_ROW_NONE		RAIDTRACE_SEEK_ROWS

/* Rows: class the head came from; columns: class it went to. */
#define RAIDTRACE_CLASSES		(RAIDTRACE_CLASS_MAX + 1)
#define RAIDTRACE_BLAME_BINS		(RAIDTRACE_CLASSES * RAIDTRACE_CLASSES)

/* First octave beyond the linear sizes: 256 = 2^8, itself still linear. */
#define RAIDTRACE_SIZE_FIRST_OCTAVE	8

/* Logarithm of a value that is not 0, rounded down. */
static inline unsigned int raidtrace_log2(u64 value)
{
	return __builtin_clzll(value) ^ 63;
}

/* Log-linear bins: octave e, from 2^e to 2^(e+1)-1, has 16 equal sub-bins. */
static inline unsigned int raidtrace_octave_bin(u64 value, unsigned int first_octave)
{
	unsigned int e = raidtrace_log2(value);
	unsigned int top = value >> (e - RAIDTRACE_HIST_SUB_BITS);

	/* The top five bits are 16 more than the sub-bin. */
	return (e - first_octave - 1) * RAIDTRACE_HIST_SUB_BINS + top;
}

/* Bin of a size in sectors. */
static inline unsigned int raidtrace_size_bin(u64 sectors)
{
	unsigned int bin;

	if (sectors <= RAIDTRACE_SIZE_LINEAR)
		return sectors;
	bin = RAIDTRACE_SIZE_LINEAR + 1 +
	      raidtrace_octave_bin(sectors, RAIDTRACE_SIZE_FIRST_OCTAVE);
	return bin < RAIDTRACE_SIZE_BINS ? bin : RAIDTRACE_SIZE_BINS - 1;
}

/* Bin of a distance in sectors, from the previous request's end to this one's start. */
static inline unsigned int raidtrace_seek_bin(s64 distance)
{
	if (!distance)
		return RAIDTRACE_SEEK_ZERO;
	if (distance > 0)
		return RAIDTRACE_SEEK_ZERO + 1 + raidtrace_log2(distance);
	return RAIDTRACE_SEEK_ZERO - 1 - raidtrace_log2(-(u64)distance);
}

/* Bin of a number of requests in flight. */
static inline unsigned int raidtrace_depth_bin(u64 depth)
{
	return depth < RAIDTRACE_DEPTH_LINEAR ? depth : RAIDTRACE_DEPTH_LINEAR;
}

/* Bin of a latency in nanoseconds. */
static inline unsigned int raidtrace_d2c_bin(u64 ns)
{
	unsigned int bin;

	if (ns < RAIDTRACE_HIST_SUB_BINS)
		return ns;
	bin = RAIDTRACE_HIST_SUB_BINS + raidtrace_octave_bin(ns, RAIDTRACE_HIST_SUB_BITS);
	return bin < RAIDTRACE_D2C_BINS ? bin : RAIDTRACE_D2C_BINS - 1;
}

/* Number of the octave of a value below 2^63, from 1 on; 0 for 0. */
static inline unsigned int raidtrace_octave(u64 value)
{
	return raidtrace_log2(2 * value + 1);
}

/* Row of a depth's bin in the histogram of d2c by depth. */
static inline unsigned int raidtrace_depth_row(unsigned int bin)
{
	return raidtrace_octave(bin);
}

/* Row of a size in sectors in the sums of d2c by size. */
static inline unsigned int raidtrace_size_row(u64 sectors)
{
	unsigned int row = raidtrace_octave(sectors);

	return row < RAIDTRACE_SIZE_ROWS ? row : RAIDTRACE_SIZE_ROWS - 1;
}

/*
 * Row of a distance's bin in the sums of d2c by distance, RAIDTRACE_SEEK_ROW_NONE for
 * RAIDTRACE_SEEK_NONE.
 */
static inline unsigned int raidtrace_seek_row(unsigned int bin)
{
	static const unsigned char rows[RAIDTRACE_SEEK_BINS + 1] = {
		[0 ... 42] = 2 * RAIDTRACE_SEEK_FAR,
		[43 ... 46] = RAIDTRACE_SEEK_FAR + 4,
		[47 ... 52] = RAIDTRACE_SEEK_FAR + 3,
		[53 ... 56] = RAIDTRACE_SEEK_FAR + 2,
		[57 ... 63] = RAIDTRACE_SEEK_FAR + 1,
		[RAIDTRACE_SEEK_ZERO] = 0,
		[65 ... 71] = 1,
		[72 ... 75] = 2,
		[76 ... 81] = 3,
		[82 ... 85] = 4,
		[86 ... 128] = RAIDTRACE_SEEK_FAR,
		[RAIDTRACE_SEEK_NONE] = RAIDTRACE_SEEK_ROW_NONE,
	};

	return rows[bin];
}

/* Column of a latency's bin in the histogram of d2c by depth: an octave has 16 bins from 16 ns on. */
static inline unsigned int raidtrace_d2c_column(unsigned int bin)
{
	return bin < RAIDTRACE_HIST_SUB_BINS ? raidtrace_octave(bin) :
	       bin / RAIDTRACE_HIST_SUB_BINS + RAIDTRACE_HIST_SUB_BITS;
}

#endif /* RAIDTRACE_HISTOGRAM_H */
