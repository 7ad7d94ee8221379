// SPDX-License-Identifier: GPL-2.0-only
/* Time at each depth, resets, and the accounting at its limits: no event and no time is lost. */
#include "account_fixture.h"

#include <linux/limits.h>

static void time_is_spent_at_the_depth_before_the_event(struct kunit *test)
{
	u64 first, second;

	first = issue(test, START + 10, DIR_READ, 0, 8);
	second = issue(test, START + 30, DIR_READ, 8, 8);
	complete_read(test, START + 60, first);
	complete_read(test, START + 100, second);
	advance(test, START + 150);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 0), 10ULL + 50);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 1), 20ULL + 40);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 2), 30ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_WRITE, 0), 150ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_ALL, 2), 30ULL);
}

static void reset_carries_what_is_in_flight(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 issued;

	issue(test, START, DIR_READ, 0, 8);
	issued = issue(test, START, DIR_READ, 8, 8);
	complete_read(test, START + 10, issued);
	advance(test, START + 20);
	raidtrace_queue_reset(&f->queue);
	memset(&f->account, 0, sizeof(f->account));
	KUNIT_EXPECT_EQ(test, f->queue.since_ns, (u64)START + 20);
	KUNIT_EXPECT_EQ(test, f->queue.carried[DIR_READ], 1U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_READ], 1U);
	issue(test, START + 30, DIR_READ, 16, 8);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_READ), 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].stream, 0ULL);
	advance(test, START + 50);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_READ), 30ULL);
}

/* Random events: each sum equals the count of its events. */
static void sums_hold_under_random_load(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 now = START, random = 88172645463325252ULL;
	u64 in_flight[64], issued = 0, ended = 0;
	unsigned int i;

	for (i = 0; i < 5000; i++) {
		/* xorshift64: the same sequence each time. */
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		now += random % 1000;
		if (issued - ended < ARRAY_SIZE(in_flight) && random & 0x10000) {
			in_flight[issued++ % ARRAY_SIZE(in_flight)] =
				issue(test, now, DIR_READ, random >> 32, random >> 51);
		} else if (issued > ended && random & 0x20000) {
			complete_read(test, now, in_flight[ended++ % ARRAY_SIZE(in_flight)]);
		} else if (issued > ended) {
			raidtrace_count_requeue(&f->queue, &f->account, now, DIR_READ);
			ended++;
		}
	}
	advance(test, now);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].issued, issued);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].completed +
			      f->account.flow[DIR_READ].requeued + f->queue.in_flight[DIR_READ],
			issued);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SIZE, DIR_READ), issued);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_ISSUE, DIR_READ), issued);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_D2C, DIR_READ), f->account.flow[DIR_READ].completed);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_READ), now - START);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_WRITE), now - START);
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

static struct kunit_case depth_cases[] = {
	KUNIT_CASE(time_is_spent_at_the_depth_before_the_event),
	KUNIT_CASE(reset_carries_what_is_in_flight),
	KUNIT_CASE(sums_hold_under_random_load),
	KUNIT_CASE(failed_completion_counts_one_error),
	KUNIT_CASE(maximum_is_the_highest_depth_of_each),
	KUNIT_CASE(counting_begins_at_the_start),
	KUNIT_CASE(advancing_spends_time_at_the_present_depth),
	KUNIT_CASE(reset_carries_every_direction_and_all),
	KUNIT_CASE(time_of_other_directions_is_in_all_alone),
	KUNIT_CASE(part_of_a_sector_has_a_size_and_no_place),
	KUNIT_CASE(blame_and_origin_are_selected_apart),
	{}
};

static struct kunit_suite depth_suite = {
	.name = "raidtrace_depth",
	.init = account_init,
	.test_cases = depth_cases,
};

kunit_test_suite(depth_suite);
