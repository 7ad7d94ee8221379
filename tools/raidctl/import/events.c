// SPDX-License-Identifier: GPL-2.0-or-later

/* Count the events of one disk of a blktrace trace. */

#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account-events.h"

#define SECTOR_SIZE	512

/*
 * From 7.x on, kernels skip the numbers of lost events; older ones give them to the next event that finds room. If a
 * number decreases, counting has started again: the disk was traced a second time.
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

static struct blktrace_request request_of(const struct blktrace_device *d,
					  const struct blktrace_event *e)
{
	return (struct blktrace_request){
		.sector = e->sector,
		.since_ns = e->time_ns,
		.bytes = e->bytes,
		.device = d->index,
		.direction = e->direction,
		.write = e->write,
		.preflush = e->preflush,
		.fua = e->fua,
	};
}

static void on_bio(struct blktrace_device *d, const struct blktrace_event *e,
		   enum raidtrace_event_counter counter)
{
	raidtrace_count_event(&d->account, e->direction, counter, 0);
	if (counter == RAIDTRACE_GOT && e->write &&
	    e->direction == RAIDTRACE_DIRECTION_FLUSH)
		d->empty_flushes++;
}

static void on_queue(struct blktrace_device *d, struct blktrace_pending *p,
		     const struct blktrace_event *e)
{
	struct raidtrace_bio bio = {
		.direction = e->direction,
		.class = RAIDTRACE_CLASS_OTHER,
		.queued_ns = e->time_ns,
		.sector = e->sector,
		.bytes = e->bytes,
		.submitter = RAIDTRACE_SUBMITTER_REST,
		.ahead = e->ahead,
	};
	struct blktrace_request waits = request_of(d, e), given_up;

	raidtrace_count_bio(&d->arrival, &d->account, d->state.groups, &bio);
	blktrace_inflight_add(p->bios, &waits, &given_up);
}

/* Count a request without a completion in the trace. */
static void give_up(struct blktrace_device *d, uint64_t now_ns,
		    const struct blktrace_request *request)
{
	raidtrace_count_abandon(&d->state, &d->account,
				raidtrace_queue_time(&d->state, now_ns),
				request->direction);
	d->given_up++;
}

static void on_issue(struct blktrace_device *d, struct blktrace_pending *p,
		     struct blktrace_device *const *others,
		     const struct blktrace_event *e)
{
	struct blktrace_request request = request_of(d, e), given_up;
	struct raidtrace_issue issue = {
		.direction = e->direction,
		.class = RAIDTRACE_CLASS_OTHER,
		.sector = e->sector,
		.bytes = e->bytes,
		.place = d->place.sectors ?
			raidtrace_place_bin(&d->place, e->sector) : 0,
		.again = blktrace_inflight_end(p->requeued, &request, false,
					       &given_up),
	};
	uint64_t now_ns = raidtrace_queue_time(&d->state, e->time_ns);
	uint64_t inserted_ns;

	if (blktrace_pending_uninsert(p, &request, &inserted_ns))
		raidtrace_count_i2d(&d->account, e->direction,
				    now_ns - inserted_ns);
	request.since_ns = now_ns;
	request.depth_row = raidtrace_depth_row(d->state.in_flight[RAIDTRACE_DIRECTION_ALL]);
	raidtrace_count_issue(&d->state, &d->account, d->state.groups, now_ns, &issue);
	if (blktrace_inflight_add(p->issued, &request, &given_up))
		give_up(others[given_up.device], e->time_ns, &given_up);
}

static void on_requeue(struct blktrace_device *d, struct blktrace_pending *p,
		       const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), request, given_up;

	if (!blktrace_inflight_end(p->issued, &like, false, &request)) {
		d->account.flow[e->direction].requeued_unissued++;
		return;
	}
	raidtrace_count_requeue(&d->state, &d->account,
				raidtrace_queue_time(&d->state, e->time_ns),
				request.direction);
	/* If another request is dropped for it, that one counts as new when it is issued again. */
	blktrace_inflight_add(p->requeued, &request, &given_up);
}

/*
 * Count the completion of a request without an observed issue. A write without data left is either an empty flush,
 * which completes without being issued, or the end of a flush sequence after its data. Only the first counts.
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
	/* 7.x reports the sector of a zone append as a completion of its own. */
	if (e->zone_append)
		return;
	d->account.flow[e->direction].errors += e->error;
	d->account.flow[e->direction].unmatched++;
}

static void end_bio(struct blktrace_device *d, const struct blktrace_event *e,
		    const struct blktrace_request *bio)
{
	raidtrace_count_q2c(&d->account, bio->direction,
			    e->time_ns - bio->since_ns);
}

/* The second completion of a write with a flush after its data, or of a flush without data. */
static void end_flush(struct blktrace_device *d, struct blktrace_pending *p,
		      const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), bio;

	if (blktrace_pending_flushed(p, &like, &bio) ||
	    blktrace_inflight_take(p->bios, &like, &bio))
		end_bio(d, e, &bio);
	else if (!e->sector)
		d->account.flow[e->direction].q2c_unknown++;
}

