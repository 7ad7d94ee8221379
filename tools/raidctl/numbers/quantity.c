// SPDX-License-Identifier: GPL-2.0-or-later

/* What a span amounts to, one number at a time. */

#include "numbers/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "numbers/stats.h"

/* A member of struct direction_stats, or NAN unless a condition holds. */
#define OF_STATS(function, condition, expression)			\
static double function(const struct rt_counters *c, unsigned int d)	\
{									\
	struct direction_stats stats;					\
									\
	stats_of(c, d, &stats);						\
	return (condition) ? (double)(expression) : NAN;		\
}

OF_STATS(requests, true, stats.requests)
OF_STATS(bytes, true, stats.bytes)
OF_STATS(mib_per_s, c->now_ns > c->since_ns, stats.bytes_per_s / (1 << 20))
OF_STATS(depth_mean, stats.depth_known && stats.depth_exact, stats.depth_mean)
OF_STATS(depth_max, stats.depth_known && !stats.depth_open, stats.depth_max)
OF_STATS(size_mode, stats.size_mode.known, stats.size_mode.low)
OF_STATS(size_mean, stats.requests, stats.size_mean_bytes)
OF_STATS(sequential_share, stats.requests,
	 (double)stats.sequential / (double)stats.requests)
OF_STATS(seeks, true, stats.seeks)
OF_STATS(seek_mean, stats.seeks, stats.seek_mean_sectors)
OF_STATS(d2c_mean, stats.d2c_p50.known, stats.d2c_mean_ns)
OF_STATS(d2c_p50, stats.d2c_p50.known && stats.d2c_p50.high != INT64_MAX,
	 stats.d2c_p50.high)
OF_STATS(d2c_p99, stats.d2c_p99.known && stats.d2c_p99.high != INT64_MAX,
	 stats.d2c_p99.high)
OF_STATS(d2c_max, stats.d2c_max.known && stats.d2c_max.high != INT64_MAX,
	 stats.d2c_max.high)

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

#define SHARE(part, whole)						\
static double part##_share(const struct rt_counters *c, unsigned int d)	\
{									\
	return share(c->flow[d].part, c->flow[d].whole);		\
}
SHARE(stream, issued)
SHARE(stream_queued, queued)
SHARE(sequential_queued, queued)
#undef SHARE

