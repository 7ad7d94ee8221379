// SPDX-License-Identifier: GPL-2.0-only
/* Counters that an issue changes: sizes, positions, streams, places and classes. */
#include <linux/module.h>

#include "account_fixture.h"
#include "../account.c"

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

static void only_what_reads_or_writes_moves_the_position(struct kunit *test)
{
	struct fixture *f = test->priv;

	issue(test, START, DIR_READ, 0, 8);
	issue(test, START, DIR_FLUSH, 0, 0);
	issue(test, START, DIR_PASSTHROUGH, 4711, 1);
	issue(test, START, DIR_DISCARD, 4711, 100);
	issue(test, START, DIR_OTHER, 4711, 100);
	issue(test, START, DIR_READ, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential, 1ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_FLUSH), 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_PASSTHROUGH), 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_DISCARD), 0ULL);
	KUNIT_EXPECT_EQ(test, sum(test, KIND_SEEK, DIR_OTHER), 0ULL);
}

/* Sums of blame equal those of the seeks, sums over classes those over directions. */
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
	bin = RAIDTRACE_CLASS_METADATA * RAIDTRACE_CLASSES + RAIDTRACE_CLASS_JOURNAL;
	KUNIT_EXPECT_EQ(test, f->account.blame[bin], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.blame_distance[bin], 100ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_BLAME, DIR_ALL), 2ULL);
	KUNIT_EXPECT_EQ(test, sum(test, RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE, DIR_ALL), 200ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].issued, 2ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].bytes_issued, 8192ULL);
}

/* Counters of other groups stay zero. Requests issued and in flight are always counted. */
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
	advance(test, START + 20);
	for (i = 0; i < (sizeof(f->account) - sizeof(f->account.flow)) / sizeof(u64); i++)
		others += rest[i];
	KUNIT_EXPECT_EQ(test, others, 0ULL);
	KUNIT_EXPECT_EQ(test, flow->issued, 2ULL);
	KUNIT_EXPECT_EQ(test, flow->sequential + flow->stream + flow->seek_forward_sectors, 0ULL);
	KUNIT_EXPECT_EQ(test, f->queue.in_flight[DIR_READ], 1U);
}

static void moving_an_account_adds_every_counter_and_leaves_zeroes(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_account *total = kunit_kzalloc(test, sizeof(*total), GFP_KERNEL);
	u64 *counter = (u64 *)&f->account;
	unsigned int i, round, n = sizeof(f->account) / sizeof(*counter);

	KUNIT_ASSERT_NOT_NULL(test, total);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++)
			counter[i] = i + 1;
		raidtrace_account_move(round < 2 ? total : NULL, &f->account, NULL, 0);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, counter[i], 0ULL);
	}
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, ((u64 *)total)[i], 2 * (i + 1ULL));
}

static void expect_move_leaves_nothing(struct kunit *test)
{
	struct raidtrace_account *account = &((struct fixture *)test->priv)->account;
	unsigned int i;

	raidtrace_account_move(NULL, account, NULL, 0);
	for (i = 0; i < sizeof(*account) / sizeof(u64); i++)
		KUNIT_ASSERT_EQ(test, ((u64 *)account)[i], 0ULL);
}

/* Histograms without an event are skipped, those with one are not, whatever its value. */
static void move_skips_only_histograms_without_events(struct kunit *test)
{
	static const u64 values[] = { 0, 1, 1 << 20 };
	struct fixture *f = test->priv;
	struct raidtrace_account *account = &f->account;
	enum raidtrace_direction direction;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (direction = 0; direction < RAIDTRACE_DIRECTIONS; direction++) {
			struct raidtrace_bio bio = {
				.direction = direction, .sector = values[i], .bytes = 4096 * i,
			};
			struct raidtrace_completion completion = {
				.direction = direction, .d2c_ns = values[i], .depth_row = i,
			};

			raidtrace_count_bio(&f->queue.position, account, GROUPS_ALL, &bio);
			expect_move_leaves_nothing(test);
			issue(test, START, direction, values[i], 8 * i);
			expect_move_leaves_nothing(test);
			raidtrace_count_i2d(account, direction, values[i]);
			expect_move_leaves_nothing(test);
			raidtrace_count_q2c(account, direction, values[i]);
			expect_move_leaves_nothing(test);
			raidtrace_count_completion(&f->queue, account, GROUPS_ALL, START + values[i],
						   &completion);
			expect_move_leaves_nothing(test);
		}
		raidtrace_count_event(account, 0, RAIDTRACE_RA_SYNC_SECTORS, values[i]);
		expect_move_leaves_nothing(test);
		raidtrace_count_event(account, 0, RAIDTRACE_RA_ASYNC_SECTORS, values[i]);
		expect_move_leaves_nothing(test);
	}
	/* A histogram that is skipped is not read. */
	account->i2d[DIR_READ][RAIDTRACE_D2C_BINS / 2] = 1;
	raidtrace_account_move(NULL, account, NULL, 0);
	KUNIT_EXPECT_EQ(test, account->i2d[DIR_READ][RAIDTRACE_D2C_BINS / 2], 1ULL);
}

