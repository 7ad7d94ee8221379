/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was decided when a bio was queued, kept until it completes.
 *
 * A request does not say when its bios were queued, nor what for. Each bio gets
 * a ticket in a table of a fixed size; a bio that finds no room has none, and
 * what depends on it is counted as not known.
 *
 * Nearly every bio's ticket is at its home, the first place that is looked at.
 * Otherwise it is one of the others of two buckets.
 *
 * Events of one bio come one after the other, and tickets are taken under a
 * lock, so nothing here is a race. A bio that ends without an event leaves its
 * ticket behind, until the next bio at the same address takes it over. Where
 * that one finds its home free and the ticket left behind is not there, the old
 * one stays, and the worst that it can do is to give its time and class to a
 * third bio at that address whose queueing was not seen.
 */
#ifndef RAIDTRACE_PROBE_TICKET_H
#define RAIDTRACE_PROBE_TICKET_H

#include <linux/compiler.h>

#include <asm/barrier.h>

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
#define RAIDTRACE_TICKET_WAYS	4
#define RAIDTRACE_TICKETS	(RAIDTRACE_TICKET_WAYS << 12)
/* Binary logarithm of that. */
#define RAIDTRACE_TICKET_BITS	14

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

struct raidtrace_ticket *raidtrace_ticket_search(struct raidtrace_ticket *tickets,
						 struct raidtrace_ticket *home, const void *bio);

static inline struct raidtrace_ticket *raidtrace_ticket_home(struct raidtrace_ticket *tickets,
							     const void *bio)
{
	u64 hash = (u64)(uintptr_t)bio * 0x9e3779b97f4a7c15ULL;

	return tickets + (hash >> (64 - RAIDTRACE_TICKET_BITS));
}

/* Ticket of a bio; NULL when it has none. */
static inline struct raidtrace_ticket *raidtrace_ticket_find(struct raidtrace_ticket *tickets,
							     const void *bio)
{
	struct raidtrace_ticket *home = raidtrace_ticket_home(tickets, bio);

	return likely(READ_ONCE(home->bio) == bio) ?
		home : raidtrace_ticket_search(tickets, home, bio);
}

/*
 * Note something of a bio; one that has a ticket has its ticket changed. The
 * probe's arrival lock is held: only one at a time takes a free ticket.
 */
static inline void raidtrace_ticket_put(struct raidtrace_ticket *tickets, const void *bio,
					u64 noted)
{
	struct raidtrace_ticket *ticket = raidtrace_ticket_home(tickets, bio);
	const void *owner = READ_ONCE(ticket->bio);

	if (unlikely(owner && owner != bio)) {
		ticket = raidtrace_ticket_search(tickets, ticket, bio) ?:
			raidtrace_ticket_search(tickets, ticket, NULL);
		if (!ticket)
			return;
	}
	WRITE_ONCE(ticket->bio, bio);
	ticket->noted = noted;
}

/* The bio is done; another may have the ticket. */
static inline void raidtrace_ticket_free(struct raidtrace_ticket *ticket)
{
	/* What it said was read before. */
	smp_store_release(&ticket->bio, NULL);
}

#endif /* RAIDTRACE_PROBE_TICKET_H */
