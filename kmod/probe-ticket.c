// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was decided when a bio was queued, kept until it completes.
 *
 * Events of one bio come one after the other, so only claiming a free ticket is
 * a race, between two bios. Loops are bounded by the size of two buckets.
 *
 * A bio that ends without an event leaves its ticket behind. The next bio at the
 * same address takes it over; until then there is one ticket less.
 */
#include <linux/atomic.h>
#include <linux/mm.h>

#include "probe-ticket.h"

/**
 * raidtrace_tickets_alloc() - a table of free tickets
 *
 * Return: to be given to kvfree(); NULL when memory is short.
 */
struct raidtrace_ticket *raidtrace_tickets_alloc(void)
{
	return kvcalloc(RAIDTRACE_TICKETS, sizeof(struct raidtrace_ticket), GFP_KERNEL);
}

/* First ticket of a bio's first bucket; the second one is the other of the pair. */
static struct raidtrace_ticket *first_bucket(struct raidtrace_ticket *tickets, const void *bio)
{
	u64 hash = (u64)(uintptr_t)bio * 0x9e3779b97f4a7c15ULL;

	return tickets + (hash >> (64 - RAIDTRACE_TICKET_BUCKET_BITS)) * RAIDTRACE_TICKET_WAYS;
}

static struct raidtrace_ticket *other_bucket(struct raidtrace_ticket *tickets,
					     struct raidtrace_ticket *bucket)
{
	return tickets + ((bucket - tickets) ^ RAIDTRACE_TICKET_WAYS);
}

static struct raidtrace_ticket *look(struct raidtrace_ticket *bucket, const void *bio)
{
	unsigned int i;

	for (i = 0; i < RAIDTRACE_TICKET_WAYS; i++) {
		if (READ_ONCE(bucket[i].bio) == bio)
			return &bucket[i];
	}
	return NULL;
}

static struct raidtrace_ticket *claim(struct raidtrace_ticket *bucket, const void *bio)
{
	unsigned int i;

	for (i = 0; i < RAIDTRACE_TICKET_WAYS; i++) {
		if (!READ_ONCE(bucket[i].bio) && !cmpxchg(&bucket[i].bio, NULL, bio))
			return &bucket[i];
	}
	return NULL;
}

/**
 * raidtrace_ticket_find() - ticket of a bio
 * @tickets: the table
 * @bio: the bio
 *
 * Return: the ticket; NULL when it has none.
 */
struct raidtrace_ticket *raidtrace_ticket_find(struct raidtrace_ticket *tickets, const void *bio)
{
	struct raidtrace_ticket *bucket = first_bucket(tickets, bio);

	return look(bucket, bio) ?: look(other_bucket(tickets, bucket), bio);
}

/**
 * raidtrace_ticket_put() - note something of a bio
 * @tickets: the table
 * @bio: the bio; one that has a ticket has its ticket changed
 * @noted: raidtrace_ticket_note()
 */
void raidtrace_ticket_put(struct raidtrace_ticket *tickets, const void *bio, u64 noted)
{
	struct raidtrace_ticket *bucket = first_bucket(tickets, bio);
	struct raidtrace_ticket *ticket = raidtrace_ticket_find(tickets, bio);

	if (!ticket)
		ticket = claim(bucket, bio) ?: claim(other_bucket(tickets, bucket), bio);
	if (ticket)
		ticket->noted = noted;
}
