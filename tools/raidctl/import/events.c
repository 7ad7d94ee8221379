// SPDX-License-Identifier: GPL-2.0-or-later

/* The events of one disk of a blktrace trace, as records of the module. */

#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_SIZE	512

/* Address of a bio or a request that the trace did not begin. */
#define NOT_KNOWN	UINT64_MAX

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

/* Room for a record of an event. @class: of a bio, or the counter of an event without state. */
static uint64_t *record(struct blktrace_device *d, const struct blktrace_event *e, enum raidtrace_event kind,
			unsigned int class, uint32_t flags)
{
	uint64_t *to;

	if (d->nr_words > BLKTRACE_WORDS - RAIDTRACE_EVENT_WORDS)
		blktrace_device_count(d);
	to = d->words + d->nr_words;
	d->nr_words += raidtrace_event_words(kind);
	to[0] = e->time_ns;
	if (e->error)
		flags |= RAIDTRACE_EVENT_ERROR;
	to[1] = raidtrace_event_head(kind, e->direction, class, flags, e->bytes);
	return to;
}

static void on_count(struct blktrace_device *d, const struct blktrace_event *e, enum raidtrace_event_counter counter)
{
	record(d, e, RAIDTRACE_EVENT_COUNT, counter, 0);
}

/* An event of a bio, a request, or of @one of them and an other. */
static void on_one(struct blktrace_device *d, const struct blktrace_event *e, enum raidtrace_event kind,
		   uint32_t flags, uint64_t one, uint64_t other)
{
	uint64_t *to = record(d, e, kind, 0, flags);

	to[2] = one;
	if (raidtrace_event_words(kind) > 3)
		to[3] = other;
}

static struct blktrace_item item_of(const struct blktrace_event *e, enum blktrace_stage stage)
{
	return (struct blktrace_item){
		.sector = e->sector,
		.since_ns = e->time_ns,
		.bytes = e->bytes,
		.stage = stage,
		.direction = e->direction,
		.write = e->write,
		.preflush = e->preflush,
		.fua = e->fua,
	};
}

static uint32_t find(const struct blktrace_pool *pool, const struct blktrace_event *e, enum blktrace_stage stage,
		     enum blktrace_fit fit)
{
	struct blktrace_item like = item_of(e, stage);

	return blktrace_pool_find(pool, &like, fit);
}

static uint32_t flags_of(const struct blktrace_event *e)
{
	return (e->ahead ? RAIDTRACE_EVENT_AHEAD : 0) | (e->zone_append ? RAIDTRACE_EVENT_UNPLACED : 0);
}

static void on_queue(struct blktrace_device *d, const struct blktrace_event *e)
{
	struct blktrace_item bio = item_of(e, BLKTRACE_QUEUED), dropped;
	uint64_t *to = record(d, e, RAIDTRACE_EVENT_QUEUE, RAIDTRACE_CLASS_OTHER, flags_of(e));

	to[2] = blktrace_pool_add(d->bios, &bio, &dropped);
	to[3] = e->sector;
}

/* The rest keeps the time of the whole bio. */
static void on_split(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->bios, e, BLKTRACE_QUEUED, BLKTRACE_SAME_OR_MORE);
	struct blktrace_item rest, piece, dropped;

	on_count(d, e, RAIDTRACE_SPLITS);
	if (!place)
		return;
	rest = *blktrace_pool_at(d->bios, place);
	if (rest.bytes == e->bytes)
		return;
	piece = rest;
	piece.bytes = e->bytes;
	rest.sector += e->bytes / SECTOR_SIZE;
	rest.bytes -= e->bytes;
	blktrace_pool_set(d->bios, place, &rest);
	on_one(d, e, RAIDTRACE_EVENT_SPLIT, 0, blktrace_pool_add(d->bios, &piece, &dropped), place);
}

static void on_getrq(struct blktrace_device *d, const struct blktrace_event *e)
{
	on_count(d, e, RAIDTRACE_GOT);
	d->empty_flushes += e->write && e->direction == RAIDTRACE_DIRECTION_FLUSH;
}

/* Bring a request to a stage. Its place in the pool is its address. If that was another's, the engine gives that up. */
static uint32_t bring(struct blktrace_device *d, const struct blktrace_event *e, uint32_t place,
		      enum blktrace_stage stage)
{
	struct blktrace_item request = item_of(e, stage), dropped = { .stage = BLKTRACE_FREE };

	if (place) {
		blktrace_pool_set(d->requests, place, &request);
		return place;
	}
	place = blktrace_pool_add(d->requests, &request, &dropped);
	d->given_up += dropped.stage == BLKTRACE_ISSUED;
	return place;
}

