// SPDX-License-Identifier: GPL-2.0-only
/* The accounting at its limits. Each case notices a mutant that no other case noticed. */
#include "account_fixture.h"

#include <linux/limits.h>

static void abandoned_issue_is_in_flight_no_more(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_WRITE, 0, 8);
	raidtrace_count_abandon(&f->queue, &f->account, START + 10, DIR_WRITE);
	advance(test, START + 30);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].abandoned, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].completed, 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_D2C, DIR_WRITE), 0ULL);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_WRITE], 0U);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_WRITE, 1), 10ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_WRITE, 0), 20ULL);
}

static void failed_completion_counts_one_error(struct kunit *test)
{
	const struct raidtrace_completion failed = {
		.direction = DIR_READ,
		.bytes = 4096,
		.error = true,
		.d2c_ns = 10,
	};
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	raidtrace_count_completion(&f->queue, &f->account, f->queue.groups, START + 10, &failed);
	complete_read(test, START + 20, issue(test, START + 10, DIR_READ, 8, 8));
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].errors, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].completed, 2ULL);
}

static void maximum_is_the_highest_depth_of_each(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 first = issue(test, START, DIR_READ, 0, 8);
	u64 second = issue(test, START, DIR_READ, 8, 8);

	complete_read(test, START + 10, first);
	complete_read(test, START + 20, second);
	issue(test, START + 30, DIR_WRITE, 16, 8);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_READ], 2U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_WRITE], 1U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_ALL], 2U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_ALL], 1U);
}

static void event_without_place_has_no_distance(struct kunit *test)
{
	const struct raidtrace_issue flush = { .direction = DIR_FLUSH };
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	raidtrace_count_issue(&f->queue, &f->account, f->queue.groups, START, &flush);
	KUNIT_EXPECT_EQ(test, f->queue.position.end_sector, 8ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_FLUSH), 0ULL);
	/* An empty write has no place either. */
	issue(test, START, DIR_OTHER, 4711, 0);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_OTHER), 0ULL);
}

static void counting_begins_at_the_start(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, f->queue.since_ns, (u64)START);
	KUNIT_EXPECT_EQ(test, raidtrace_queue_time(&f->queue, START - 10), (u64)START);
	KUNIT_EXPECT_FALSE(test, f->queue.position.placed);
}

static void advancing_spends_time_at_the_present_depth(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_WRITE, 8, 8);
	advance(test, START + 7);
	advance(test, START + 10);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 1), 10ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_WRITE, 1), 10ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_ALL, 2), 10ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_ALL][2], 0ULL);
}

static void reset_carries_every_direction_and_all(struct kunit *test)
{
	struct fixture *f = test->priv;
	enum raidtrace_direction d;

	for (d = 0; d < RAIDTRACE_DIRECTIONS; d++) {
		issue(test, START, d, 8, 8);
		issue(test, START, d, 8, 8);
	}
	for (d = 0; d < RAIDTRACE_DIRECTIONS; d++)
		raidtrace_count_requeue(&f->queue, &f->account, START, d);
	advance(test, START + 1);
	raidtrace_queue_reset(&f->queue);
	for (d = 0; d < RAIDTRACE_DIRECTIONS; d++) {
		KUNIT_EXPECT_EQ(test, f->queue.carried[d], 1U);
		KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[d], 1U);
	}
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_ALL], (u32)RAIDTRACE_DIRECTIONS);
}

/* Directions without a depth histogram count in the one of all directions, once. */
static void time_of_other_directions_is_in_all_alone(struct kunit *test)
{
	const struct raidtrace_completion done = { .direction = DIR_FLUSH, .d2c_ns = 6 };
	struct fixture *f = test->priv;

	issue(test, START + 4, DIR_FLUSH, 0, 0);
	raidtrace_count_completion(&f->queue, &f->account, f->queue.groups, START + 10, &done);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_ALL, 0), 4ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_ALL, 1), 6ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_ALL), 10ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_ISSUE, DIR_ALL), 1ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_READ), 0ULL);
}

static void one_sector_on_is_a_seek_forward(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_READ, 9, 8);
	issue(test, START, DIR_READ, 16, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].seek_forward_sectors, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].seek_backward_sectors, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 0ULL);
}

static void part_of_a_sector_has_a_size_and_no_place(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, has_position(DIR_READ, 511));
	KUNIT_EXPECT_TRUE(test, has_position(DIR_READ, 512));
	KUNIT_EXPECT_FALSE(test, has_position(DIR_PASSTHROUGH, 512));
	KUNIT_EXPECT_EQ(test, round_sectors(0), 0ULL);
	KUNIT_EXPECT_EQ(test, round_sectors(1), 1ULL);
	KUNIT_EXPECT_EQ(test, round_sectors(512), 1ULL);
	KUNIT_EXPECT_EQ(test, round_sectors(513), 2ULL);
	KUNIT_EXPECT_EQ(test, distance_sectors(-1), 1ULL);
	KUNIT_EXPECT_EQ(test, distance_sectors(S64_MIN), 1ULL << 63);
}

/* An event that is earlier than the last end counts at the time of that end. */
static void event_after_an_end_is_not_before_it(struct kunit *test)
{
	struct fixture *f = test->priv;

	complete_read(test, START + 50, issue(test, START, DIR_READ, 0, 8));
	KUNIT_EXPECT_EQ(test, raidtrace_queue_time(&f->queue, START + 20), START + 50ULL);
}

/* The seeks of a class are the sum of its column of blame: the group origin needs it, too. */
static void blame_and_origin_are_selected_apart(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->queue.groups = RAIDTRACE_GROUP_FLOW;
	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_READ, 32, 8);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_BLAME, DIR_ALL), 0ULL);
	f->queue.groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_BLAME;
	issue(test, START, DIR_READ, 0, 8);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_BLAME, DIR_ALL), 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].issued, 0ULL);
	f->queue.groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_ORIGIN;
	issue(test, START, DIR_READ, 32, 8);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_BLAME, DIR_ALL), 2ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].issued, 1ULL);
}

static struct kunit_case edges_cases[] = {
	KUNIT_CASE(abandoned_issue_is_in_flight_no_more),
	KUNIT_CASE(failed_completion_counts_one_error),
	KUNIT_CASE(maximum_is_the_highest_depth_of_each),
	KUNIT_CASE(event_without_place_has_no_distance),
	KUNIT_CASE(counting_begins_at_the_start),
	KUNIT_CASE(advancing_spends_time_at_the_present_depth),
	KUNIT_CASE(reset_carries_every_direction_and_all),
	KUNIT_CASE(time_of_other_directions_is_in_all_alone),
	KUNIT_CASE(one_sector_on_is_a_seek_forward),
	KUNIT_CASE(part_of_a_sector_has_a_size_and_no_place),
	KUNIT_CASE(event_after_an_end_is_not_before_it),
	KUNIT_CASE(blame_and_origin_are_selected_apart),
	{}
};

static struct kunit_suite edges_suite = {
	.name = "raidtrace_edges",
	.init = account_init,
	.test_cases = edges_cases,
};

kunit_test_suite(edges_suite);
