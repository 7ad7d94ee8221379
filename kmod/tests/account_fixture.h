/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the suites of requests: a queue, an account, and their events. */
#ifndef RAIDTRACE_ACCOUNT_FIXTURE_H
#define RAIDTRACE_ACCOUNT_FIXTURE_H

#include <kunit/test.h>
#include <linux/slab.h>

#include "../account-events.h"

#define DIR_READ RAIDTRACE_DIRECTION_READ
#define DIR_WRITE RAIDTRACE_DIRECTION_WRITE
#define DIR_DISCARD RAIDTRACE_DIRECTION_DISCARD
#define DIR_OTHER RAIDTRACE_DIRECTION_OTHER
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

/* Time at which counting began. The nanoseconds of the cases are added to it. */
#define START 1000000

struct fixture {
	struct raidtrace_queue queue;
	struct raidtrace_account account;
};

static __maybe_unused int account_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	raidtrace_queue_start(&f->queue, GROUPS_ALL, STREAMS, START);
	test->priv = f;
	return 0;
}

static __maybe_unused u64 issue_of(struct kunit *test, u64 now, enum raidtrace_direction direction,
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

	now = raidtrace_queue_time(&f->queue, now);
	raidtrace_count_issue(&f->queue, &f->account, f->queue.groups, now, &issue);
	return now;
}

/* Returns the time at which the issue counts. */
static __maybe_unused u64 issue(struct kunit *test, u64 now, enum raidtrace_direction direction, u64 sector,
				u64 nr_sectors)
{
	return issue_of(test, now, direction, RAIDTRACE_CLASS_DATA, sector, nr_sectors);
}

static __maybe_unused void complete_read(struct kunit *test, u64 now, u64 issued)
{
	struct fixture *f = test->priv;
	struct raidtrace_completion completion = {
		.direction = DIR_READ,
		.bytes = 4096,
		.depth_row = raidtrace_depth_row(raidtrace_depth_bin(2)),
	};

	now = raidtrace_queue_time(&f->queue, now);
	completion.d2c_ns = now - issued;
	raidtrace_count_completion(&f->queue, &f->account, f->queue.groups, now, &completion);
}

static __maybe_unused void advance(struct kunit *test, u64 now)
{
	struct fixture *f = test->priv;

	raidtrace_queue_advance(&f->queue, &f->account, now);
}

static __maybe_unused u64 sum(struct kunit *test, enum raidtrace_histogram_kind kind,
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

static __maybe_unused u64 depth_time(struct kunit *test, enum raidtrace_direction direction, unsigned int depth)
{
	struct fixture *f = test->priv;

	return raidtrace_account_bins(&f->account, KIND_DEPTH_TIME, direction)[depth];
}

#endif /* RAIDTRACE_ACCOUNT_FIXTURE_H */
