// SPDX-License-Identifier: GPL-2.0-or-later

/* Arithmetic on snapshots of counters: differences, sums, agreement. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "raidtrace.h"

static const char *const direction_names[RT_DIRECTIONS] = {
	[RAIDTRACE_DIRECTION_READ] = "read",
	[RAIDTRACE_DIRECTION_WRITE] = "write",
	[RAIDTRACE_DIRECTION_DISCARD] = "discard",
	[RAIDTRACE_DIRECTION_WRITE_ZEROES] = "write_zeroes",
	[RAIDTRACE_DIRECTION_FLUSH] = "flush",
	[RAIDTRACE_DIRECTION_OTHER] = "other",
	[RAIDTRACE_DIRECTION_PASSTHROUGH] = "passthrough",
	[RAIDTRACE_DIRECTION_ALL] = "all",
};

static const char *const kind_names[RT_KINDS] = {
	[RAIDTRACE_HISTOGRAM_KIND_SIZE] = "size",
	[RAIDTRACE_HISTOGRAM_KIND_SEEK] = "seek",
	[RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME] = "depth_time",
	[RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE] = "depth_issue",
	[RAIDTRACE_HISTOGRAM_KIND_D2C] = "d2c",
	[RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED] = "seek_queued",
	[RAIDTRACE_HISTOGRAM_KIND_I2D] = "i2d",
	[RAIDTRACE_HISTOGRAM_KIND_Q2C] = "q2c",
	[RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C] = "depth_d2c",
	[RAIDTRACE_HISTOGRAM_KIND_PLACE] = "place",
	[RAIDTRACE_HISTOGRAM_KIND_UNPLUG] = "unplug",
	[RAIDTRACE_HISTOGRAM_KIND_BLAME] = "blame",
	[RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE] = "blame_distance",
	[RAIDTRACE_HISTOGRAM_KIND_RA_SYNC] = "ra_sync",
	[RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC] = "ra_async",
	[RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C_NS] = "depth_d2c_ns",
	[RAIDTRACE_HISTOGRAM_KIND_SIZE_D2C] = "size_d2c",
	[RAIDTRACE_HISTOGRAM_KIND_SIZE_D2C_NS] = "size_d2c_ns",
	[RAIDTRACE_HISTOGRAM_KIND_SEEK_D2C] = "seek_d2c",
	[RAIDTRACE_HISTOGRAM_KIND_SEEK_D2C_NS] = "seek_d2c_ns",
};

static const char *const class_names[RT_CLASSES] = {
	[RAIDTRACE_CLASS_DATA] = "data",
	[RAIDTRACE_CLASS_READAHEAD] = "readahead",
	[RAIDTRACE_CLASS_DIRECT] = "direct",
	[RAIDTRACE_CLASS_METADATA] = "metadata",
	[RAIDTRACE_CLASS_JOURNAL] = "journal",
	[RAIDTRACE_CLASS_SWAP] = "swap",
	[RAIDTRACE_CLASS_MIXED] = "mixed",
	[RAIDTRACE_CLASS_OTHER] = "other",
};

/* In the order of the flags of enum raidtrace_group. */
static const char *const group_names[] = {
	"flow", "size", "seek", "stream", "depth", "latency", "place", "plug",
	"origin", "blame", "submitter", "readahead", "hwq",
};

_Static_assert(RAIDTRACE_GROUP_HWQ ==
	       1 << (sizeof(group_names) / sizeof(group_names[0]) - 1),
	       "a name for each group");

const char *rt_direction_name(unsigned int direction)
{
	return direction < RT_DIRECTIONS ? direction_names[direction] : NULL;
}

const char *rt_kind_name(unsigned int kind)
{
	return kind < RT_KINDS ? kind_names[kind] : NULL;
}

const char *rt_class_name(unsigned int class_)
{
	return class_ < RT_CLASSES ? class_names[class_] : NULL;
}

const char *rt_group_name(unsigned int index)
{
	return index < sizeof(group_names) / sizeof(group_names[0]) ?
	       group_names[index] : NULL;
}

void rt_counters_free(struct rt_counters *counters)
{
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++)
			free(counters->histogram[d][k].counts);
	free(counters->submitters);
	free(counters->hwq);
	memset(counters, 0, sizeof(*counters));
}

static int flow_subtract(struct rt_flow *flow, const struct rt_flow *from)
{
#define X(member, attribute, ...)					\
	if (flow->member < from->member)				\
		return -ERANGE;						\
	flow->member -= from->member;
	RT_FLOW_COUNTERS(X)
#undef X
	return 0;
}

static void disk_add(struct rt_disk *disk, const struct rt_disk *next)
{
	disk->unknown |= next->unknown;
#define X(member, attribute, ...) disk->member += next->member;
	RT_DISK_COUNTERS(X)
#undef X
	disk->streams_alive = next->streams_alive;
	disk->streams_alive_queued = next->streams_alive_queued;
}

