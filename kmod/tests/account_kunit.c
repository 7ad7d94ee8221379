// SPDX-License-Identifier: GPL-2.0-only
/* What each event of a request changes, and that nothing is lost on the way. */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../account.c"
#include "../account-bins.c"

#define DIR_READ RAIDTRACE_DIRECTION_READ
#define DIR_WRITE RAIDTRACE_DIRECTION_WRITE
#define DIR_DISCARD RAIDTRACE_DIRECTION_DISCARD
#define DIR_FLUSH RAIDTRACE_DIRECTION_FLUSH
#define DIR_PASSTHROUGH RAIDTRACE_DIRECTION_PASSTHROUGH
#define DIR_ALL RAIDTRACE_DIRECTION_ALL

#define KIND_SIZE RAIDTRACE_HISTOGRAM_KIND_SIZE
#define KIND_SEEK RAIDTRACE_HISTOGRAM_KIND_SEEK
#define KIND_DEPTH_TIME RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME
#define KIND_DEPTH_ISSUE RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE
#define KIND_BLAME RAIDTRACE_HISTOGRAM_KIND_BLAME
#define KIND_D2C RAIDTRACE_HISTOGRAM_KIND_D2C

#define GROUPS_ALL 0xfff
#define STREAMS 4

/* Counting began at this time; nanoseconds in the cases are later ones. */
#define START 1000000

struct fixture {
	struct raidtrace_queue queue;
	struct raidtrace_account account;
};

static int account_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	raidtrace_queue_start(&f->queue, GROUPS_ALL, STREAMS, START);
	test->priv = f;
	return 0;
}

static u64 issue_of(struct kunit *test, u64 now, enum raidtrace_direction direction,
		    enum raidtrace_class class, u64 sector, u64 nr_sectors)
{
	struct fixture *f = test->priv;
	struct raidtrace_issue issue = {
		.direction = direction,
		.class = class,
		.sector = sector,
		.bytes = nr_sectors << 9,
		.place = 3,
	};
	struct raidtrace_change change;

	raidtrace_queue_issue(&f->queue, now, &issue, &change);
	raidtrace_account_issue(&f->account, &issue, &change);
	return change.now_ns;
}

/* Returns the time the issue counts at. */
static u64 issue(struct kunit *test, u64 now, enum raidtrace_direction direction, u64 sector,
		 u64 nr_sectors)
{
	return issue_of(test, now, direction, RAIDTRACE_CLASS_DATA, sector, nr_sectors);
}

static void complete_read(struct kunit *test, u64 now, u64 issued)
{
	struct fixture *f = test->priv;
	struct raidtrace_change change;

	raidtrace_queue_end(&f->queue, now, DIR_READ, &change);
	raidtrace_account_complete(&f->account, DIR_READ, 4096, false, change.now_ns - issued,
				   raidtrace_depth_row(2), &change);
}

static void settle(struct kunit *test, u64 now)
{
	struct fixture *f = test->priv;
	struct raidtrace_settled settled;

	raidtrace_queue_settle(&f->queue, now, &settled);
	raidtrace_account_settle(&f->account, &settled);
}

static u64 sum(struct kunit *test, enum raidtrace_histogram_kind kind,
	       enum raidtrace_direction direction)
{
	struct fixture *f = test->priv;
	const u64 *bins = raidtrace_account_bins(&f->account, kind, direction);
	unsigned int i;
	u64 total = 0;

	for (i = 0; bins && i < raidtrace_hist_bins(kind); i++)
		total += bins[i];
	return total;
}

static u64 depth_time(struct kunit *test, enum raidtrace_direction direction, unsigned int depth)
{
	struct fixture *f = test->priv;

	return raidtrace_account_bins(&f->account, KIND_DEPTH_TIME, direction)[depth];
}

static void issue_counts_size_and_bytes(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 256);
	issue(test, START, DIR_READ, 256, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].issued, 2ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].bytes_issued, 264ULL << 9);
	KUNIT_EXPECT_EQ(test, f->account.size[DIR_READ][256], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.size[DIR_READ][8], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].issued, 0ULL);
}

static void first_request_is_neither_sequential_nor_seek(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_READ), 0ULL);
}

