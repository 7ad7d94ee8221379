/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Requests, or bios, that a trace has begun something with and not yet ended.
 *
 * A trace names a request by nothing but where it begins and how long it is.
 * Of several that look the same the one issued first is taken to end first.
 */

#ifndef IMPORT_INFLIGHT_H
#define IMPORT_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * More cannot be in flight on any machine this is for: 64 disks with 254 tags
 * are 16,256.  Beyond it the oldest is given up, so that a trace without
 * completions needs no more memory than one with.
 */
#ifndef BLKTRACE_IN_FLIGHT	/* fuzzing takes fewer */
#define BLKTRACE_IN_FLIGHT	65536
#endif

/**
 * struct blktrace_request - one request in flight
 * @sector: where what is left of it begins
 * @since_ns: when that began: raidtrace_change.now_ns of its issue, or the time
 *	of its insert or, of a bio, its queueing
 * @bytes: left of it
 * @device: index of its device
 * @direction: enum raidtrace_direction when it was issued
 * @depth_row: raidtrace_depth_row() of the depth of all that its issue found
 * @write: as in struct blktrace_event, when it was issued
 * @preflush: likewise, of a bio
 * @fua: likewise, of a bio
 */
struct blktrace_request {
	uint64_t sector;
	uint64_t since_ns;
	uint32_t bytes;
	uint16_t device;
	uint8_t direction;
	uint8_t depth_row;
	bool write;
	bool preflush;
	bool fua;
};

struct blktrace_inflight;

/* blktrace_inflight_new - an empty one, NULL without memory */
struct blktrace_inflight *blktrace_inflight_new(void);
void blktrace_inflight_free(struct blktrace_inflight *inflight);

/**
 * blktrace_inflight_add - a request is issued
 * @inflight: what is in flight
 * @request: the request
 * @given_up: filled in with the one that had to make room
 *
 * Return: whether one had to.
 */
bool blktrace_inflight_add(struct blktrace_inflight *inflight,
			   const struct blktrace_request *request,
			   struct blktrace_request *given_up);

/**
 * blktrace_inflight_end - take out a request, or a part of it
 * @inflight: what is in flight
 * @like: sector, bytes, device, direction and write of what ends
 * @partial: allow a request that is longer: of that @like ends the beginning
 * @ret: the request as it was before
 *
 * A request that is as long as @like goes before one that is longer.
 *
 * Return: 0 when none is in flight; 1 when it ended; 2 when a part of it did
 * and the rest stays in flight.
 */
int blktrace_inflight_end(struct blktrace_inflight *inflight,
			  const struct blktrace_request *like, bool partial,
			  struct blktrace_request *ret);

/**
 * blktrace_inflight_take - take out what begins at a place
 * @inflight: what is in flight
 * @like: sector, device, direction and write of it; it is no longer than bytes
 * @ret: it
 *
 * Return: whether there is one; of several the oldest.
 */
bool blktrace_inflight_take(struct blktrace_inflight *inflight,
			    const struct blktrace_request *like,
			    struct blktrace_request *ret);

#endif
