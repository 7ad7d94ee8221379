// SPDX-License-Identifier: GPL-2.0-or-later

/* One disk of a blktrace trace: its events into an account. */

#include "import/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account-place.h"

struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index,
					    uint64_t capacity_sectors,
					    uint64_t start_ns)
{
	uint32_t groups = BLKTRACE_GROUPS;
	struct blktrace_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->device = device;
	d->index = index;
	d->capacity_sectors = capacity_sectors;
	if (capacity_sectors) {
		groups |= RAIDTRACE_GROUP_PLACE;
		raidtrace_place_set(&d->place, capacity_sectors);
	}
	raidtrace_arrival_start(&d->arrival, groups, RAIDTRACE_STREAMS_DEFAULT);
	raidtrace_queue_start(&d->state, groups, RAIDTRACE_STREAMS_DEFAULT,
			      start_ns);
	return d;
}

void blktrace_device_free(struct blktrace_device *d)
{
	if (!d)
		return;
	free(d->sequences);
	free(d);
}

static void fill_flow(struct rt_flow *to, const struct raidtrace_flow *flow,
		      const uint64_t *queued)
{
	*to = (struct rt_flow){
		.queued = flow->queued,
		.bytes_queued = flow->bytes_queued,
		.sequential_queued = flow->sequential_queued,
		.seek_queued_forward_sectors = flow->seek_queued_forward_sectors,
		.seek_queued_backward_sectors = flow->seek_queued_backward_sectors,
		.stream = flow->stream,
		.stream_queued = flow->stream_queued,
		.got = queued[RAIDTRACE_GOT],
		.back_merges = queued[RAIDTRACE_BACK_MERGES],
		.front_merges = queued[RAIDTRACE_FRONT_MERGES],
		.request_merges = queued[RAIDTRACE_REQUEST_MERGES],
		.splits = queued[RAIDTRACE_SPLITS],
		.inserted = queued[RAIDTRACE_INSERTED],
		.issued = flow->issued,
		.reissued = flow->reissued,
		.requeued = flow->requeued,
		.requeued_unissued = flow->requeued_unissued,
		.completed = flow->completed,
		.partial = flow->partial,
		.errors = flow->errors,
		.unmatched = flow->unmatched,
		.unissued = flow->unissued,
		.abandoned = flow->abandoned,
		.bytes_issued = flow->bytes_issued,
		.bytes_completed = flow->bytes_completed,
		.sequential = flow->sequential,
		.seek_forward_sectors = flow->seek_forward_sectors,
		.seek_backward_sectors = flow->seek_backward_sectors,
		.d2c_sum_ns = flow->d2c_sum_ns,
		.i2d_sum_ns = flow->i2d_sum_ns,
		.q2c_sum_ns = flow->q2c_sum_ns,
		.q2c_unknown = flow->q2c_unknown,
		.ahead_queued = flow->ahead_queued,
		.bytes_ahead_queued = flow->bytes_ahead_queued,
	};
}

static struct rt_histogram view(const struct raidtrace_account *account,
				unsigned int kind, unsigned int direction)
{
	const uint64_t *bins = raidtrace_account_bins(account, kind, direction);

	return rt_histogram_view(bins, bins ? raidtrace_hist_bins(kind) : 0);
}

/* What has no direction; a trace has no windows of readahead nor waits for tags. */
static void fill_disk(const struct blktrace_device *d,
		      const struct raidtrace_account *account,
		      struct rt_counters *span)
{
	span->disk.unknown = RT_DISK_BIT(TAG_WAITS) |
			     RT_DISK_BIT(RA_SYNC_SECTORS) |
			     RT_DISK_BIT(RA_ASYNC_SECTORS) |
			     RT_DISK_BIT(STREAMS_FORGOTTEN) |
			     RT_DISK_BIT(STREAMS_FORGOTTEN_QUEUED);
	span->disk.plugs = account->disk[RAIDTRACE_PLUGS];
	span->disk.unplugs_explicit =
		account->disk[RAIDTRACE_UNPLUGS_EXPLICIT];
	span->disk.unplugs_schedule =
		account->disk[RAIDTRACE_UNPLUGS_SCHEDULE];
	span->disk.streams_alive =
		raidtrace_streams_alive(&d->state.streams, d->state.last_ns);
	span->disk.streams_alive_queued =
		raidtrace_streams_alive(&d->arrival.streams, d->state.last_ns);
}

