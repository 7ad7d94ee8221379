// SPDX-License-Identifier: GPL-2.0-or-later

/* Means, modes and shares from exact counts. */

#include "numbers/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

struct range bin_range(unsigned int kind, unsigned int bin)
{
	return (struct range){
		.known = true,
		.low = bin_low(kind, bin),
		.high = bin_high(kind, bin),
	};
}

struct range histogram_mode(const struct rt_histogram *histogram,
			    unsigned int kind, uint64_t *count)
{
	uint64_t highest = 0;
	unsigned int mode = 0;

	for (unsigned int i = 0; i < histogram->nr_bins; i++) {
		if (histogram->counts[i] <= highest)
			continue;
		highest = histogram->counts[i];
		mode = histogram->first_bin + i;
	}
	if (count)
		*count = highest;
	return highest ? bin_range(kind, mode) : (struct range){ 0 };
}

struct range histogram_percentile(const struct rt_histogram *histogram,
				  unsigned int kind, double share)
{
	uint64_t sum = rt_histogram_sum(histogram), below = 0;
	uint64_t rank = (uint64_t)ceil(share * (double)sum);

	if (!sum)
		return (struct range){ 0 };
	if (!rank)
		rank = 1;
	for (unsigned int i = 0; i < histogram->nr_bins; i++) {
		below += histogram->counts[i];
		if (below >= rank)
			return bin_range(kind, histogram->first_bin + i);
	}
	return (struct range){ 0 };
}

char *format_range_bytes(char *ret, const struct range *sectors)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	if (!sectors->known)
		return strcpy(ret, "n/a");
	format_bytes(low, (double)sectors->low * SECTOR_BYTES);
	if (sectors->high == sectors->low + 1)
		return strcpy(ret, low);
	snprintf(ret, RANGE_TEXT, "%s..%s", low,
		 format_bytes(high, (double)sectors->high * SECTOR_BYTES));
	return ret;
}

char *format_range_ns(char *ret, const struct range *ns, const char *below, const char *above)
{
	bool open = ns->high == INT64_MAX;
	char bound[UNITS_TEXT];

	if (!ns->known)
		return strcpy(ret, "n/a");
	snprintf(ret, RANGE_TEXT, "%s%s", open ? above : below,
		 format_ns(bound, (double)(open ? ns->low : ns->high)));
	return ret;
}

char *format_depth(char *ret, const struct direction_stats *stats)
{
	if (!stats->depth_known)
		return strcpy(ret, "n/a");
	snprintf(ret, UNITS_TEXT, "%s%.2f", stats->depth_exact ? "" : ">", stats->depth_mean);
	return ret;
}

bool flow_is_idle(const struct rt_flow *flow)
{
	uint64_t any = flow->in_flight;

#define X(member, attribute, ...) any |= flow->member;
	RT_FLOW_COUNTERS(X)
#undef X
	return !any;
}

static void depth_stats(const struct rt_counters *c, unsigned int direction,
			struct direction_stats *ret)
{
	const struct rt_histogram *time =
		&c->histogram[direction][RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME];
	double weighted = 0, total = 0;

	for (unsigned int i = 0; i < time->nr_bins; i++) {
		unsigned int depth = time->first_bin + i;

		if (!time->counts[i])
			continue;
		total += (double)time->counts[i];
		weighted += (double)depth * (double)time->counts[i];
		ret->depth_max = depth;
	}
	ret->depth_known = total > 0;
	ret->depth_open = ret->depth_max >= RAIDTRACE_DEPTH_LINEAR;
	ret->depth_exact = !ret->depth_open ||
			   !(c->unknown & RT_COUNTER_BIT(DEPTH_SUM_NS));
	/* Up to the open bin, both are equal. Older modules have only the histogram. */
	if (ret->depth_open && ret->depth_exact)
		weighted = (double)c->flow[direction].depth_sum_ns;
	ret->depth_mean = total > 0 ? weighted / total : 0;
}

static void seek_stats(const struct rt_counters *c, unsigned int direction,
		       struct direction_stats *ret)
{
	const struct rt_flow *flow = &c->flow[direction];
	uint64_t placed = rt_histogram_sum(&c->histogram[direction][RAIDTRACE_HISTOGRAM_KIND_SEEK]);

