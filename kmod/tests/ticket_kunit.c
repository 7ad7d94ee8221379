// SPDX-License-Identifier: GPL-2.0-only
/* Which bios have a ticket, and what it says. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../probe-ticket.c"

#define WAYS (2 * RAIDTRACE_TICKET_WAYS)

static int ticket_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, RAIDTRACE_TICKETS * sizeof(struct raidtrace_ticket),
				   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	return 0;
}

/* Pair of buckets that an address has its home in. */
static size_t pair_of(struct raidtrace_ticket *tickets, uintptr_t address)
{
	return (raidtrace_ticket_home(tickets, (void *)address) - tickets) / WAYS;
}

/* The nth address whose home is in the same pair of buckets as that of the first. */
static const void *neighbour(struct kunit *test, unsigned int n)
{
	uintptr_t first = 0x1000, address = first;

	while (n) {
		address += 64;
		n -= pair_of(test->priv, address) == pair_of(test->priv, first);
	}
	return (void *)address;
}

static void note_says_what_was_noted(struct kunit *test)
{
	u64 note = raidtrace_ticket_note(123456789, RAIDTRACE_DIRECTION_PASSTHROUGH,
					 RAIDTRACE_CLASS_JOURNAL);

	KUNIT_EXPECT_EQ(test, raidtrace_ticket_queued_ns(note), 123456789ULL);
	KUNIT_EXPECT_EQ(test, (unsigned int)raidtrace_ticket_direction(note),
			(unsigned int)RAIDTRACE_DIRECTION_PASSTHROUGH);
	KUNIT_EXPECT_EQ(test, (unsigned int)raidtrace_ticket_class(note),
			(unsigned int)RAIDTRACE_CLASS_JOURNAL);
	note = raidtrace_ticket_note(0, RAIDTRACE_DIRECTION_WRITE, RAIDTRACE_CLASS_MAX);
	KUNIT_EXPECT_EQ(test, (unsigned int)raidtrace_ticket_direction(note),
			(unsigned int)RAIDTRACE_DIRECTION_WRITE);
	KUNIT_EXPECT_EQ(test, (unsigned int)raidtrace_ticket_class(note),
			(unsigned int)RAIDTRACE_CLASS_MAX);
}

static void ticket_is_there_until_it_is_freed(struct kunit *test)
{
	const void *bio = neighbour(test, 0), *other = neighbour(test, 1);
	struct raidtrace_ticket *ticket;

	KUNIT_EXPECT_NULL(test, raidtrace_ticket_find(test->priv, bio));
	raidtrace_ticket_put(test->priv, bio, 7);
	KUNIT_EXPECT_NULL(test, raidtrace_ticket_find(test->priv, other));
	ticket = raidtrace_ticket_find(test->priv, bio);
	KUNIT_ASSERT_NOT_NULL(test, ticket);
	KUNIT_EXPECT_EQ(test, ticket->noted, 7ULL);
	raidtrace_ticket_put(test->priv, bio, 8);
	KUNIT_EXPECT_EQ(test, ticket->noted, 8ULL);
	raidtrace_ticket_free(ticket);
	KUNIT_EXPECT_NULL(test, raidtrace_ticket_find(test->priv, bio));
}

/* Both buckets of a pair are used to the last place; who finds none is left out alone. */
static void as_many_neighbours_as_places_have_a_ticket(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i <= WAYS; i++)
		raidtrace_ticket_put(test->priv, neighbour(test, i), i);
	for (i = 0; i < WAYS; i++) {
		struct raidtrace_ticket *ticket =
			raidtrace_ticket_find(test->priv, neighbour(test, i));

		KUNIT_ASSERT_NOT_NULL(test, ticket);
		KUNIT_EXPECT_EQ(test, ticket->noted, (u64)i);
	}
	KUNIT_EXPECT_NULL(test, raidtrace_ticket_find(test->priv, neighbour(test, WAYS)));
	raidtrace_ticket_free(raidtrace_ticket_find(test->priv, neighbour(test, 3)));
	raidtrace_ticket_put(test->priv, neighbour(test, WAYS), 99);
	KUNIT_ASSERT_NOT_NULL(test, raidtrace_ticket_find(test->priv, neighbour(test, WAYS)));
}

/* A bio that left its ticket behind away from its home finds it there again, and takes no other. */
static void ticket_left_behind_is_taken_over(struct kunit *test)
{
	struct raidtrace_ticket *tickets = test->priv, *left;
	unsigned int i, used = 0;

	for (i = 0; i < WAYS; i++)
		raidtrace_ticket_put(tickets, neighbour(test, i), i);
	left = raidtrace_ticket_find(tickets, neighbour(test, WAYS - 1));
	raidtrace_ticket_free(raidtrace_ticket_find(tickets, neighbour(test, 1)));
	raidtrace_ticket_put(tickets, neighbour(test, WAYS - 1), 50);
	for (i = 0; i < RAIDTRACE_TICKETS; i++)
		used += !!tickets[i].bio;
	KUNIT_ASSERT_NOT_NULL(test, left);
	KUNIT_EXPECT_LE(test, used, (unsigned int)WAYS);
	KUNIT_EXPECT_EQ(test, raidtrace_ticket_find(tickets, neighbour(test, WAYS - 1))->noted,
			50ULL);
}

/* A free home is taken, which is the one place that is looked at first. */
static void bio_whose_home_is_free_has_it(struct kunit *test)
{
	struct raidtrace_ticket *tickets = test->priv;
	uintptr_t address = 0x1000;

	while ((raidtrace_ticket_home(tickets, (void *)address) - tickets) % WAYS != WAYS - 1)
		address += 64;
	raidtrace_ticket_put(tickets, (void *)address, 7);
	KUNIT_EXPECT_EQ(test, (uintptr_t)raidtrace_ticket_home(tickets, (void *)address)->bio,
			address);
}

/* Bios that lie side by side in memory are spread: a quarter of the table holds as many of them. */
static void bios_of_one_slab_have_tickets(struct kunit *test)
{
	const uintptr_t slab = 0x60000000, bytes = 256;
	unsigned int i, lost = 0;

	for (i = 0; i < RAIDTRACE_TICKETS / 4; i++)
		raidtrace_ticket_put(test->priv, (void *)(slab + i * bytes), i);
	for (i = 0; i < RAIDTRACE_TICKETS / 4; i++)
		lost += !raidtrace_ticket_find(test->priv, (void *)(slab + i * bytes));
	KUNIT_EXPECT_EQ(test, lost, 0U);
}

static struct kunit_case ticket_cases[] = {
	KUNIT_CASE(note_says_what_was_noted),
	KUNIT_CASE(ticket_is_there_until_it_is_freed),
	KUNIT_CASE(as_many_neighbours_as_places_have_a_ticket),
	KUNIT_CASE(ticket_left_behind_is_taken_over),
	KUNIT_CASE(bio_whose_home_is_free_has_it),
	KUNIT_CASE(bios_of_one_slab_have_tickets),
	{}
};

static struct kunit_suite ticket_suite = {
	.name = "raidtrace_ticket",
	.init = ticket_init,
	.test_cases = ticket_cases,
};

kunit_test_suite(ticket_suite);