static void fill_span(const struct blktrace_device *d,
		      const struct raidtrace_account *account,
		      struct rt_counters *span)
{
	memset(span, 0, sizeof(*span));
	span->groups = d->state.groups;
	for (unsigned int i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		fill_flow(&span->flow[i], &account->flow[i], account->queue[i]);
	span->flow[RAIDTRACE_DIRECTION_READ].depth_sum_ns =
		account->depth_sum_ns[RAIDTRACE_DEPTH_READ];
	span->flow[RAIDTRACE_DIRECTION_WRITE].depth_sum_ns =
		account->depth_sum_ns[RAIDTRACE_DEPTH_WRITE];
	span->flow[RAIDTRACE_DIRECTION_ALL].depth_sum_ns =
		account->depth_sum_ns[RAIDTRACE_DEPTH_ALL];
	for (unsigned int i = 0; i < RT_DIRECTIONS; i++) {
		span->flow[i].in_flight = d->state.in_flight[i];
		span->flow[i].in_flight_max = d->state.in_flight_max[i];
		for (unsigned int k = 0; k < RT_KINDS; k++)
			span->histogram[i][k] = view(account, k, i);
	}
	fill_disk(d, account, span);
}

void blktrace_device_sample(struct blktrace_device *d, uint64_t start_ns,
			    uint64_t end_ns, struct rt_counters *span)
{
	raidtrace_queue_advance(&d->state, &d->account, end_ns);
	fill_span(d, &d->account, span);
	span->since_ns = start_ns;
	span->now_ns = end_ns;
}

void blktrace_device_begin(struct blktrace_device *d)
{
	raidtrace_account_add(&d->total, &d->account);
	memset(&d->account, 0, sizeof(d->account));
}

void blktrace_device_total(struct blktrace_device *d, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span)
{
	fill_span(d, &d->total, span);
	span->since_ns = start_ns;
	span->now_ns = end_ns;
}

#define SEEN(what)	(1U << BLKTRACE_##what)
#define COUNTER(name)	RT_COUNTER_BIT(name)

uint64_t blktrace_device_unknown(const struct blktrace_device *d)
{
	static const uint32_t all = SEEN(QUEUE) | SEEN(ISSUE) | SEEN(COMPLETE);
	static const uint32_t queue = SEEN(QUEUE) | SEEN(GETRQ) | SEEN(INSERT) |
				      SEEN(BACK_MERGE) | SEEN(FRONT_MERGE) |
				      SEEN(REQUEST_MERGE);
	uint64_t unknown = COUNTER(REFUSED);	/* it has them as bios like any other */

	if ((d->seen & all) == all)
		return unknown;
	/* blktrace takes these together or not at all. */
	if (!(d->seen & queue))
		unknown |= COUNTER(QUEUED) | COUNTER(BYTES_QUEUED) |
			   COUNTER(SEQUENTIAL_QUEUED) | COUNTER(STREAM_QUEUED) |
			   COUNTER(SEEK_QUEUED_FORWARD_SECTORS) |
			   COUNTER(SEEK_QUEUED_BACKWARD_SECTORS) |
			   COUNTER(GOT) | COUNTER(BACK_MERGES) |
			   COUNTER(FRONT_MERGES) | COUNTER(REQUEST_MERGES) |
			   COUNTER(INSERTED) | COUNTER(AHEAD_QUEUED) |
			   COUNTER(BYTES_AHEAD_QUEUED);
	if (!(d->seen & SEEN(SPLIT)))
		unknown |= COUNTER(SPLITS);
	if (!(d->seen & SEEN(REQUEUE)))
		unknown |= COUNTER(REQUEUED) | COUNTER(REQUEUED_UNISSUED);
	if (!(d->seen & SEEN(ISSUE)))
		unknown |= COUNTER(ISSUED) | COUNTER(BYTES_ISSUED) |
			   COUNTER(SEQUENTIAL) | COUNTER(STREAM) |
			   COUNTER(SEEK_FORWARD_SECTORS) |
			   COUNTER(SEEK_BACKWARD_SECTORS) | COUNTER(REQUEUED) |
			   COUNTER(REQUEUED_UNISSUED);
	if (!(d->seen & SEEN(ISSUE)) || !(d->seen & SEEN(INSERT)))
		unknown |= COUNTER(I2D_SUM_NS);
	/* Without all three, and that is where this is. */
	unknown |= COUNTER(Q2C_SUM_NS) | COUNTER(Q2C_UNKNOWN);
	/* What ends and what is in flight takes both. */
	if ((d->seen & (all & ~SEEN(QUEUE))) != (all & ~SEEN(QUEUE)))
		unknown |= COUNTER(COMPLETED) | COUNTER(PARTIAL) |
			   COUNTER(UNMATCHED) | COUNTER(UNISSUED) |
			   COUNTER(ABANDONED) | COUNTER(D2C_SUM_NS) |
			   COUNTER(BYTES_COMPLETED) | COUNTER(IN_FLIGHT) |
			   COUNTER(DEPTH_SUM_NS);
	if (!(d->seen & SEEN(COMPLETE)))
		unknown |= COUNTER(ERRORS);
	return unknown;
}

uint32_t blktrace_device_unknown_disk(const struct blktrace_device *d)
{
	static const uint32_t queue = SEEN(QUEUE) | SEEN(GETRQ) | SEEN(PLUG) |
				      SEEN(UNPLUG) | SEEN(UNPLUG_SLEEP);

	return d->seen & queue ? 0 : RT_DISK_BIT(PLUGS) |
				     RT_DISK_BIT(UNPLUGS_EXPLICIT) |
				     RT_DISK_BIT(UNPLUGS_SCHEDULE);
}
