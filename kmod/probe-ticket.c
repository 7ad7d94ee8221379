// SPDX-License-Identifier: GPL-2.0-only
/* The ticket of a bio whose home another has. */
#include "probe-ticket.h"

static struct raidtrace_ticket *look(struct raidtrace_ticket *bucket, const void *bio)
{
	unsigned int i;

	for (i = 0; i < RAIDTRACE_TICKET_WAYS; i++) {
		if (READ_ONCE(bucket[i].bio) == bio)
			return &bucket[i];
	}
	return NULL;
}

/**
 * raidtrace_ticket_search() - ticket in one of two buckets
 * @tickets: the table
 * @home: ticket in the first bucket; the second one is the other of the pair
 * @bio: whose it is, NULL for a free one
 *
 * Return: the ticket; NULL when there is none.
 */
struct raidtrace_ticket *raidtrace_ticket_search(struct raidtrace_ticket *tickets,
						 struct raidtrace_ticket *home, const void *bio)
{
	size_t first = (home - tickets) & ~(size_t)(RAIDTRACE_TICKET_WAYS - 1);

	return look(tickets + first, bio) ?: look(tickets + (first ^ RAIDTRACE_TICKET_WAYS), bio);
}