static int disk_subtract(struct rt_disk *disk, const struct rt_disk *from)
{
#define X(member, attribute, ...)					\
	if (disk->member < from->member)				\
		return -ERANGE;						\
	disk->member -= from->member;
	RT_DISK_COUNTERS(X)
#undef X
	return 0;
}

static void origin_add(struct rt_origin *origin, const struct rt_origin *next)
{
#define X(member, attribute, ...) origin->member += next->member;
	RT_ORIGIN_COUNTERS(X)
#undef X
}

static int origin_subtract(struct rt_origin *origin, const struct rt_origin *from)
{
#define X(member, attribute, ...)					\
	if (origin->member < from->member)				\
		return -ERANGE;						\
	origin->member -= from->member;
	RT_ORIGIN_COUNTERS(X)
#undef X
	return 0;
}

/* The rows are large, and most disks are counted without the group hwq. */
int rt_hwqs_make_room(struct rt_counters *counters)
{
	if (!counters->hwq)
		counters->hwq = calloc(RT_HWQS, sizeof(*counters->hwq));
	return counters->hwq ? 0 : -ENOMEM;
}

static int hwqs_add(struct rt_counters *sum, const struct rt_counters *next)
{
	if (next->nr_hwqs && rt_hwqs_make_room(sum))
		return -ENOMEM;
	for (unsigned int i = 0; i < next->nr_hwqs; i++) {
		struct rt_hwq *hwq = &sum->hwq[i];
		const struct rt_hwq *more = &next->hwq[i];

#define X(member, attribute, ...) hwq->member += more->member;
		RT_HWQ_COUNTERS(X)
#undef X
		hwq->in_flight = more->in_flight;
		hwq->in_flight_max = more->in_flight_max;
	}
	if (sum->nr_hwqs < next->nr_hwqs)
		sum->nr_hwqs = next->nr_hwqs;
	return 0;
}

static int hwqs_subtract(struct rt_counters *c, const struct rt_counters *from)
{
	if (c->nr_hwqs < from->nr_hwqs)
		return -ERANGE;
	for (unsigned int i = 0; i < from->nr_hwqs; i++) {
#define X(member, attribute, ...)					\
		if (c->hwq[i].member < from->hwq[i].member)		\
			return -ERANGE;					\
		c->hwq[i].member -= from->hwq[i].member;
		RT_HWQ_COUNTERS(X)
#undef X
	}
	return 0;
}

/* Add all counters except histograms. */
static int add_counts(struct rt_counters *sum, const struct rt_counters *next)
{
	if (!sum->now_ns)
		sum->since_ns = next->since_ns;
	sum->id = next->id;
	sum->snapshot = next->snapshot;
	sum->now_ns = next->now_ns;
	sum->resets = next->resets;
	sum->gone = next->gone;
	sum->readahead_sectors = next->readahead_sectors;
	sum->groups = next->groups;
	sum->unknown |= next->unknown;
	disk_add(&sum->disk, &next->disk);
	for (int i = 0; i < RT_CLASSES; i++)
		origin_add(&sum->origin[i], &next->origin[i]);
	if (hwqs_add(sum, next))
		return -ENOMEM;
	for (int d = 0; d < RT_DIRECTIONS; d++) {
		struct rt_flow *flow = &sum->flow[d];
		const struct rt_flow *more = &next->flow[d];

#define X(member, attribute, ...) flow->member += more->member;
		RT_FLOW_COUNTERS(X)
#undef X
		flow->in_flight = more->in_flight;
		flow->in_flight_max = more->in_flight_max;
	}
	return rt_submitters_add(sum, next);
}

int rt_counters_add(struct rt_counters *sum, const struct rt_counters *next)
{
	if (add_counts(sum, next))
		return -ENOMEM;
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++)
			if (next->histogram[d][k].nr_bins &&
			    rt_histogram_add(&sum->histogram[d][k],
					     &next->histogram[d][k]))
				return -ENOMEM;
	return 0;
}

/* Subtract all counters except histograms and processes. Return: 0, or -ERANGE if a counter decreased. */
static int subtract_counts(struct rt_counters *c, const struct rt_counters *from)
{
	int wrong = disk_subtract(&c->disk, &from->disk);

	for (int i = 0; i < RT_CLASSES && !wrong; i++)
		wrong = origin_subtract(&c->origin[i], &from->origin[i]);
	if (!wrong)
		wrong = hwqs_subtract(c, from);
	for (int d = 0; d < RT_DIRECTIONS && !wrong; d++)
		wrong = flow_subtract(&c->flow[d], &from->flow[d]);
	return wrong;
}

static int fill_delta(const struct rt_counters *from,
		      const struct rt_counters *to, struct rt_counters *ret)
{
	int err = add_counts(ret, to);

	if (!err)
		err = subtract_counts(ret, from);
	if (!err)
		err = rt_submitters_subtract(ret, from);
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS && !err; k++)
			err = rt_histogram_delta(&from->histogram[d][k],
						 &to->histogram[d][k],
						 &ret->histogram[d][k]);
	return err;
}

