// SPDX-License-Identifier: GPL-2.0-or-later

/* Bios and requests that a trace has begun and not ended. */

#include "import/import.h"

#include <errno.h>
#include <string.h>

#define SECTOR_SHIFT	9

int blktrace_pending_new(struct blktrace_pending *p)
{
	memset(p, 0, sizeof(*p));
	p->issued = blktrace_inflight_new();
	p->requeued = blktrace_inflight_new();
	p->inserted = blktrace_inflight_new();
	p->ends = blktrace_inflight_new();
	p->bios = blktrace_inflight_new();
	return p->issued && p->requeued && p->inserted && p->ends && p->bios ?
		       0 : -ENOMEM;
}

void blktrace_pending_free(struct blktrace_pending *p)
{
	blktrace_inflight_free(p->issued);
	blktrace_inflight_free(p->requeued);
	blktrace_inflight_free(p->inserted);
	blktrace_inflight_free(p->ends);
	blktrace_inflight_free(p->bios);
	memset(p, 0, sizeof(*p));
}

static uint64_t end_of(const struct blktrace_request *request)
{
	return request->sector + (request->bytes >> SECTOR_SHIFT);
}

/* A request that is keyed by its end, with its own length, so that it is found exactly. */
static struct blktrace_request by_end(const struct blktrace_request *request)
{
	struct blktrace_request end = *request;

	end.sector = end_of(request);
	return end;
}

void blktrace_pending_insert(struct blktrace_pending *p,
			     const struct blktrace_request *request)
{
	struct blktrace_request end = by_end(request), given_up;

	blktrace_inflight_add(p->inserted, request, &given_up);
	blktrace_inflight_add(p->ends, &end, &given_up);
}

/* Both maps contain the same requests, except where one was dropped. */
static void drop_end(struct blktrace_pending *p,
		     const struct blktrace_request *inserted)
{
	struct blktrace_request end = by_end(inserted), ignored;

	blktrace_inflight_end(p->ends, &end, false, &ignored);
}

static bool take_exact(struct blktrace_pending *p,
		       const struct blktrace_request *like,
		       struct blktrace_request *ret)
{
	if (!blktrace_inflight_end(p->inserted, like, false, ret))
		return false;
	drop_end(p, like);
	return true;
}

/* Remove the inserted request that begins, or ends, at a sector, with any length. */
static bool take_at(struct blktrace_pending *p,
		    const struct blktrace_request *part, bool front,
		    struct blktrace_request *ret)
{
	struct blktrace_request like = *part, end;

	like.bytes = UINT32_MAX;
	if (front) {
		like.sector = end_of(part);
		if (!blktrace_inflight_take(p->inserted, &like, ret))
			return false;
		drop_end(p, ret);
		return true;
	}
	if (!blktrace_inflight_take(p->ends, &like, &end))
		return false;
	like = end;
	like.sector -= end.bytes >> SECTOR_SHIFT;
	return blktrace_inflight_end(p->inserted, &like, false, ret);
}

void blktrace_pending_grow(struct blktrace_pending *p,
			   const struct blktrace_request *part, bool front)
{
	struct blktrace_request request;

	if (!take_at(p, part, front, &request))
		return;
	if (front)
		request.sector = part->sector;
	request.bytes += part->bytes;
	blktrace_pending_insert(p, &request);
}

bool blktrace_pending_uninsert(struct blktrace_pending *p,
			       const struct blktrace_request *like,
			       uint64_t *inserted_ns)
{
	struct blktrace_request request;

	if (!take_exact(p, like, &request))
		return false;
	*inserted_ns = request.since_ns;
	return true;
}

void blktrace_pending_split(struct blktrace_pending *p,
			    const struct blktrace_request *part)
{
	struct blktrace_request whole, piece, given_up;

	/* The rest keeps the time of the whole bio. */
	if (blktrace_inflight_end(p->bios, part, true, &whole) != 2)
		return;
	piece = whole;
	piece.bytes = part->bytes;
	blktrace_inflight_add(p->bios, &piece, &given_up);
}

void blktrace_pending_flush(struct blktrace_pending *p,
			    const struct blktrace_request *bio)
{
	if (p->nr_flushing == BLKTRACE_FLUSHING)
		memmove(p->flushing, p->flushing + 1,
			--p->nr_flushing * sizeof(*p->flushing));
	p->flushing[p->nr_flushing++] = *bio;
}

bool blktrace_pending_flushed(struct blktrace_pending *p,
			      const struct blktrace_request *like,
			      struct blktrace_request *ret)
{
	for (size_t i = 0; i < p->nr_flushing; i++) {
		const struct blktrace_request *bio = &p->flushing[i];

		if (bio->device != like->device ||
		    (like->sector != bio->sector &&
		     like->sector != end_of(bio)))
			continue;
		*ret = *bio;
		p->nr_flushing--;
		memmove(p->flushing + i, p->flushing + i + 1,
			(p->nr_flushing - i) * sizeof(*p->flushing));
		return true;
	}
	return false;
}
