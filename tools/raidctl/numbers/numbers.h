/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Numbers computed from exact counts: bounds of bins, groups of counters, means and percentiles; pure. */

#ifndef NUMBERS_NUMBERS_H
#define NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "raidtrace.h"

/* bins.c: values of a bin; kmod/histogram.h has the bin of a value */

/*
 * The number of columns of a histogram of two dimensions, 0 for one dimension. Such a histogram has the bin
 * row * columns + column; bin_low() and bin_high() are those of the column.
 */
unsigned int bin_columns(enum raidtrace_histogram_kind kind);

/* The lowest value of a bin: sectors, requests, nanoseconds, or the bin itself. */
int64_t bin_low(enum raidtrace_histogram_kind kind, unsigned int bin);

/* The lowest value above a bin, INT64_MAX when the bin has no end. */
int64_t bin_high(enum raidtrace_histogram_kind kind, unsigned int bin);

/* groups.c: which counters a source has */

/* Room for the names of all groups. */
#define GROUPS_TEXT	160

/* Names of enum raidtrace_group flags, separated by blanks. @ret has room for GROUPS_TEXT bytes. */
char *groups_text(char *ret, uint32_t groups);

/* Does the source of a span count this group? */
bool counts_group(const struct rt_counters *counters, uint32_t group);

/* Does the source of a span count this kind of histogram? If not, an empty histogram is not 0 but unknown. */
bool counts_kind(const struct rt_counters *counters, unsigned int kind);

/* Does a kind of histogram lack its events when the counters of @unknown and of rt_disk.unknown are not known? */
bool kind_is_unknown(unsigned int kind, uint64_t unknown, uint32_t disk_unknown);

/* Is the counter at @offset of struct rt_origin not known? A disk without requests has only counters of bios. */
bool origin_unknown(uint64_t unknown, size_t offset);

/* stats.c: numbers of a span */

/* Counters of one disk, and of one phase in a recording; otherwise that is "". */
struct span {
	char phase[RT_NAME_MAX];
	const char *disk;
	bool bio_based;		/* md or dm: only bios are counted */
	struct rt_counters counters;
};

/* A value in [low, high); @high is INT64_MAX when its bin has no end. */
struct range {
	bool known;
	int64_t low;
	int64_t high;
};

/* One direction of one span. What is not known, or of no request, is 0. */
struct direction_stats {
	uint64_t requests;		/* issued, without those issued again after a requeue */
	uint64_t bytes;			/* issued; a requeued request counts each time */
	bool rate_known;		/* of @bytes_per_s */
	double bytes_per_s;		/* completed; of a disk without requests, of its bios */
	double iops;			/* completed */
	bool depth_known;		/* time at each depth was counted */
	double depth_mean;		/* requests in flight, weighted by time */
	bool depth_exact;		/* otherwise @depth_mean is a lower bound */
	uint64_t depth_max;		/* highest depth for some time */
	bool depth_open;		/* @depth_max is a lower bound: the last bin has no end */
	struct range size_mode;		/* most frequent request size, sectors */
	uint64_t size_mode_count;	/* requests of that size */
	double size_mean_bytes;
	bool sequential_known;		/* of @sequential and @seeks */
	uint64_t sequential;		/* requests that began where the previous one ended */
	uint64_t seeks;			/* requests that began elsewhere */
	double seek_mean_sectors;	/* forward and backward */
	bool d2c_mean_known;
	double d2c_mean_ns;
	struct range d2c_p50;		/* nanoseconds, as those below */
	struct range d2c_p99;
	struct range d2c_p999;
	struct range d2c_max;
};

/* @bio_based: the disk has no requests. */
void stats_of(const struct rt_counters *counters, bool bio_based, unsigned int direction,
	      struct direction_stats *ret);

/* The RT_COUNTER_BIT() of the bytes of a rate: direction_stats.bytes_per_s. */
uint64_t rate_counter(bool bio_based);

struct range bin_range(unsigned int kind, unsigned int bin);

/* The bin with the highest count, the lowest of several. @count gets that count; it may be NULL. */
struct range histogram_mode(const struct rt_histogram *histogram,
			    unsigned int kind, uint64_t *count);

/* The bin of the smallest value that at least a @share of all values does not exceed: 0.5 for the median. */
struct range histogram_percentile(const struct rt_histogram *histogram,
				  unsigned int kind, double share);

/* Is every counter of a direction 0? */
bool flow_is_idle(const struct rt_flow *flow);

/* Texts of ranges; @ret has room for RANGE_TEXT bytes, and is "n/a" when the range is not known. */
#define RANGE_TEXT	64

/* Sectors as bytes: "128 KiB", or "256 KiB..288 KiB" for several sizes. */
char *format_range_bytes(char *ret, const struct range *sectors);

/* Nanoseconds as their upper bound behind @below, or as the lower bound behind @above when the bin has no end. */
char *format_range_ns(char *ret, const struct range *ns, const char *below, const char *above);

/* The mean of requests in flight: "3.50", or ">3.50" for a lower bound. UNITS_TEXT bytes are enough for @ret. */
char *format_depth(char *ret, const struct direction_stats *stats);

#endif