	/*
	 * The first request after attach has no predecessor. It is not in the histogram, and neither sequential nor a
	 * seek.
	 */
	ret->sequential_known = !(c->unknown & (RT_COUNTER_BIT(SEQUENTIAL) | RT_COUNTER_BIT(ISSUED)));
	ret->sequential = flow->sequential;
	ret->seeks = placed > flow->sequential ? placed - flow->sequential : 0;
	if (ret->seeks)
		ret->seek_mean_sectors = ((double)flow->seek_forward_sectors +
					  (double)flow->seek_backward_sectors) /
					 (double)ret->seeks;
}

uint64_t rate_counter(bool bio_based)
{
	return bio_based ? RT_COUNTER_BIT(BYTES_QUEUED) : RT_COUNTER_BIT(BYTES_COMPLETED);
}

void stats_of(const struct rt_counters *c, bool bio_based, unsigned int direction,
	      struct direction_stats *ret)
{
	const struct rt_histogram *histogram = c->histogram[direction];
	const struct rt_flow *flow = &c->flow[direction];
	uint64_t length = c->now_ns - c->since_ns;
	const struct rt_histogram *d2c =
		&histogram[RAIDTRACE_HISTOGRAM_KIND_D2C];

	memset(ret, 0, sizeof(*ret));
	/* A request that is issued again after a requeue counts once. */
	ret->requests = flow->issued - flow->reissued;
	ret->bytes = flow->bytes_issued;
	if (length) {
		ret->rate_known = !(c->unknown & rate_counter(bio_based));
		ret->bytes_per_s = (double)(bio_based ? flow->bytes_queued : flow->bytes_completed) *
				   (double)NS_PER_S / (double)length;
		ret->iops = (double)flow->completed * (double)NS_PER_S / (double)length;
	}
	depth_stats(c, direction, ret);
	ret->size_mode = histogram_mode(&histogram[RAIDTRACE_HISTOGRAM_KIND_SIZE],
					RAIDTRACE_HISTOGRAM_KIND_SIZE, &ret->size_mode_count);
	if (ret->requests)
		ret->size_mean_bytes =
			(double)flow->bytes_issued / (double)ret->requests;
	seek_stats(c, direction, ret);
	ret->d2c_mean_known = flow->completed && !(c->unknown & RT_COUNTER_BIT(D2C_SUM_NS));
	if (ret->d2c_mean_known)
		ret->d2c_mean_ns =
			(double)flow->d2c_sum_ns / (double)flow->completed;
	ret->d2c_p50 = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C,
					    0.5);
	ret->d2c_p99 = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C,
					    0.99);
	ret->d2c_p999 = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C,
					     0.999);
	ret->d2c_max = histogram_percentile(d2c, RAIDTRACE_HISTOGRAM_KIND_D2C,
					    1);
}

void states_of(const struct rt_counters *c, bool bio_based, struct time_states *ret)
{
	const struct rt_histogram *time = &c->histogram[RAIDTRACE_DIRECTION_ALL][RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME];
	double whole = (double)rt_histogram_sum(time), idle = 0;

	memset(ret, 0, sizeof(*ret));
	if (bio_based) {
		whole = (double)(c->now_ns - c->since_ns);
		ret->known = whole > 0 && !(c->disk.unknown & RT_DISK_BIT(HELD_NS));
		ret->served = ret->known ? fmin((double)c->disk.held_ns / whole, 1) : 0;
		ret->empty = 1 - ret->served;
		return;
	}
	ret->known = whole > 0 && !(c->unknown & RT_COUNTER_BIT(IN_FLIGHT));
	if (!ret->known)
		return;
	if (time->nr_bins && !time->first_bin)
		idle = (double)time->counts[0];
	ret->waits_known = !(c->disk.unknown & (RT_DISK_BIT(HELD_NS) | RT_DISK_BIT(BACKLOG_NS)));
	ret->backlog = (double)c->disk.backlog_ns / whole;
	ret->held = (double)c->disk.held_ns / whole;
	ret->served = fmax(1 - idle / whole - ret->backlog, 0);
	ret->empty = fmax(idle / whole - ret->held, 0);
}