static void on_insert(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->requests, e, BLKTRACE_REQUEUED, BLKTRACE_SAME);

	on_one(d, e, RAIDTRACE_EVENT_INSERT, 0, bring(d, e, place, BLKTRACE_INSERTED), 0);
}

/* Something is merged before or behind an inserted request. One that is not inserted yet is not known. */
static void grow(struct blktrace_device *d, const struct blktrace_event *e)
{
	struct blktrace_item like = item_of(e, BLKTRACE_INSERTED), grown;
	bool front = e->what == BLKTRACE_FRONT_MERGE;
	uint32_t place;

	if (front) {
		like.sector = blktrace_item_end(&like);
		like.bytes = UINT32_MAX;
		place = blktrace_pool_find(d->requests, &like, BLKTRACE_AT_MOST);
	} else {
		place = blktrace_pool_behind(d->requests, &like);
	}
	if (!place)
		return;
	grown = *blktrace_pool_at(d->requests, place);
	if (front)
		grown.sector = e->sector;
	grown.bytes += e->bytes;
	blktrace_pool_set(d->requests, place, &grown);
}

static void on_request_merge(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->requests, e, BLKTRACE_INSERTED, BLKTRACE_SAME);

	on_one(d, e, RAIDTRACE_EVENT_MERGE, 0, place ? place : NOT_KNOWN, 0);
	if (place)
		blktrace_pool_remove(d->requests, place);
	grow(d, e);
}

/* The bios of a request that is issued, which are adjacent from its position. Return: the only one, else 0. */
static uint32_t issue_bios(struct blktrace_device *d, const struct blktrace_event *e, uint32_t request)
{
	struct blktrace_item like = item_of(e, BLKTRACE_QUEUED);
	uint32_t bio;

	while (like.bytes && (bio = blktrace_pool_find(d->bios, &like, BLKTRACE_AT_MOST))) {
		uint32_t bytes = blktrace_pool_at(d->bios, bio)->bytes;

		if (!bytes || bytes == e->bytes)
			return bytes ? bio : 0;
		on_one(d, e, RAIDTRACE_EVENT_ISSUE_BIO, 0, request, bio);
		like.sector += bytes / SECTOR_SIZE;
		like.bytes -= bytes;
	}
	return 0;
}

static void on_issue(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->requests, e, BLKTRACE_INSERTED, BLKTRACE_SAME), bio;
	uint64_t *to;

	if (!place)
		place = find(d->requests, e, BLKTRACE_REQUEUED, BLKTRACE_SAME);
	place = bring(d, e, place, BLKTRACE_ISSUED);
	bio = issue_bios(d, e, place);
	to = record(d, e, RAIDTRACE_EVENT_ISSUE, 0, flags_of(e));
	to[2] = place;
	to[3] = e->sector;
	to[4] = bio;
}

static void on_requeue(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->requests, e, BLKTRACE_ISSUED, BLKTRACE_SAME);

	on_one(d, e, RAIDTRACE_EVENT_REQUEUE, 0, place ? place : NOT_KNOWN, 0);
	if (place)
		bring(d, e, place, BLKTRACE_REQUEUED);
}

/*
 * The completion of a request without an observed issue. A write without data left is either an empty flush, which
 * completes without being issued, or the end of a flush sequence after its data. Only the first counts.
 */
static void on_unknown(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t started = RAIDTRACE_EVENT_STARTED;

	if (e->direction == RAIDTRACE_DIRECTION_FLUSH && e->write) {
		if (e->sector || !d->empty_flushes) {
			d->account.flow[RAIDTRACE_DIRECTION_WRITE].errors += e->error;
			return;
		}
		d->empty_flushes--;
		started = 0;
	} else if (e->zone_append) {
		return; /* 7.x reports its sector as a completion of its own */
	}
	on_one(d, e, RAIDTRACE_EVENT_COMPLETE, started, NOT_KNOWN, 0);
}

static void on_complete(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->requests, e, BLKTRACE_ISSUED, BLKTRACE_SAME_OR_MORE);
	struct blktrace_item rest;
	bool part;

	if (!place) {
		on_unknown(d, e);
		return;
	}
	rest = *blktrace_pool_at(d->requests, place);
	part = rest.bytes > e->bytes;
	on_one(d, e, RAIDTRACE_EVENT_COMPLETE, RAIDTRACE_EVENT_STARTED | (part ? RAIDTRACE_EVENT_PART : 0), place, 0);
	if (part) {
		rest.sector += e->bytes / SECTOR_SIZE;
		rest.bytes -= e->bytes;
		blktrace_pool_set(d->requests, place, &rest);
		return;
	}
	if (e->time_ns - rest.since_ns > d->longest_ns)
		d->longest_ns = e->time_ns - rest.since_ns;
	blktrace_pool_remove(d->requests, place);
}

