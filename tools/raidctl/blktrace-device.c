// SPDX-License-Identifier: GPL-2.0-or-later

/* One disk of a blktrace trace: its events into an account. */

#include "blktrace-device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account-bio.h"
#include "account-request.h"

#define SECTOR_SIZE	512

struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index,
					    uint64_t start_ns)
{
	struct blktrace_device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->device = device;
	d->index = index;
	raidtrace_arrival_start(&d->arrival, BLKTRACE_GROUPS,
				RAIDTRACE_STREAMS_DEFAULT);
	raidtrace_queue_start(&d->state, BLKTRACE_GROUPS,
			      RAIDTRACE_STREAMS_DEFAULT, start_ns);
	return d;
}

void blktrace_device_free(struct blktrace_device *d)
{
	if (!d)
		return;
	free(d->sequences);
	free(d);
}

/*
 * Numbers of lost events are left out by kernels from 7.x on; older ones give
 * them to the next event that finds room.  A number that falls begins anew:
 * the disk was traced a second time.
 */
static int follow_sequence(struct blktrace_device *d,
			   const struct blktrace_event *event)
{
	uint32_t *last;

	if (event->cpu >= d->nr_sequences) {
		size_t nr = event->cpu + 1U;
		uint32_t *more = reallocarray(d->sequences, nr, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + d->nr_sequences, 0,
		       (nr - d->nr_sequences) * sizeof(*more));
		d->sequences = more;
		d->nr_sequences = nr;
	}
	last = &d->sequences[event->cpu];
	if (*last && event->sequence > *last)
		d->missing += event->sequence - *last - 1;
	*last = event->sequence;
	return 0;
}

static void on_bio(struct blktrace_device *d, const struct blktrace_event *e,
		   enum raidtrace_queue_counter counter)
{
	d->queued[e->direction][counter]++;
	if (counter == RAIDTRACE_GOT && e->write &&
	    e->direction == RAIDTRACE_DIRECTION_FLUSH)
		d->empty_flushes++;
}

static void on_queue(struct blktrace_device *d, const struct blktrace_event *e)
{
	struct raidtrace_bio bio = {
		.direction = e->direction,
		.class = RAIDTRACE_CLASS_OTHER,
		.sector = e->sector,
		.bytes = e->bytes,
		.submitter = RAIDTRACE_SUBMITTER_REST,
	};

	raidtrace_count_bio(&d->arrival, &d->account, &bio);
}

static struct blktrace_request request_of(const struct blktrace_device *d,
					  const struct blktrace_event *e)
{
	return (struct blktrace_request){
		.sector = e->sector,
		.bytes = e->bytes,
		.device = d->index,
		.direction = e->direction,
		.write = e->write,
	};
}

/* A request whose end the trace seems not to have. */
static void give_up(struct blktrace_device *d, uint64_t now_ns,
		    const struct blktrace_request *request)
{
	raidtrace_count_abandon(&d->state, &d->account,
				raidtrace_queue_time(&d->state, now_ns),
				request->direction);
	d->given_up++;
}

static void on_issue(struct blktrace_device *d, struct blktrace_inflight *map,
		     struct blktrace_device *const *others,
		     const struct blktrace_event *e)
{
	struct blktrace_request request = request_of(d, e), given_up;
	struct raidtrace_issue issue = {
		.direction = e->direction,
		.class = RAIDTRACE_CLASS_OTHER,
		.sector = e->sector,
		.bytes = e->bytes,
	};

	request.issued_ns = raidtrace_queue_time(&d->state, e->time_ns);
	request.depth_row = raidtrace_depth_row(
		d->state.in_flight[RAIDTRACE_DIRECTION_ALL]);
	raidtrace_count_issue(&d->state, &d->account, request.issued_ns, &issue);
	if (blktrace_inflight_add(map, &request, &given_up))
		give_up(others[given_up.device], e->time_ns, &given_up);
}

static void on_requeue(struct blktrace_device *d, struct blktrace_inflight *map,
		       const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), request;

	if (!blktrace_inflight_end(map, &like, false, &request)) {
		d->account.flow[e->direction].requeued_unissued++;
		return;
	}
	raidtrace_count_requeue(&d->state, &d->account,
				raidtrace_queue_time(&d->state, e->time_ns),
				request.direction);
}

/*
 * The end of a request that no issue was seen of.  A write without data left
 * is either an empty flush, which ends without ever being issued, or the end
 * of a flush sequence whose data ended before it; only the first counts.
 */
static void on_unknown(struct blktrace_device *d, const struct blktrace_event *e)
{
	if (e->direction == RAIDTRACE_DIRECTION_FLUSH && e->write) {
		if (e->sector || !d->empty_flushes) {
			d->account.flow[RAIDTRACE_DIRECTION_WRITE].errors +=
				e->error;
			return;
		}
		d->empty_flushes--;
		d->account.flow[e->direction].errors += e->error;
		d->account.flow[e->direction].unissued++;
		return;
	}
	/* 7.x reports where a zone append went as a completion of its own. */
	if (e->zone_append)
		return;
	d->account.flow[e->direction].errors += e->error;
	d->account.flow[e->direction].unmatched++;
}

static void complete(struct blktrace_device *d, const struct blktrace_event *e,
		     const struct blktrace_request *request)
{
	uint64_t now_ns = raidtrace_queue_time(&d->state, e->time_ns);
	struct raidtrace_completion completion = {
		.direction = request->direction,
		.bytes = e->bytes,
		.error = e->error,
		.d2c_ns = now_ns - request->issued_ns,
		.depth_row = request->depth_row,
	};

	raidtrace_count_completion(&d->state, &d->account, now_ns, &completion);
}

