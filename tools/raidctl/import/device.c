// SPDX-License-Identifier: GPL-2.0-or-later

/* The account of one disk of a blktrace trace. */

#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account-events.h"

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
	raidtrace_position_start(&d->arrival, RAIDTRACE_STREAMS_DEFAULT);
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

/* Events that a trace must have for a counter to be known, unless it has all events. */
enum need {
	QUEUEING,	/* events between queue and insert: blktrace records all of these or none */
	SPLITTING,
	ISSUING,
	REQUEUEING,
	INSERT_TO_ISSUE,
	ISSUE_TO_END,
	ENDING,
	ALL,
};

/*
 * Each counter that a trace can have, and its need. A counter that is not listed is not available, such as refused: the
 * events of a refused bio are those of any other bio.
 */
#define KNOWN_COUNTERS(COUNTER)						\
	COUNTER(queued, QUEUED, QUEUEING)				\
	COUNTER(bytes_queued, BYTES_QUEUED, QUEUEING)			\
	COUNTER(ahead_queued, AHEAD_QUEUED, QUEUEING)			\
	COUNTER(bytes_ahead_queued, BYTES_AHEAD_QUEUED, QUEUEING)	\
	COUNTER(sequential_queued, SEQUENTIAL_QUEUED, QUEUEING)		\
	COUNTER(seek_queued_forward_sectors, SEEK_QUEUED_FORWARD_SECTORS, QUEUEING) \
	COUNTER(seek_queued_backward_sectors, SEEK_QUEUED_BACKWARD_SECTORS, QUEUEING) \
	COUNTER(stream_queued, STREAM_QUEUED, QUEUEING)			\
	COUNTER(got, GOT, QUEUEING)					\
	COUNTER(back_merges, BACK_MERGES, QUEUEING)			\
	COUNTER(front_merges, FRONT_MERGES, QUEUEING)			\
	COUNTER(request_merges, REQUEST_MERGES, QUEUEING)		\
	COUNTER(inserted, INSERTED, QUEUEING)				\
	COUNTER(splits, SPLITS, SPLITTING)				\
	COUNTER(issued, ISSUED, ISSUING)				\
	COUNTER(bytes_issued, BYTES_ISSUED, ISSUING)			\
	COUNTER(sequential, SEQUENTIAL, ISSUING)			\
	COUNTER(seek_forward_sectors, SEEK_FORWARD_SECTORS, ISSUING)	\
	COUNTER(seek_backward_sectors, SEEK_BACKWARD_SECTORS, ISSUING)	\
	COUNTER(stream, STREAM, ISSUING)				\
	COUNTER(reissued, REISSUED, REQUEUEING)				\
	COUNTER(requeued, REQUEUED, REQUEUEING)				\
	COUNTER(requeued_unissued, REQUEUED_UNISSUED, REQUEUEING)	\
	COUNTER(i2d_sum_ns, I2D_SUM_NS, INSERT_TO_ISSUE)		\
	COUNTER(completed, COMPLETED, ISSUE_TO_END)			\
	COUNTER(bytes_completed, BYTES_COMPLETED, ISSUE_TO_END)		\
	COUNTER(partial, PARTIAL, ISSUE_TO_END)				\
	COUNTER(unmatched, UNMATCHED, ISSUE_TO_END)			\
	COUNTER(unissued, UNISSUED, ISSUE_TO_END)			\
	COUNTER(abandoned, ABANDONED, ISSUE_TO_END)			\
	COUNTER(d2c_sum_ns, D2C_SUM_NS, ISSUE_TO_END)			\
	COUNTER(errors, ERRORS, ENDING)					\
	COUNTER(q2c_sum_ns, Q2C_SUM_NS, ALL)				\
	COUNTER(q2c_unknown, Q2C_UNKNOWN, ALL)

static void fill_flow(struct rt_flow *to, const struct raidtrace_flow *flow)
{
	*to = (struct rt_flow){
#define COUNTER(member, attribute, need)	.member = flow->member,
		KNOWN_COUNTERS(COUNTER)
#undef COUNTER
	};
}