static void end_bio(struct blktrace_device *d, const struct blktrace_event *e, uint32_t place)
{
	on_one(d, e, RAIDTRACE_EVENT_END, 0, place ? place : NOT_KNOWN, 0);
	if (place)
		blktrace_pool_remove(d->bios, place);
}

/*
 * The second completion of a write with a flush after its data, which has the first sector of the bio or, from some 6.x
 * on, the one behind its end; or the completion of a flush without data.
 */
static void end_flush(struct blktrace_device *d, const struct blktrace_event *e)
{
	struct blktrace_item like = item_of(e, BLKTRACE_FLUSHING);
	const struct blktrace_pool *bios = d->bios;
	uint32_t place, behind;

	like.direction = RAIDTRACE_DIRECTION_WRITE;
	like.bytes = UINT32_MAX;
	place = blktrace_pool_find(bios, &like, BLKTRACE_AT_MOST);
	behind = blktrace_pool_behind(bios, &like);
	if (behind && (!place || blktrace_pool_at(bios, behind)->since_ns < blktrace_pool_at(bios, place)->since_ns))
		place = behind;
	if (!place)
		place = find(bios, e, BLKTRACE_QUEUED, BLKTRACE_AT_MOST);
	if (place || !e->sector)
		end_bio(d, e, place);
}

/*
 * End the bios of a completion, which are adjacent from its position. If the block layer executes a write as a sequence
 * of flush, data and flush, it removes the flags from the data request. The bio then completes with the sequence, which
 * is another completion.
 */
static void end_bios(struct blktrace_device *d, const struct blktrace_event *e)
{
	struct blktrace_item like = item_of(e, BLKTRACE_QUEUED), bio;
	uint32_t place;

	/* A zone append does not complete at the sector that its bio was queued for. */
	if (e->direction == RAIDTRACE_DIRECTION_PASSTHROUGH || e->zone_append)
		return;
	if (e->direction == RAIDTRACE_DIRECTION_FLUSH) {
		if (e->write)
			end_flush(d, e);
		return;
	}
	do {
		place = blktrace_pool_find(d->bios, &like, BLKTRACE_AT_MOST);
		bio = *blktrace_pool_at(d->bios, place);
		if (place && (bio.preflush || (bio.fua && !e->fua))) {
			bio.stage = BLKTRACE_FLUSHING;
			blktrace_pool_set(d->bios, place, &bio);
		} else {
			end_bio(d, e, place);
		}
		like.sector += bio.bytes / SECTOR_SIZE;
		like.bytes -= bio.bytes;
	} while (place && like.bytes && bio.bytes);
}

/* A bio that completes without a request: the disk has none, or it was refused. */
static void on_bio_complete(struct blktrace_device *d, const struct blktrace_event *e)
{
	uint32_t place = find(d->bios, e, BLKTRACE_QUEUED, BLKTRACE_SAME);

	if (place)
		end_bio(d, e, place);
}

int blktrace_device_event(struct blktrace_device *d, const struct blktrace_event *event)
{
	d->events++;
	d->observed |= 1U << event->what;
	switch (event->what) {
	case BLKTRACE_QUEUE:
		on_queue(d, event);
		break;
	case BLKTRACE_GETRQ:
		on_getrq(d, event);
		break;
	case BLKTRACE_BACK_MERGE:
	case BLKTRACE_FRONT_MERGE:
		on_count(d, event, event->what == BLKTRACE_BACK_MERGE ? RAIDTRACE_BACK_MERGES : RAIDTRACE_FRONT_MERGES);
		grow(d, event);
		break;
	case BLKTRACE_REQUEST_MERGE:
		on_request_merge(d, event);
		break;
	case BLKTRACE_SPLIT:
		on_split(d, event);
		break;
	case BLKTRACE_INSERT:
		on_insert(d, event);
		break;
	case BLKTRACE_ISSUE:
		on_issue(d, event);
		break;
	case BLKTRACE_REQUEUE:
		on_requeue(d, event);
		break;
	case BLKTRACE_COMPLETE:
		on_complete(d, event);
		end_bios(d, event);
		break;
	case BLKTRACE_BIO_COMPLETE:
		on_bio_complete(d, event);
		break;
	case BLKTRACE_PLUG:
		on_count(d, event, RAIDTRACE_PLUGS);
		break;
	case BLKTRACE_UNPLUG:
		on_count(d, event, RAIDTRACE_UNPLUGS_EXPLICIT);
		break;
	case BLKTRACE_UNPLUG_SLEEP:
		on_count(d, event, RAIDTRACE_UNPLUGS_SCHEDULE);
		break;
	}
	return follow_sequence(d, event);
}