/* The test for zero reads each counter, and none beyond the last. */
static void is_zero_reads_each_counter(struct kunit *test)
{
	u64 counter[RAIDTRACE_LOT + 1] = { 0 };
	unsigned int i;

	counter[RAIDTRACE_LOT] = 1;
	KUNIT_EXPECT_TRUE(test, is_zero(counter));
	for (i = 0; i < RAIDTRACE_LOT; i++) {
		counter[i] = 1ULL << 40;
		KUNIT_EXPECT_FALSE(test, is_zero(counter));
		counter[i] = 0;
	}
}

/* Lots that changed are marked with the given number, other lots are not. */
static void move_marks_changed_lots(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_account *total = kunit_kzalloc(test, sizeof(*total), GFP_KERNEL);
	struct raidtrace_changes *changes = kunit_kzalloc(test, sizeof(*changes), GFP_KERNEL);
	u64 *counter = (u64 *)&f->account;
	unsigned int i, lots = RAIDTRACE_LOTS, last = sizeof(*total) / sizeof(u64) - 1;
	unsigned int flow = &f->account.flow[DIR_WRITE].q2c_sum_ns - counter;
	unsigned int bin = &f->account.q2c[DIR_WRITE][RAIDTRACE_D2C_BINS - 1] - counter;

	KUNIT_ASSERT_NOT_NULL(test, total);
	KUNIT_ASSERT_NOT_NULL(test, changes);
	raidtrace_account_move(total, &f->account, changes, 1);
	for (i = 0; i < lots; i++)
		KUNIT_ASSERT_EQ(test, changes->lot[i], 0ULL);
	counter[flow] = 1;
	counter[bin] = 1;
	raidtrace_account_move(total, &f->account, changes, 7);
	for (i = 0; i < lots - 1; i++)
		KUNIT_ASSERT_EQ(test, changes->lot[i],
				i == flow / RAIDTRACE_LOT || i == bin / RAIDTRACE_LOT ? 7ULL : 0ULL);
	counter[flow] = 1;
	counter[last] = 1;
	raidtrace_account_move(total, &f->account, changes, 9);
	KUNIT_EXPECT_EQ(test, changes->lot[flow / RAIDTRACE_LOT], 9ULL);
	KUNIT_EXPECT_EQ(test, changes->lot[bin / RAIDTRACE_LOT], 7ULL);
	KUNIT_EXPECT_EQ(test, changes->lot[lots - 1], 9ULL);
	KUNIT_EXPECT_EQ(test, ((u64 *)total)[last], 1ULL);
}

/* A search over blocks finds each lot that changed since a snapshot, and no other. */
static void changes_are_found_from_each_lot(struct kunit *test)
{
	const unsigned int lots[] = { 0, RAIDTRACE_BLOCK - 1, RAIDTRACE_BLOCK, 5 * RAIDTRACE_BLOCK + 3,
				      RAIDTRACE_LOTS - 1 };
	struct raidtrace_changes *changes = kunit_kzalloc(test, sizeof(*changes), GFP_KERNEL);
	unsigned int i, lot, next, end = RAIDTRACE_LOTS;

	KUNIT_ASSERT_NOT_NULL(test, changes);
	for (i = 0; i < ARRAY_SIZE(lots); i++)
		raidtrace_changes_note(changes, lots[i] * RAIDTRACE_LOT + i, 3 + i);
	for (i = 0; i < 8; i++) {
		for (lot = 0; lot < end; lot++) {
			for (next = lot; next < end && changes->lot[next] <= i; next++)
				;
			KUNIT_ASSERT_EQ(test, raidtrace_changes_next(changes, i, lot, end), next);
		}
	}
	KUNIT_EXPECT_EQ(test, raidtrace_changes_next(changes, 2, 1, RAIDTRACE_BLOCK - 1),
			RAIDTRACE_BLOCK - 1);
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
	KUNIT_EXPECT_TRUE(test, raidtrace_account_bins(&f->account, KIND_DEPTH_ISSUE, DIR_ALL) ==
			  f->account.depth_issue[RAIDTRACE_DEPTH_ALL]);
	KUNIT_EXPECT_TRUE(test, raidtrace_account_bins(&f->account, KIND_SIZE, DIR_PASSTHROUGH) ==
			  f->account.size[DIR_PASSTHROUGH]);
	KUNIT_EXPECT_EQ(test, raidtrace_hist_bins(RAIDTRACE_KINDS), 0U);
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
	KUNIT_CASE(only_what_reads_or_writes_moves_the_position),
	KUNIT_CASE(seeks_are_blamed_on_both_classes),
	KUNIT_CASE(groups_not_selected_stay_zero),
	KUNIT_CASE(moving_an_account_adds_every_counter_and_leaves_zeroes),
	KUNIT_CASE(is_zero_reads_each_counter),
	KUNIT_CASE(move_skips_only_histograms_without_events),
	KUNIT_CASE(move_marks_changed_lots),
	KUNIT_CASE(changes_are_found_from_each_lot),
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