static void on_complete(struct blktrace_device *d,
			struct blktrace_inflight *map,
			const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), request;
	struct raidtrace_flow *flow;

	switch (blktrace_inflight_end(map, &like, true, &request)) {
	case 0:
		on_unknown(d, e);
		return;
	case 1:
		complete(d, e, &request);
		return;
	}
	flow = &d->account.flow[request.direction];
	flow->partial++;
	flow->errors += e->error;
	flow->bytes_completed += e->bytes;
}

int blktrace_device_event(struct blktrace_device *d,
			  struct blktrace_inflight *inflight,
			  struct blktrace_device *const *others,
			  const struct blktrace_event *event)
{
	static const uint8_t counters[] = {
		[BLKTRACE_GETRQ] = RAIDTRACE_GOT,
		[BLKTRACE_BACK_MERGE] = RAIDTRACE_BACK_MERGES,
		[BLKTRACE_FRONT_MERGE] = RAIDTRACE_FRONT_MERGES,
		[BLKTRACE_REQUEST_MERGE] = RAIDTRACE_REQUEST_MERGES,
		[BLKTRACE_SPLIT] = RAIDTRACE_SPLITS,
		[BLKTRACE_INSERT] = RAIDTRACE_INSERTED,
	};

	d->events++;
	d->seen |= 1U << event->what;
	switch (event->what) {
	case BLKTRACE_NOTE:
	case BLKTRACE_OTHER:
		break;
	case BLKTRACE_QUEUE:
		on_queue(d, event);
		break;
	case BLKTRACE_ISSUE:
		on_issue(d, inflight, others, event);
		break;
	case BLKTRACE_REQUEUE:
		on_requeue(d, inflight, event);
		break;
	case BLKTRACE_COMPLETE:
		on_complete(d, inflight, event);
		break;
	default:
		on_bio(d, event, counters[event->what]);
	}
	return follow_sequence(d, event);
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
	};
}

static struct rt_histogram view(const struct raidtrace_account *account,
				unsigned int kind, unsigned int direction)
{
	const uint64_t *bins = raidtrace_account_bins(account, kind, direction);

	return rt_histogram_view(bins, bins ? raidtrace_hist_bins(kind) : 0);
}

static void fill_span(const struct blktrace_device *d,
		      const struct raidtrace_account *account,
		      const uint64_t (*queued)[RAIDTRACE_QUEUE_COUNTERS],
		      struct rt_counters *span)
{
	memset(span, 0, sizeof(*span));
	span->groups = BLKTRACE_GROUPS;
	span->disk.unknown = RT_DISK_BIT(STREAMS_ALIVE) - 1;
	span->disk.streams_alive = raidtrace_streams_alive(&d->state.streams);
	span->disk.streams_alive_queued = raidtrace_streams_alive(&d->arrival.streams);
	for (unsigned int i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		fill_flow(&span->flow[i], &account->flow[i], queued[i]);
	for (unsigned int i = 0; i < RT_DIRECTIONS; i++) {
		span->flow[i].in_flight = d->state.in_flight[i];
		span->flow[i].in_flight_max = d->state.in_flight_max[i];
		for (unsigned int k = 0; k < RT_KINDS; k++)
			span->histogram[i][k] = view(account, k, i);
	}
}

void blktrace_device_sample(struct blktrace_device *d, uint64_t start_ns,
			    uint64_t end_ns, struct rt_counters *span)
{
	struct raidtrace_settled settled;

	raidtrace_queue_settle(&d->state, end_ns, &settled);
	raidtrace_account_settle(&d->account, &settled);
	fill_span(d, &d->account, (const uint64_t (*)[RAIDTRACE_QUEUE_COUNTERS])d->queued, span);
	span->since_ns = start_ns;
	span->now_ns = end_ns;
}

void blktrace_device_begin(struct blktrace_device *d)
{
	raidtrace_account_add(&d->total, &d->account);
	for (unsigned int i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		for (unsigned int c = 0; c < RAIDTRACE_QUEUE_COUNTERS; c++)
			d->total_queued[i][c] += d->queued[i][c];
	memset(&d->account, 0, sizeof(d->account));
	memset(d->queued, 0, sizeof(d->queued));
}

void blktrace_device_total(struct blktrace_device *d, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span)
{
	fill_span(d, &d->total, (const uint64_t (*)[RAIDTRACE_QUEUE_COUNTERS])d->total_queued, span);
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
	/* No trace is followed from queue or insert to completion. */
	uint64_t unknown = COUNTER(I2D_SUM_NS) | COUNTER(Q2C_SUM_NS) |
			   COUNTER(Q2C_UNKNOWN) | COUNTER(AHEAD_QUEUED) |
			   COUNTER(BYTES_AHEAD_QUEUED);

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
			   COUNTER(INSERTED);
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
	/* What ends and what is in flight takes both. */
	if ((d->seen & (all & ~SEEN(QUEUE))) != (all & ~SEEN(QUEUE)))
		unknown |= COUNTER(COMPLETED) | COUNTER(PARTIAL) |
			   COUNTER(UNMATCHED) | COUNTER(UNISSUED) |
			   COUNTER(ABANDONED) | COUNTER(D2C_SUM_NS) |
			   COUNTER(BYTES_COMPLETED) | COUNTER(IN_FLIGHT);
	if (!(d->seen & SEEN(COMPLETE)))
		unknown |= COUNTER(ERRORS);
	return unknown;
}