static void distance_is_from_the_previous_end(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_READ, 8, 8);
	issue(test, START, DIR_READ, 20, 8);
	issue(test, START, DIR_READ, 20, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].seek_forward_sectors, 4ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].seek_backward_sectors, 8ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek[DIR_READ][64], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek[DIR_READ][67], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek[DIR_READ][60], 1ULL);
}

static void position_is_shared_by_all_directions(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_WRITE, 8, 8);
	issue(test, START, DIR_READ, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].seek_backward_sectors, 8ULL);
}

static void flush_and_passthrough_do_not_move_the_head(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_FLUSH, 0, 0);
	issue(test, START, DIR_PASSTHROUGH, 4711, 1);
	issue(test, START, DIR_READ, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_FLUSH), 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_PASSTHROUGH), 0ULL);
}

static void time_is_spent_at_the_depth_before_the_event(struct kunit *test)
{
	u64 first, second;

	first = issue(test, START + 10, DIR_READ, 0, 8);
	second = issue(test, START + 30, DIR_READ, 8, 8);
	complete_read(test, START + 60, first);
	complete_read(test, START + 100, second);
	settle(test, START + 150);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 0), 10ULL + 50);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 1), 20ULL + 40);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_READ, 2), 30ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_WRITE, 0), 150ULL);
	KUNIT_EXPECT_EQ(test, depth_time(test, DIR_ALL, 2), 30ULL);
}

static void depth_found_does_not_count_the_request_itself(struct kunit *test)
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
	settle(test, START + 200);
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

	raidtrace_account_i2d(&f->account, DIR_WRITE, 500);
	raidtrace_account_i2d(&f->account, DIR_WRITE, 20);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].i2d_sum_ns, 520ULL);
	KUNIT_EXPECT_EQ(test, f->account.i2d[DIR_WRITE][raidtrace_d2c_bin(500)], 1ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_I2D, DIR_WRITE), 2ULL);
}

static void bytes_are_counted_at_their_place(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_WRITE, 0, 8);
	issue(test, START, DIR_DISCARD, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.place[RAIDTRACE_DEPTH_WRITE][3], 4096ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_PLACE, DIR_READ), 0ULL);
}

static void requests_continue_streams(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_READ, 1000, 8);
	issue(test, START, DIR_READ, 8, 8);
	issue(test, START, DIR_WRITE, 1008, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].stream, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].stream, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 0ULL);
}

/* The matrix sums to the seeks, its distances to theirs, and classes to directions. */
static void seeks_are_blamed_on_both_classes(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int bin = RAIDTRACE_CLASS_DATA * RAIDTRACE_CLASSES + RAIDTRACE_CLASS_METADATA;

	issue_of(test, START, DIR_READ, RAIDTRACE_CLASS_DATA, 0, 8);
	issue_of(test, START, DIR_READ, RAIDTRACE_CLASS_DATA, 8, 8);
	issue_of(test, START, DIR_READ, RAIDTRACE_CLASS_METADATA, 116, 2);
	issue_of(test, START, DIR_WRITE, RAIDTRACE_CLASS_JOURNAL, 18, 2);
	KUNIT_EXPECT_EQ(test, f->account.blame[bin], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.blame_distance[bin], 100ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_BLAME, DIR_ALL), 2ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE, DIR_ALL), 200ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].issued, 2ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].bytes_issued, 8192ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].seeks, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_METADATA].seeks, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_JOURNAL].seek_sectors, 100ULL);
}

/* What is not selected stays zero; what is in flight and issued is always known. */
static void groups_not_selected_stay_zero(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_flow *flow = &f->account.flow[DIR_READ];
	const u64 *rest = (const u64 *)&f->account.origin;
	u64 issued, others = 0;
	unsigned int i;

	f->queue.groups = RAIDTRACE_GROUP_FLOW;
	issue(test, START, DIR_READ, 0, 8);
	issued = issue(test, START, DIR_READ, 8, 8);
	complete_read(test, START + 10, issued);
	settle(test, START + 20);
	for (i = 0; i < (sizeof(f->account) - sizeof(f->account.flow)) / sizeof(u64); i++)
		others += rest[i];
	KUNIT_EXPECT_EQ(test, others, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow->sequential + flow->stream + flow->seek_forward_sectors, 0ULL);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_READ], 1U);
}

