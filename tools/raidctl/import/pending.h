/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a trace has begun and not yet ended: bios queued, requests inserted,
 * requests issued.
 *
 * The module knows a bio by its address and a request by its tag; a trace has
 * nothing but places.  So an inserted request is followed as it grows by
 * merges, and the bios of a request that completes are those that lie, one
 * behind the other, where it does.
 */

#ifndef IMPORT_PENDING_H
#define IMPORT_PENDING_H

#include <stddef.h>

#include "import/inflight.h"

/* Most writes at a time with completed data and a pending flush. */
#define BLKTRACE_FLUSHING	64

/**
 * struct blktrace_pending - of all disks of a trace
 * @issued: requests with the driver
 * @requeued: requests that the driver gave back
 * @inserted: requests with the scheduler
 * @ends: the same, with the sector behind each
 * @bios: queued, in pieces after a split
 * @flushing: bios of requests that complete once more
 * @nr_flushing: how many
 */
struct blktrace_pending {
	struct blktrace_inflight *issued;
	struct blktrace_inflight *requeued;
	struct blktrace_inflight *inserted;
	struct blktrace_inflight *ends;
	struct blktrace_inflight *bios;
	struct blktrace_request flushing[BLKTRACE_FLUSHING];
	size_t nr_flushing;
};

/**
 * blktrace_pending_new - nothing begun
 * @ret: to be given to blktrace_pending_free(), also after a failure
 *
 * Return: 0 or -ENOMEM.
 */
int blktrace_pending_new(struct blktrace_pending *ret);
void blktrace_pending_free(struct blktrace_pending *pending);

/* blktrace_pending_insert - a request, since_ns is now */
void blktrace_pending_insert(struct blktrace_pending *pending,
			     const struct blktrace_request *request);

/**
 * blktrace_pending_grow - something is merged into a request
 * @pending: what is begun
 * @part: what is merged
 * @front: it goes before the request; else behind it
 *
 * One that is not inserted yet is not followed: its insert has all of it.
 */
void blktrace_pending_grow(struct blktrace_pending *pending,
			   const struct blktrace_request *part, bool front);

/**
 * blktrace_pending_uninsert - a request is issued, or merged into another
 * @pending: what is begun
 * @like: sector, bytes, device, direction and write of it
 * @inserted_ns: when it was inserted
 *
 * Return: whether it was inserted.
 */
bool blktrace_pending_uninsert(struct blktrace_pending *pending,
			       const struct blktrace_request *like,
			       uint64_t *inserted_ns);

/* blktrace_pending_split - of the bio that begins there @part becomes a piece */
void blktrace_pending_split(struct blktrace_pending *pending,
			    const struct blktrace_request *part);

/* blktrace_pending_flush - a bio's data is written, a flush comes before its end */
void blktrace_pending_flush(struct blktrace_pending *pending,
			    const struct blktrace_request *bio);

/**
 * blktrace_pending_flushed - that flush is done
 * @pending: what is begun
 * @like: device, and the sector of the bio's begin or, from some 6.x on, behind
 *	its end
 * @ret: the bio
 *
 * Return: whether there is one; of several the oldest.
 */
bool blktrace_pending_flushed(struct blktrace_pending *pending,
			      const struct blktrace_request *like,
			      struct blktrace_request *ret);

#endif