/* Mean, and upper bound of the value that 99 in 100 do not exceed. */
#define LATENCY(name, NAME)						\
static double name##_mean(const struct rt_counters *c, unsigned int d)	\
{									\
	return share(c->flow[d].name##_sum_ns, rt_histogram_sum(	\
		&c->histogram[d][RAIDTRACE_HISTOGRAM_KIND_##NAME]));	\
}									\
static double name##_p99(const struct rt_counters *c, unsigned int d)	\
{									\
	struct range p99 = histogram_percentile(			\
		&c->histogram[d][RAIDTRACE_HISTOGRAM_KIND_##NAME],	\
		RAIDTRACE_HISTOGRAM_KIND_##NAME, 0.99);			\
									\
	return p99.known && p99.high != INT64_MAX ? (double)p99.high : NAN; \
}
LATENCY(i2d, I2D)
LATENCY(q2c, Q2C)
#undef LATENCY

#define X(member, attribute, ...)					\
static double counted_##member(const struct rt_counters *c, unsigned int d) \
{									\
	return (double)c->flow[d].member;				\
}
X(queued, QUEUED)
X(splits, SPLITS)
X(back_merges, BACK_MERGES)
X(front_merges, FRONT_MERGES)
X(request_merges, REQUEST_MERGES)
X(requeued, REQUEUED)
X(errors, ERRORS)
X(ahead_queued, AHEAD_QUEUED)
X(bytes_ahead_queued, BYTES_AHEAD_QUEUED)
#undef X

#define BIT(counter)	RT_COUNTER_BIT(counter)
#define COUNTED(member, attribute, label)				\
	{ #member, label, QUANTITY_COUNT, false, false, BIT(attribute),	\
	  counted_##member }

const struct quantity quantities[] = {
	{ "requests", "requests", QUANTITY_COUNT, false, false, BIT(ISSUED), requests },
	{ "bytes", "data", QUANTITY_BYTES, false, false, BIT(BYTES_ISSUED), bytes },
	{ "mib_per_s", "throughput", QUANTITY_MIB_PER_S, false, true, BIT(BYTES_COMPLETED), mib_per_s },
	{ "in_flight_mean", "in flight, mean", QUANTITY_REQUESTS, false, true, BIT(IN_FLIGHT), depth_mean },
	{ "highest_depth", "in flight, max", QUANTITY_COUNT, false, true, BIT(IN_FLIGHT), depth_max },
	{ "request_sectors_mode", "request size, mode", QUANTITY_SECTORS, true, false, BIT(ISSUED), size_mode },
	{ "request_bytes_mean", "request size, mean", QUANTITY_BYTES, false, false, BIT(ISSUED), size_mean },
	{ "sequential_share", "sequential", QUANTITY_SHARE, false, false, BIT(ISSUED), sequential_share },
	{ "seeks", "seeks", QUANTITY_COUNT, false, false, BIT(ISSUED), seeks },
	{ "seek_sectors_mean", "seek, mean distance", QUANTITY_SECTORS, false, false, BIT(ISSUED), seek_mean },
	{ "d2c_mean_ns", "d2c, mean", QUANTITY_NS, false, true, BIT(D2C_SUM_NS), d2c_mean },
	{ "d2c_p50_ns", "d2c, p50", QUANTITY_NS, true, true, BIT(D2C_SUM_NS), d2c_p50 },
	{ "d2c_p99_ns", "d2c, p99", QUANTITY_NS, true, true, BIT(D2C_SUM_NS), d2c_p99 },
	{ "d2c_max_ns", "d2c, max", QUANTITY_NS, true, true, BIT(D2C_SUM_NS), d2c_max },
	{ "stream_share", "in streams, requests", QUANTITY_SHARE, false, false, BIT(STREAM), stream_share },
	{ "i2d_mean_ns", "i2d, mean", QUANTITY_NS, false, true, BIT(I2D_SUM_NS), i2d_mean },
	{ "i2d_p99_ns", "i2d, p99", QUANTITY_NS, true, true, BIT(I2D_SUM_NS), i2d_p99 },
	{ "q2c_mean_ns", "q2c, mean", QUANTITY_NS, false, true, BIT(Q2C_SUM_NS), q2c_mean },
	{ "q2c_p99_ns", "q2c, p99", QUANTITY_NS, true, true, BIT(Q2C_SUM_NS), q2c_p99 },
	COUNTED(queued, QUEUED, "bios"),
	{ "stream_queued_share", "in streams, bios", QUANTITY_SHARE, false, false, BIT(STREAM_QUEUED), stream_queued_share },
	{ "sequential_queued_share", "sequential bios", QUANTITY_SHARE, false, false, BIT(SEQUENTIAL_QUEUED), sequential_queued_share },
	COUNTED(ahead_queued, AHEAD_QUEUED, "bios read ahead"),
	{ "bytes_ahead_queued", "  of", QUANTITY_BYTES, false, false, BIT(BYTES_AHEAD_QUEUED), counted_bytes_ahead_queued },
	COUNTED(splits, SPLITS, "splits"),
	COUNTED(back_merges, BACK_MERGES, "back merges"),
	COUNTED(front_merges, FRONT_MERGES, "front merges"),
	COUNTED(request_merges, REQUEST_MERGES, "request merges"),
	COUNTED(requeued, REQUEUED, "requeued"),
	COUNTED(errors, ERRORS, "errors"),
};

const size_t nr_quantities = sizeof(quantities) / sizeof(quantities[0]);

double quantity_of(const struct quantity *quantity,
		   const struct rt_counters *counters, unsigned int direction)
{
	return counters->unknown & quantity->needs ?
		       NAN : quantity->value(counters, direction);
}

char *quantity_text(char *ret, const struct quantity *quantity, double value)
{
	if (isnan(value))
		return strcpy(ret, "n/a");
	switch (quantity->unit) {
	case QUANTITY_COUNT:
		return format_count(ret, (uint64_t)value);
	case QUANTITY_BYTES:
		return format_bytes(ret, value);
	case QUANTITY_SECTORS:
		return format_bytes(ret, value * SECTOR_BYTES);
	case QUANTITY_MIB_PER_S:
		snprintf(ret, UNITS_TEXT, "%.1f MiB/s", value);
		return ret;
	case QUANTITY_REQUESTS:
		snprintf(ret, UNITS_TEXT, "%.2f", value);
		return ret;
	case QUANTITY_SHARE:
		return format_share(ret, value, 1);
	case QUANTITY_NS:
		return format_ns(ret, value);
	}
	return strcpy(ret, "n/a");
}
