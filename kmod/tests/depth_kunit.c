// SPDX-License-Identifier: GPL-2.0-only
/* Time at each depth, latencies, requeues and resets: no event and no time is lost. */
#include "account_fixture.h"

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

static void depth_excludes_the_request_itself(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_WRITE, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_READ][0], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_WRITE][0], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_ALL][0], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_ALL][1], 1ULL);
}

static void passthrough_counts_in_the_depth_of_all(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_PASSTHROUGH, 0, 1);
	issue(test, START + 5, DIR_READ, 0, 8);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_ALL], 2U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_READ], 1U);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_READ][0], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_issue[RAIDTRACE_DEPTH_ALL][1], 1ULL);
}

static void clock_that_steps_back_loses_no_time(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 issued;

	issue(test, START + 100, DIR_READ, 0, 8);
	issued = issue(test, START + 90, DIR_READ, 8, 8);
	KUNIT_EXPECT_EQ(test, issued, (u64)START + 100);
	complete_read(test, START + 95, issued);
	advance(test, START + 200);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_READ), 200ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_ALL), 200ULL);
	KUNIT_EXPECT_EQ(test, f->account.d2c[DIR_READ][0], 1ULL);
}

static void completion_counts_latency(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 issued = issue(test, START, DIR_READ, 0, 8);

	complete_read(test, START + 1000, issued);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].completed, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].bytes_completed, 4096ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].d2c_sum_ns, 1000ULL);
	KUNIT_EXPECT_EQ(test, f->account.d2c[DIR_READ][raidtrace_d2c_bin(1000)], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.depth_d2c[RAIDTRACE_DEPTH_READ]
			[2 * RAIDTRACE_D2C_COLUMNS + 10], 1ULL);
}

static void insert_to_issue_is_counted_apart(struct kunit *test)
{
	struct fixture *f = test->priv;

	raidtrace_count_i2d(&f->account, DIR_WRITE, 500);
	raidtrace_count_i2d(&f->account, DIR_WRITE, 20);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].i2d_sum_ns, 520ULL);
	KUNIT_EXPECT_EQ(test, f->account.i2d[DIR_WRITE][raidtrace_d2c_bin(500)], 1ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_I2D, DIR_WRITE), 2ULL);
}

static void requeue_undoes_one_issue(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	raidtrace_count_requeue(&f->queue, &f->account, START + 10, DIR_READ);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].requeued, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].completed, 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_D2C, DIR_READ), 0ULL);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_READ], 0U);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 1), 10ULL);
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

static struct kunit_case depth_cases[] = {
	KUNIT_CASE(time_is_spent_at_the_depth_before_the_event),
	KUNIT_CASE(depth_excludes_the_request_itself),
	KUNIT_CASE(passthrough_counts_in_the_depth_of_all),
	KUNIT_CASE(clock_that_steps_back_loses_no_time),
	KUNIT_CASE(completion_counts_latency),
	KUNIT_CASE(insert_to_issue_is_counted_apart),
	KUNIT_CASE(requeue_undoes_one_issue),
	KUNIT_CASE(reset_carries_what_is_in_flight),
	KUNIT_CASE(sums_hold_under_random_load),
	{}
};

static struct kunit_suite depth_suite = {
	.name = "raidtrace_depth",
	.init = account_init,
	.test_cases = depth_cases,
};

kunit_test_suite(depth_suite);