/*
 * End the bios of a completion. If the block layer executes a write as a sequence of flush, data and flush, it removes
 * the flags from the data request. The bio then completes with the sequence, which is another completion.
 */
static void end_bios(struct blktrace_device *d, struct blktrace_pending *p,
		     const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), bio;

	/* A zone append does not complete at the sector that its bio was queued for. */
	if (e->direction == RAIDTRACE_DIRECTION_PASSTHROUGH || e->zone_append)
		return;
	if (e->direction == RAIDTRACE_DIRECTION_FLUSH) {
		if (e->write)
			end_flush(d, p, e);
		return;
	}
	do {
		if (!blktrace_inflight_take(p->bios, &like, &bio)) {
			d->account.flow[e->direction].q2c_unknown++;
			return;
		}
		if (bio.preflush || (bio.fua && !e->fua))
			blktrace_pending_flush(p, &bio);
		else
			end_bio(d, e, &bio);
		like.sector += bio.bytes / SECTOR_SIZE;
		like.bytes -= bio.bytes;
	} while (like.bytes && bio.bytes);
}

/* A bio that completes without a request was refused. */
static void on_bio_complete(struct blktrace_device *d,
			    struct blktrace_pending *p,
			    const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), bio;

	if (blktrace_inflight_end(p->bios, &like, false, &bio))
		end_bio(d, e, &bio);
}

static void on_insert(struct blktrace_device *d, struct blktrace_pending *p,
		      const struct blktrace_event *e)
{
	struct blktrace_request request = request_of(d, e);

	blktrace_pending_insert(p, &request);
}

/* A bio that is merged into a request, or a request into another. */
static void on_merge(struct blktrace_device *d, struct blktrace_pending *p,
		     const struct blktrace_event *e)
{
	struct blktrace_request part = request_of(d, e);
	uint64_t inserted_ns;

	if (e->what == BLKTRACE_REQUEST_MERGE)
		blktrace_pending_uninsert(p, &part, &inserted_ns);
	blktrace_pending_grow(p, &part, e->what == BLKTRACE_FRONT_MERGE);
}

static void on_unplug(struct blktrace_device *d, const struct blktrace_event *e)
{
	unsigned int counter = e->what == BLKTRACE_UNPLUG ?
		RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE;

	raidtrace_count_event(&d->account, e->direction, counter, e->bytes);
}

static void complete(struct blktrace_device *d, const struct blktrace_event *e,
		     const struct blktrace_request *request)
{
	uint64_t now_ns = raidtrace_queue_time(&d->state, e->time_ns);
	struct raidtrace_completion completion = {
		.direction = request->direction,
		.bytes = e->bytes,
		.error = e->error,
		.d2c_ns = now_ns - request->since_ns,
		.depth_row = request->depth_row,
	};

	if (completion.d2c_ns > d->longest_ns)
		d->longest_ns = completion.d2c_ns;
	raidtrace_count_completion(&d->state, &d->account, d->state.groups, now_ns, &completion);
}

static void on_complete(struct blktrace_device *d,
			struct blktrace_pending *p,
			const struct blktrace_event *e)
{
	struct blktrace_request like = request_of(d, e), request;
	struct raidtrace_flow *flow;

	switch (blktrace_inflight_end(p->issued, &like, true, &request)) {
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

/* Handle events before the issue. Most of them are only counted. */
static void on_before(struct blktrace_device *d, struct blktrace_pending *p,
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
	struct blktrace_request part = request_of(d, event);

	on_bio(d, event, counters[event->what]);
	if (event->what == BLKTRACE_INSERT)
		on_insert(d, p, event);
	else if (event->what == BLKTRACE_SPLIT)
		blktrace_pending_split(p, &part);
	else if (event->what != BLKTRACE_GETRQ)
		on_merge(d, p, event);
}

int blktrace_device_event(struct blktrace_device *d,
			  struct blktrace_pending *pending,
			  struct blktrace_device *const *others,
			  const struct blktrace_event *event)
{
	d->events++;
	d->observed |= 1U << event->what;
	switch (event->what) {
	case BLKTRACE_NOTE:
	case BLKTRACE_OTHER:
		break;
	case BLKTRACE_QUEUE:
		on_queue(d, pending, event);
		break;
	case BLKTRACE_ISSUE:
		on_issue(d, pending, others, event);
		break;
	case BLKTRACE_REQUEUE:
		on_requeue(d, pending, event);
		break;
	case BLKTRACE_COMPLETE:
		on_complete(d, pending, event);
		end_bios(d, pending, event);
		break;
	case BLKTRACE_BIO_COMPLETE:
		on_bio_complete(d, pending, event);
		break;
	case BLKTRACE_PLUG:
		d->account.disk.plugs++;
		break;
	case BLKTRACE_UNPLUG:
	case BLKTRACE_UNPLUG_SLEEP:
		on_unplug(d, event);
		break;
	default:
		on_before(d, pending, event);
	}
	return follow_sequence(d, event);
}
