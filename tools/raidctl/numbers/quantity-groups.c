// SPDX-License-Identifier: GPL-2.0-or-later

/* What a span amounts to that has no direction. */

#include "numbers/quantity-groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "numbers/groups.h"

#define ALL	RAIDTRACE_DIRECTION_ALL

/* A group that is not said to be counted was not there in ABI 1. */
static bool counted(const struct rt_counters *c, uint32_t group)
{
	return c->groups && counts_group(c, group);
}

#define OF_DISK(member, attribute, group)				\
static double of_##member(const struct rt_counters *c, unsigned int d)	\
{									\
	(void)d;							\
	return counted(c, RAIDTRACE_GROUP_##group) &&			\
	       !(c->disk.unknown & RT_DISK_BIT(attribute)) ?		\
		       (double)c->disk.member : NAN;			\
}

OF_DISK(plugs, PLUGS, PLUG)
OF_DISK(unplugs_explicit, UNPLUGS_EXPLICIT, PLUG)
OF_DISK(unplugs_schedule, UNPLUGS_SCHEDULE, PLUG)
OF_DISK(tag_waits, TAG_WAITS, PLUG)
OF_DISK(ra_sync_sectors, RA_SYNC_SECTORS, READAHEAD)
OF_DISK(ra_async_sectors, RA_ASYNC_SECTORS, READAHEAD)
OF_DISK(streams_alive, STREAMS_ALIVE, STREAM)
OF_DISK(streams_alive_queued, STREAMS_ALIVE_QUEUED, STREAM)
OF_DISK(streams_forgotten, STREAMS_FORGOTTEN, STREAM)
OF_DISK(streams_forgotten_queued, STREAMS_FORGOTTEN_QUEUED, STREAM)

static double requests_per_unplug(const struct rt_counters *c, unsigned int d)
{
	const struct rt_histogram *h =
		&c->histogram[ALL][RAIDTRACE_HISTOGRAM_KIND_UNPLUG];
	uint64_t nr = rt_histogram_sum(h);
	double sent = 0;

	(void)d;
	for (unsigned int i = 0; i < h->nr_bins; i++)
		sent += (double)(h->first_bin + i) * (double)h->counts[i];
	return nr ? sent / (double)nr : NAN;
}

static double windows(const struct rt_counters *c, unsigned int kind)
{
	return c->groups && counts_kind(c, kind) ?
		       (double)rt_histogram_sum(&c->histogram[ALL][kind]) : NAN;
}

static double ra_sync(const struct rt_counters *c, unsigned int d)
{
	(void)d;
	return windows(c, RAIDTRACE_HISTOGRAM_KIND_RA_SYNC);
}

static double ra_async(const struct rt_counters *c, unsigned int d)
{
	(void)d;
	return windows(c, RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC);
}

#define ROW(name, label, unit, value)	{ #name, label, unit, false, false, 0, value }

const struct quantity disk_quantities[] = {
	ROW(plugs, "plugs", QUANTITY_COUNT, of_plugs),
	ROW(unplugs_explicit, "unplugs, done", QUANTITY_COUNT, of_unplugs_explicit),
	ROW(unplugs_schedule, "unplugs, slept", QUANTITY_COUNT, of_unplugs_schedule),
	ROW(requests_per_unplug, "requests per unplug", QUANTITY_REQUESTS, requests_per_unplug),
	ROW(tag_waits, "waits for tags", QUANTITY_COUNT, of_tag_waits),
	ROW(ra_sync, "windows, page missing", QUANTITY_COUNT, ra_sync),
	ROW(ra_sync_sectors, "  of", QUANTITY_SECTORS, of_ra_sync_sectors),
	ROW(ra_async, "windows, page marked", QUANTITY_COUNT, ra_async),
	ROW(ra_async_sectors, "  of", QUANTITY_SECTORS, of_ra_async_sectors),
	ROW(streams_alive, "streams of requests", QUANTITY_COUNT, of_streams_alive),
	ROW(streams_alive_queued, "streams of bios", QUANTITY_COUNT, of_streams_alive_queued),
	ROW(streams_forgotten, "streams forgotten", QUANTITY_COUNT, of_streams_forgotten),
	ROW(streams_forgotten_queued, "  of bios", QUANTITY_COUNT, of_streams_forgotten_queued),
};

const size_t nr_disk_quantities = sizeof(disk_quantities) / sizeof(disk_quantities[0]);

#define X(member, attribute, ...)					\
static double class_##member(const struct rt_counters *c, unsigned int i) \
{									\
	return counted(c, RAIDTRACE_GROUP_ORIGIN) &&			\
		       !origin_unknown(c->unknown, offsetof(struct rt_origin, member)) ? \
		       (double)c->origin[i].member : NAN;		\
}
RT_ORIGIN_COUNTERS(X)
#undef X

const struct quantity class_quantities[] = {
	ROW(queued, "bios", QUANTITY_COUNT, class_queued),
	ROW(bytes_queued, "data of bios", QUANTITY_BYTES, class_bytes_queued),
	ROW(seeks_queued, "seeks of bios", QUANTITY_COUNT, class_seeks_queued),
	ROW(issued, "requests", QUANTITY_COUNT, class_issued),
	ROW(bytes_issued, "data of requests", QUANTITY_BYTES, class_bytes_issued),
	ROW(seeks, "seeks of requests", QUANTITY_COUNT, class_seeks),
	ROW(seek_sectors, "distance of seeks", QUANTITY_SECTORS, class_seek_sectors),
};

const size_t nr_class_quantities = sizeof(class_quantities) / sizeof(class_quantities[0]);

const struct quantity submitter_quantities[] = {
	ROW(queued, "bios", QUANTITY_COUNT, NULL),
	ROW(bytes_queued, "data of bios", QUANTITY_BYTES, NULL),
	ROW(seeks_queued, "seeks of bios", QUANTITY_COUNT, NULL),
};

const size_t nr_submitter_quantities = sizeof(submitter_quantities) / sizeof(submitter_quantities[0]);

const struct quantity seeks_quantity =
	ROW(seeks, "seeks", QUANTITY_COUNT, NULL);
const struct quantity places_quantity =
	ROW(elsewhere_share, "bytes elsewhere", QUANTITY_SHARE, NULL);

double submitter_quantity(const struct rt_counters *c, const char *comm,
			  size_t index)
{
	double sum = 0;

	if (!counted(c, RAIDTRACE_GROUP_SUBMITTER))
		return NAN;
	for (size_t i = 0; i < c->nr_submitters; i++) {
		const struct rt_submitter *s = &c->submitters[i];
		const uint64_t values[] = {
			s->queued, s->bytes_queued, s->seeks_queued,
		};

		if (comm ? !s->rest && !strcmp(s->comm, comm) : s->rest)
			sum += (double)values[index];
	}
	return sum;
}

static uint64_t bin_of(const struct rt_histogram *h, unsigned int bin)
{
	return bin >= h->first_bin && bin - h->first_bin < h->nr_bins ?
		       h->counts[bin - h->first_bin] : 0;
}

double blame_seeks(const struct rt_counters *c, unsigned int from,
		   unsigned int to)
{
	if (!c->groups || !counts_kind(c, RAIDTRACE_HISTOGRAM_KIND_BLAME))
		return NAN;
	return (double)bin_of(&c->histogram[ALL][RAIDTRACE_HISTOGRAM_KIND_BLAME],
			      from * RT_CLASSES + to);
}

double places_apart(const struct rt_counters *a, const struct rt_counters *b,
		    unsigned int direction)
{
	const struct rt_histogram *of_a =
		&a->histogram[direction][RAIDTRACE_HISTOGRAM_KIND_PLACE];
	const struct rt_histogram *of_b =
		&b->histogram[direction][RAIDTRACE_HISTOGRAM_KIND_PLACE];
	double sum_a = (double)rt_histogram_sum(of_a);
	double sum_b = (double)rt_histogram_sum(of_b);
	double apart = 0;

	if (!(sum_a > 0) || !(sum_b > 0))
		return NAN;
	for (unsigned int i = 0; i < RAIDTRACE_PLACE_BINS; i++)
		apart += fabs((double)bin_of(of_a, i) / sum_a -
			      (double)bin_of(of_b, i) / sum_b);
	return apart / 2;
}
