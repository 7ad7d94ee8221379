/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Means, modes and shares from exact counts; pure. */

#ifndef NUMBERS_STATS_H
#define NUMBERS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "raidtrace.h"

/**
 * struct range - a value that is known to lie in [low, high)
 * @known: false when there was nothing to take it from
 * @low: lowest value of the bin
 * @high: lowest value above the bin, INT64_MAX when the bin has no end
 */
struct range {
	bool known;
	int64_t low;
	int64_t high;
};

/**
 * struct direction_stats - one direction of one span
 * @requests: issued
 * @bytes: issued, a requeued request counts each time
 * @bytes_per_s: completed bytes by the length of the span, 0 when that is 0
 * @iops: completed requests by the length of the span, 0 when that is 0
 * @depth_known: time at each depth was counted for this direction
 * @depth_mean: requests in flight, weighted by time
 * @depth_exact: @depth_mean is exact, not a lower bound
 * @depth_max: highest depth that some time was spent at
 * @depth_open: time was spent beyond the last bin with a depth of its own,
 *	@depth_max is a lower bound then
 * @size_mode: most frequent request size, in sectors
 * @size_mode_count: how many had it
 * @size_mean_bytes: 0 when there was no request
 * @sequential_known: the order of requests was counted: @sequential and @seeks are known
 * @sequential: requests that began where the one before ended
 * @seeks: requests that began elsewhere
 * @seek_mean_sectors: mean distance of the seeks, forward and backward, 0: none
 * @d2c_mean_known: requests completed, and their times were summed
 * @d2c_mean_ns: 0 when it is not known
 * @d2c_p50: the bin that the median lies in, nanoseconds
 * @d2c_p99: likewise for the 99th percentile
 * @d2c_p999: likewise for 999 of 1,000
 * @d2c_max: the bin that the longest lies in
 */
struct direction_stats {
	uint64_t requests;
	uint64_t bytes;
	double bytes_per_s;
	double iops;
	bool depth_known;
	double depth_mean;
	bool depth_exact;
	uint64_t depth_max;
	bool depth_open;
	struct range size_mode;
	uint64_t size_mode_count;
	double size_mean_bytes;
	bool sequential_known;
	uint64_t sequential;
	uint64_t seeks;
	double seek_mean_sectors;
	bool d2c_mean_known;
	double d2c_mean_ns;
	struct range d2c_p50;
	struct range d2c_p99;
	struct range d2c_p999;
	struct range d2c_max;
};

/**
 * stats_of - what one direction of a span amounts to
 * @counters: the span
 * @direction: enum raidtrace_direction
 * @ret: the numbers
 */
void stats_of(const struct rt_counters *counters, unsigned int direction,
	      struct direction_stats *ret);

/* bin_range - bounds of one bin of a kind of histogram */
struct range bin_range(unsigned int kind, unsigned int bin);

/**
 * histogram_mode - bounds of the bin with the highest count, the lowest of
 *	several
 * @histogram: may be empty
 * @kind: what it counts
 * @count: how many are in that bin, may be NULL
 */
struct range histogram_mode(const struct rt_histogram *histogram,
			    unsigned int kind, uint64_t *count);

/**
 * histogram_percentile - bounds of the bin that holds a rank
 * @histogram: may be empty
 * @kind: what it counts
 * @share: 0.5 for the median; the smallest value is taken that at least this
 *	share of all values does not exceed
 */
struct range histogram_percentile(const struct rt_histogram *histogram,
				  unsigned int kind, double share);

/* flow_is_idle - true when nothing at all happened in a direction */
bool flow_is_idle(const struct rt_flow *flow);

#endif