static void requeue_undoes_one_issue(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_change change;

	issue(test, START, DIR_READ, 0, 8);
	raidtrace_queue_end(&f->queue, START + 10, DIR_READ, &change);
	raidtrace_account_requeue(&f->account, DIR_READ, &change);
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
	settle(test, START + 20);
	raidtrace_queue_reset(&f->queue);
	memset(&f->account, 0, sizeof(f->account));
	KUNIT_EXPECT_EQ(test, f->queue.since_ns, (u64)START + 20);
	KUNIT_EXPECT_EQ(test, f->queue.carried[DIR_READ], 1U);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight_max[DIR_READ], 1U);
	issue(test, START + 30, DIR_READ, 16, 8);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_READ), 0ULL);
	settle(test, START + 50);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_DEPTH_TIME, DIR_READ), 30ULL);
}

/* Any number of events in any order: every sum equals its count. */
static void sums_hold_under_random_load(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_change change;
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
			raidtrace_queue_end(&f->queue, now, DIR_READ, &change);
			raidtrace_account_requeue(&f->account, DIR_READ, &change);
			ended++;
		}
	}
	settle(test, now);
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

static void adding_accounts_adds_every_counter(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_account *total = kunit_kzalloc(test, sizeof(*total), GFP_KERNEL);
	u64 *counter = (u64 *)&f->account;
	unsigned int i, n = sizeof(f->account) / sizeof(*counter);

	KUNIT_ASSERT_NOT_NULL(test, total);
	for (i = 0; i < n; i++)
		counter[i] = i + 1;
	raidtrace_account_add(total, &f->account);
	raidtrace_account_add(total, &f->account);
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ((u64 *)total)[i], 2 * (i + 1ULL));
}

static void histograms_are_of_the_directions_that_have_them(struct kunit *test)
{
	struct fixture *f = test->priv;

	const u64 *end = (const u64 *)(&f->account + 1);
	unsigned int kind, direction;
	const u64 *bins;

	KUNIT_EXPECT_NULL(test, raidtrace_account_bins(&f->account, KIND_SIZE, DIR_ALL));
	KUNIT_EXPECT_NULL(test, raidtrace_account_bins(&f->account, KIND_DEPTH_TIME, DIR_FLUSH));
	KUNIT_EXPECT_NULL(test, raidtrace_account_bins(&f->account, KIND_BLAME, DIR_READ));
	KUNIT_EXPECT_NOT_NULL(test, raidtrace_account_bins(&f->account, KIND_DEPTH_TIME, DIR_ALL));
	for (kind = 0; kind <= RAIDTRACE_HISTOGRAM_KIND_MAX; kind++) {
		for (direction = 0; direction <= DIR_ALL; direction++) {
			bins = raidtrace_account_bins(&f->account, kind, direction);
			KUNIT_ASSERT_TRUE(test, !bins || bins + raidtrace_hist_bins(kind) <= end);
		}
	}
}

static struct kunit_case account_cases[] = {
	KUNIT_CASE(issue_counts_size_and_bytes),
	KUNIT_CASE(first_request_is_neither_sequential_nor_seek),
	KUNIT_CASE(distance_is_from_the_previous_end),
	KUNIT_CASE(position_is_shared_by_all_directions),
	KUNIT_CASE(flush_and_passthrough_do_not_move_the_head),
	KUNIT_CASE(time_is_spent_at_the_depth_before_the_event),
	KUNIT_CASE(depth_found_does_not_count_the_request_itself),
	KUNIT_CASE(passthrough_counts_in_the_depth_of_all),
	KUNIT_CASE(clock_that_steps_back_loses_no_time),
	KUNIT_CASE(completion_counts_latency),
	KUNIT_CASE(insert_to_issue_is_counted_apart),
	KUNIT_CASE(bytes_are_counted_at_their_place),
	KUNIT_CASE(requests_continue_streams),
	KUNIT_CASE(seeks_are_blamed_on_both_classes),
	KUNIT_CASE(groups_not_selected_stay_zero),
	KUNIT_CASE(requeue_undoes_one_issue),
	KUNIT_CASE(reset_carries_what_is_in_flight),
	KUNIT_CASE(sums_hold_under_random_load),
	KUNIT_CASE(adding_accounts_adds_every_counter),
	KUNIT_CASE(histograms_are_of_the_directions_that_have_them),
	{}
};

static struct kunit_suite account_suite = {
	.name = "raidtrace_account",
	.init = account_init,
	.test_cases = account_cases,
};

kunit_test_suite(account_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suites of raidtrace");
