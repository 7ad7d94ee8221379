/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Numbers computed from exact counts: bounds of bins, groups of counters, means and percentiles. Pure. */

#ifndef NUMBERS_NUMBERS_H
#define NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "raidtrace.h"

/* bins.c: the values of a bin; kmod/histogram.h has the bin of a value */

/*
 * The number of columns of a histogram with two dimensions, 0 for one dimension. Such a histogram has the bin row *
 * columns + column; bin_low() and bin_high() are those of the column.
 */
unsigned int bin_columns(enum raidtrace_histogram_kind kind);

/* The lowest value of a bin: sectors, requests, nanoseconds, or the bin itself. */
int64_t bin_low(enum raidtrace_histogram_kind kind, unsigned int bin);

/* The lowest value above a bin, INT64_MAX if the bin has no end. */
int64_t bin_high(enum raidtrace_histogram_kind kind, unsigned int bin);

/* groups.c: the counters of a source */

/* Room for the names of all groups. */
#define GROUPS_TEXT	160

/* Names of enum raidtrace_group flags, separated by blanks. @ret has room for GROUPS_TEXT bytes. */
char *groups_text(char *ret, uint32_t groups);

/* Does the source of a span count this group? */
bool counts_group(const struct rt_counters *counters, uint32_t group);

/* Does the source of a span count this kind of histogram? If not, an empty histogram is not 0, but not known. */
bool counts_kind(const struct rt_counters *counters, unsigned int kind);

/* Is a kind of histogram not known, if the counters of @unknown and of rt_disk.unknown are not known? */
bool kind_is_unknown(unsigned int kind, uint64_t unknown, uint32_t disk_unknown);

/* Is the counter at @offset of struct rt_origin not known? A disk without requests has only counters of bios. */
bool origin_unknown(uint64_t unknown, size_t offset);

/* stats.c: numbers of a span */

/* Counters of one disk and, in a recording, of one phase; otherwise the phase is "". */
struct span {
	char phase[RT_NAME_MAX];
	const char *disk;
	bool bio_based;		/* md or dm: only bios are counted */
	struct rt_counters counters;
};

/* A value in [low, high). @high is INT64_MAX if its bin has no end. */
struct range {
	bool known;
	int64_t low;
	int64_t high;
};

/* The numbers of one direction of one span. A number is 0 if it is not known, or if there is no request. */
struct direction_stats {
	uint64_t requests;		/* issued, without those issued again after a requeue */
	uint64_t bytes;			/* issued; a requeued request counts each time */
	bool rate_known;		/* whether @bytes_per_s is known */
	double bytes_per_s;		/* completed; for a disk without requests, of its bios */
	double iops;			/* completed */
	bool depth_known;		/* the time at each depth was counted */
	double depth_mean;		/* requests in flight, weighted by time */
	bool depth_exact;		/* if false, @depth_mean is a lower bound */
	uint64_t depth_max;		/* highest depth at which time was spent */
	bool depth_open;		/* @depth_max is a lower bound: the last bin has no end */
	struct range size_mode;		/* most frequent request size, sectors */
	uint64_t size_mode_count;	/* requests of that size */
	double size_mean_bytes;
	bool sequential_known;		/* whether @sequential and @seeks are known */
	uint64_t sequential;		/* requests that begin where the previous one ended */
	uint64_t seeks;			/* requests that begin elsewhere */
	double seek_mean_sectors;	/* forward and backward */
	bool d2c_mean_known;
	double d2c_mean_ns;
	struct range d2c_p50;		/* nanoseconds, like those below */
	struct range d2c_p99;
	struct range d2c_p999;
	struct range d2c_max;
};

/* @bio_based: the disk has no requests. */
void stats_of(const struct rt_counters *counters, bool bio_based, unsigned int direction,
	      struct direction_stats *ret);

/* The RT_COUNTER_BIT() of the bytes of a rate: direction_stats.bytes_per_s. */
uint64_t rate_counter(bool bio_based);

/*
 * Shares of the time of a disk, from 0 to 1; exactly one state holds at any time, so they add up to 1. Bios wait from
 * their queueing until their request is issued. A disk without requests is served while it has bios.
 */
struct time_states {
	bool known;		/* the time at each depth was counted; of a disk without requests, that with bios */
	bool waits_known;	/* if false, @backlog is a part of @served, and @held one of @empty */
	double served;		/* requests in flight, no bio waits */
	double backlog;		/* requests in flight, and bios wait */
	double held;		/* bios wait, although no request is in flight */
	double empty;		/* nothing is asked of the disk */
};

/* @bio_based: the disk has no requests. */
void states_of(const struct rt_counters *counters, bool bio_based, struct time_states *ret);

struct range bin_range(unsigned int kind, unsigned int bin);

/* The bin with the highest count, the lowest of several. @count gets its count and may be NULL. */
struct range histogram_mode(const struct rt_histogram *histogram,
			    unsigned int kind, uint64_t *count);

/* The bin of a percentile: at least a @share of all values are in it or below. 0.5 is the median. */
struct range histogram_percentile(const struct rt_histogram *histogram,
				  unsigned int kind, double share);

/* Is every counter of a direction 0? */
bool flow_is_idle(const struct rt_flow *flow);

/* Texts of ranges. @ret has RANGE_TEXT bytes; it is "n/a" if the range is not known. */
#define RANGE_TEXT	64

/* Sectors as bytes: "128 KiB", or "256 KiB..288 KiB" for several sizes. */
char *format_range_bytes(char *ret, const struct range *sectors);

/* Nanoseconds as the upper bound after @below, or as the lower bound after @above if the bin has no end. */
char *format_range_ns(char *ret, const struct range *ns, const char *below, const char *above);

/* The mean of requests in flight: "3.50", or ">3.50" for a lower bound. @ret has UNITS_TEXT bytes. */
char *format_depth(char *ret, const struct direction_stats *stats);

#endif
