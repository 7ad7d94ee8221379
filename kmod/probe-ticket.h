/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was decided when a bio was queued, kept until it completes.
 *
 * A request does not say when its bios were queued, nor what for. Each bio gets
 * a ticket in a table of a fixed size; a bio that finds no room has none, and
 * what depends on it is counted as not known.
 */
#ifndef RAIDTRACE_PROBE_TICKET_H
#define RAIDTRACE_PROBE_TICKET_H

#include <linux/blk_types.h>

#include "histogram.h"

/**
 * struct raidtrace_ticket - one bio
 * @bio: whose it is, NULL for none. Only compared, never dereferenced
 * @noted: when it was queued, its direction and class
 */
struct raidtrace_ticket {
	const void *bio;
	u64 noted;
};

/* Tickets of a bucket fill a cache line; a bio's is in one of two buckets. */
#define RAIDTRACE_TICKET_WAYS		4
#define RAIDTRACE_TICKET_BUCKET_BITS	12
#define RAIDTRACE_TICKETS	(RAIDTRACE_TICKET_WAYS << RAIDTRACE_TICKET_BUCKET_BITS)

#define RAIDTRACE_TICKET_CLASS_BITS	3
#define RAIDTRACE_TICKET_DIRECTION_BITS	3
#define RAIDTRACE_TICKET_TIME \
	(RAIDTRACE_TICKET_CLASS_BITS + RAIDTRACE_TICKET_DIRECTION_BITS)

static inline u64 raidtrace_ticket_note(u64 now_ns, enum raidtrace_direction direction,
					enum raidtrace_class class)
{
	return now_ns << RAIDTRACE_TICKET_TIME |
	       (u64)direction << RAIDTRACE_TICKET_CLASS_BITS | class;
}

static inline enum raidtrace_class raidtrace_ticket_class(u64 noted)
{
	return noted & ((1 << RAIDTRACE_TICKET_CLASS_BITS) - 1);
}

static inline enum raidtrace_direction raidtrace_ticket_direction(u64 noted)
{
	return noted >> RAIDTRACE_TICKET_CLASS_BITS & ((1 << RAIDTRACE_TICKET_DIRECTION_BITS) - 1);
}

static inline u64 raidtrace_ticket_queued_ns(u64 noted)
{
	return noted >> RAIDTRACE_TICKET_TIME;
}

struct raidtrace_ticket *raidtrace_tickets_alloc(void);
void raidtrace_ticket_put(struct raidtrace_ticket *tickets, const void *bio, u64 noted);
struct raidtrace_ticket *raidtrace_ticket_find(struct raidtrace_ticket *tickets, const void *bio);

/* The bio is done; another may have the ticket. */
static inline void raidtrace_ticket_free(struct raidtrace_ticket *ticket)
{
	/* What it said was read before. */
	smp_store_release(&ticket->bio, NULL);
}

#endif /* RAIDTRACE_PROBE_TICKET_H */