int rt_counters_delta(const struct rt_counters *from,
		      const struct rt_counters *to, struct rt_counters *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = fill_delta(from, to, ret);
	if (err) {
		rt_counters_free(ret);
		return err;
	}
	ret->since_ns = from->now_ns;
	return 0;
}

/* Counters that balanced() needs. A bio-based disk has none of them. */
#define ENDS (RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT))

/* Do the requests that entered the span equal those that left it or are in flight? */
static bool balanced(const struct rt_counters *c, unsigned int direction,
		     uint64_t before, char *text, size_t size)
{
	uint64_t in = before, out = c->flow[direction].in_flight;

	if (c->unknown & ENDS)
		return true;
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		if (direction != RAIDTRACE_DIRECTION_ALL && direction != d)
			continue;
		in += c->flow[d].issued;
		out += c->flow[d].completed + c->flow[d].requeued +
		       c->flow[d].abandoned;
	}
	if (in == out)
		return true;
	snprintf(text, size,
		 "%s: issued + in flight before = %" PRIu64
		 ", but completed + requeued + abandoned + in flight after = %" PRIu64,
		 direction_names[direction], in, out);
	return false;
}

static bool sums_to(const struct rt_counters *c, unsigned int direction,
		    unsigned int kind, uint64_t expected, char *text,
		    size_t size)
{
	uint64_t sum = rt_histogram_sum(&c->histogram[direction][kind]);

	if (sum == expected)
		return true;
	snprintf(text, size,
		 "%s: %s histogram sums to %" PRIu64 " instead of %" PRIu64,
		 direction_names[direction], kind_names[kind], sum, expected);
	return false;
}

/* A span without groups is checked as if it had each of them. */
static bool group_is_missing(const struct rt_counters *c, uint32_t group)
{
	return c->groups && !(c->groups & group);
}

bool rt_counters_check(const struct rt_counters *c,
		       const uint32_t in_flight_before[RT_DIRECTIONS],
		       char *text, size_t size)
{
	static const unsigned int timed[] = {
		RAIDTRACE_DIRECTION_READ, RAIDTRACE_DIRECTION_WRITE,
		RAIDTRACE_DIRECTION_ALL,
	};

	for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
		if (!balanced(c, d, in_flight_before[d], text, size))
			return false;
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++)
		if (!group_is_missing(c, RAIDTRACE_GROUP_SIZE) &&
		    !sums_to(c, d, RAIDTRACE_HISTOGRAM_KIND_SIZE,
			     c->flow[d].issued - c->flow[d].reissued, text, size))
			return false;
	if (c->unknown & RT_COUNTER_BIT(IN_FLIGHT) ||
	    group_is_missing(c, RAIDTRACE_GROUP_DEPTH))
		return true;
	for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++)
		if (!sums_to(c, timed[i], RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME,
			     c->now_ns - c->since_ns, text, size))
			return false;
	return true;
}

/* The difference between two snapshots of counters. */

/* Reserve memory in @last for all additions from @span, so that adding cannot fail halfway. */
static int make_room(struct rt_counters *last, const struct rt_counters *span)
{
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *h = &span->histogram[d][k];

			if (h->nr_bins &&
			    rt_histogram_cover(&last->histogram[d][k],
					       h->first_bin,
					       h->first_bin + h->nr_bins))
				return -ENOMEM;
		}
	if (span->nr_hwqs && rt_hwqs_make_room(last))
		return -ENOMEM;
	return rt_submitters_make_room(last, span);
}

static int apply_partial(struct rt_advance *advance, struct rt_counters *last)
{
	struct rt_counters *now = &advance->now;
	int err = subtract_counts(now, last);

	if (!err)
		err = rt_submitters_less(now, last);
	if (!err)
		err = make_room(last, now);
	if (err)
		return err;
	now->since_ns = last->now_ns;
	return rt_counters_add(last, now);
}

/* The counters were reset, so the span starts at the reset. */
static int delta_since_reset(const struct rt_counters *now, struct rt_counters *span)
{
	const struct rt_counters reset = { .now_ns = now->since_ns };

	return rt_counters_delta(&reset, now, span);
}

int rt_advance_apply(struct rt_advance *advance, struct rt_counters *last,
		     struct rt_counters *span)
{
	struct rt_counters *now = &advance->now;
	int err;

	if (now->resets != last->resets)
		err = delta_since_reset(now, span);
	else
		err = rt_submitters_release(last, now) ?:
		      (advance->partial ? apply_partial(advance, last) :
					  rt_counters_delta(last, now, span));
	if (err)
		return err;
	if (advance->partial) {
		*span = *now;
	} else {
		rt_counters_free(last);
		*last = *now;
	}
	memset(now, 0, sizeof(*now));
	return 0;
}