static struct rt_histogram view(const struct raidtrace_account *account,
				unsigned int kind, unsigned int direction)
{
	const uint64_t *bins = raidtrace_account_bins(account, kind, direction);

	return rt_histogram_view(bins, bins ? raidtrace_hist_bins(kind) : 0);
}

/* Counters without a direction. A trace has no readahead windows and no waits for tags. */
static void fill_disk(const struct blktrace_device *d,
		      const struct raidtrace_account *account,
		      struct rt_counters *span)
{
	span->disk.unknown = RT_DISK_BIT(TAG_WAITS) |
			     RT_DISK_BIT(RA_SYNC_SECTORS) |
			     RT_DISK_BIT(RA_ASYNC_SECTORS) |
			     RT_DISK_BIT(STREAMS_FORGOTTEN) |
			     RT_DISK_BIT(STREAMS_FORGOTTEN_QUEUED);
	span->disk.plugs = account->disk.plugs;
	span->disk.unplugs_explicit =
		account->disk.unplugs_explicit;
	span->disk.unplugs_schedule =
		account->disk.unplugs_schedule;
	span->disk.streams_alive =
		raidtrace_streams_alive(&d->state.position.streams, d->state.last_ns);
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
		fill_flow(&span->flow[i], &account->flow[i]);
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
	raidtrace_account_move(&d->total, &d->account, NULL, 0);
}

void blktrace_device_total(struct blktrace_device *d, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span)
{
	fill_span(d, &d->total, span);
	span->since_ns = start_ns;
	span->now_ns = end_ns;
}

#define OBSERVED(what)	(1U << BLKTRACE_##what)
#define COMPLETE_TRACE	(OBSERVED(QUEUE) | OBSERVED(ISSUE) | OBSERVED(COMPLETE))

static bool has(const struct blktrace_device *d, enum need need)
{
	static const uint32_t events[] = {
		[SPLITTING] = OBSERVED(SPLIT),
		[ISSUING] = OBSERVED(ISSUE),
		[REQUEUEING] = OBSERVED(ISSUE) | OBSERVED(REQUEUE),
		[INSERT_TO_ISSUE] = OBSERVED(INSERT) | OBSERVED(ISSUE),
		[ISSUE_TO_END] = OBSERVED(ISSUE) | OBSERVED(COMPLETE),
		[ENDING] = OBSERVED(COMPLETE),
		[ALL] = COMPLETE_TRACE,
	};
	static const uint32_t queueing = OBSERVED(QUEUE) | OBSERVED(GETRQ) | OBSERVED(INSERT) |
					 OBSERVED(BACK_MERGE) | OBSERVED(FRONT_MERGE) |
					 OBSERVED(REQUEST_MERGE);

	if ((d->observed & COMPLETE_TRACE) == COMPLETE_TRACE)
		return true;
	return need == QUEUEING ? d->observed & queueing : (d->observed & events[need]) == events[need];
}

uint64_t blktrace_device_unknown(const struct blktrace_device *d)
{
	uint64_t all = RT_COUNTER_BIT(IN_FLIGHT), known = 0;

#define X(member, attribute, ...) all |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
#define COUNTER(member, attribute, need) known |= has(d, need) ? RT_COUNTER_BIT(attribute) : 0;
	KNOWN_COUNTERS(COUNTER)
	if (!d->lost) { /* else they would be in flight until the end */
		COUNTER(in_flight, IN_FLIGHT, ISSUE_TO_END)
		COUNTER(depth_sum_ns, DEPTH_SUM_NS, ISSUE_TO_END)
	}
#undef COUNTER
	return all & ~known;
}

uint32_t blktrace_device_unknown_disk(const struct blktrace_device *d)
{
	static const uint32_t queue = OBSERVED(QUEUE) | OBSERVED(GETRQ) | OBSERVED(PLUG) |
				      OBSERVED(UNPLUG) | OBSERVED(UNPLUG_SLEEP);

	return d->observed & queue ? 0 : RT_DISK_BIT(PLUGS) |
				     RT_DISK_BIT(UNPLUGS_EXPLICIT) |
				     RT_DISK_BIT(UNPLUGS_SCHEDULE);
}
