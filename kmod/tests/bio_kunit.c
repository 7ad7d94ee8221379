// SPDX-License-Identifier: GPL-2.0-only
/* Counters that a queued bio changes, its part of the disk, and the stream that it continues. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../account-events.h"

#define DIR_READ RAIDTRACE_DIRECTION_READ
#define DIR_WRITE RAIDTRACE_DIRECTION_WRITE
#define DIR_FLUSH RAIDTRACE_DIRECTION_FLUSH

#define NOW 1000000ULL

struct fixture {
	struct raidtrace_position arrival;
	u32 groups;
	struct raidtrace_account account;
	struct raidtrace_streams streams;
};

static int bio_init_case(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->groups = 0xfff;
	raidtrace_position_start(&f->arrival, 4);
	raidtrace_streams_start(&f->streams, 4);
	test->priv = f;
	return 0;
}

static void queue_of(struct kunit *test, enum raidtrace_direction direction,
		     enum raidtrace_class class, u32 submitter, u64 sector, u32 nr_sectors)
{
	struct fixture *f = test->priv;
	struct raidtrace_bio bio = {
		.direction = direction,
		.class = class,
		.queued_ns = NOW,
		.sector = sector,
		.bytes = nr_sectors << 9,
		.submitter = submitter,
		.ahead = class == RAIDTRACE_CLASS_READAHEAD,
	};

	raidtrace_count_bio(&f->arrival, &f->account, f->groups, &bio);
}

static void queue_bio(struct kunit *test, enum raidtrace_direction direction, u64 sector,
		      u32 nr_sectors)
{
	queue_of(test, direction, RAIDTRACE_CLASS_DATA, 0, sector, nr_sectors);
}

static bool follow(struct kunit *test, u64 sector)
{
	struct fixture *f = test->priv;

	return raidtrace_streams_follow(&f->streams, sector, sector + 8, NOW);
}

static void bio_counts_bytes_and_distance(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_flow *flow = &f->account.flow[DIR_READ];

	queue_bio(test, DIR_READ, 0, 8);
	queue_bio(test, DIR_READ, 8, 8);
	queue_bio(test, DIR_WRITE, 16, 8);
	queue_bio(test, DIR_READ, 28, 8);
	queue_bio(test, DIR_READ, 28, 8);
	KUNIT_EXPECT_EQ(test, flow->queued, 4ULL);
	KUNIT_EXPECT_EQ(test, flow->bytes_queued, 4ULL * 4096);
	KUNIT_EXPECT_EQ(test, flow->sequential_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow->seek_queued_forward_sectors, 4ULL);
	KUNIT_EXPECT_EQ(test, flow->seek_queued_backward_sectors, 8ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_WRITE].sequential_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek_queued[DIR_READ][64], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek_queued[DIR_READ][67], 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.seek_queued[DIR_READ][60], 1ULL);
}

static void reset_forgets_the_position(struct kunit *test)
{
	struct fixture *f = test->priv;

	queue_bio(test, DIR_READ, 0, 8);
	raidtrace_position_start(&f->arrival, f->arrival.streams.nr);
	queue_bio(test, DIR_READ, 8, 8);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential_queued, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].stream_queued, 0ULL);
}

static void owners_sum_to_directions(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_submitted *first = &f->account.submitted[0];
	struct raidtrace_submitted *second = &f->account.submitted[1];
	struct raidtrace_origin *metadata = &f->account.origin[RAIDTRACE_CLASS_METADATA];

	queue_of(test, DIR_READ, RAIDTRACE_CLASS_READAHEAD, 0, 0, 8);
	queue_of(test, DIR_READ, RAIDTRACE_CLASS_METADATA, 1, 800, 2);
	queue_of(test, DIR_WRITE, RAIDTRACE_CLASS_METADATA, 1, 802, 2);
	KUNIT_EXPECT_EQ(test, metadata->queued, 2ULL);
	KUNIT_EXPECT_EQ(test, metadata->bytes_queued, 2048ULL);
	KUNIT_EXPECT_EQ(test, metadata->seeks_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, first->queued + second->queued, 3ULL);
	KUNIT_EXPECT_EQ(test, second->bytes_queued, 2048ULL);
	KUNIT_EXPECT_EQ(test, second->seeks_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].ahead_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].bytes_ahead_queued, 4096ULL);
}

static void groups_not_selected_stay_zero(struct kunit *test)
{
	struct fixture *f = test->priv;
	const u64 *rest = (const u64 *)&f->account.origin;
	u64 others = 0;
	unsigned int i;

	f->groups = RAIDTRACE_GROUP_FLOW;
	queue_of(test, DIR_READ, RAIDTRACE_CLASS_READAHEAD, 0, 0, 8);
	queue_of(test, DIR_READ, RAIDTRACE_CLASS_READAHEAD, 0, 8, 8);
	for (i = 0; i < (sizeof(f->account) - sizeof(f->account.flow)) / sizeof(u64); i++)
		others += rest[i];
	KUNIT_EXPECT_EQ(test, others, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].queued, 2ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].sequential_queued, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].stream_queued, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.flow[DIR_READ].ahead_queued, 0ULL);
}

/* Compared with plain division at the edges of every part, for small and large disks. */
static void parts_are_of_one_size(struct kunit *test)
{
	static const u64 capacities[] = {
		0, 8, 2047, 2048, 4096, 100000, 1953525168, 39062500000, (1ULL << 39) - 1,
	};
	unsigned int i, bin;

	for (i = 0; i < ARRAY_SIZE(capacities); i++) {
		struct raidtrace_place place;
		u64 low;

		raidtrace_place_set(&place, capacities[i]);
		KUNIT_ASSERT_GT(test, place.sectors * RAIDTRACE_PLACE_BINS, capacities[i]);
		for (bin = 0; bin < RAIDTRACE_PLACE_BINS; bin++) {
			low = bin * place.sectors;
			KUNIT_ASSERT_EQ(test, raidtrace_place_bin(&place, low), bin);
			KUNIT_ASSERT_EQ(test, raidtrace_place_bin(&place, low + place.sectors - 1),
					bin);
		}
		KUNIT_ASSERT_EQ(test, raidtrace_place_bin(&place, ~0ULL),
				(u32)RAIDTRACE_PLACE_BINS - 1);
		low = RAIDTRACE_PLACE_BINS * place.sectors;
		KUNIT_ASSERT_EQ(test, raidtrace_place_bin(&place, low), (u32)RAIDTRACE_PLACE_BINS - 1);
	}
}

static void two_interleaved_streams_are_followed(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i, continued = 0;

	for (i = 0; i < 100; i++)
		continued += follow(test, 8 * i) + follow(test, 1000000 + 8 * i);
	KUNIT_EXPECT_EQ(test, continued, 198U);
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(&f->streams, NOW), 2U);
}

/* A stream ends a second after its last bio. If it is replaced earlier it counts as forgotten. */
static void stream_lives_a_second(struct kunit *test)
{
	struct raidtrace_streams *streams = &((struct fixture *)test->priv)->streams;
	const u64 end = NOW + RAIDTRACE_STREAM_ALIVE_NS;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		follow(test, 1000 * i);
		follow(test, 1000 * i + 8);
	}
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(streams, end - 1), 4U);
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(streams, end), 0U);
	KUNIT_EXPECT_EQ(test, streams->forgotten, 0ULL);
	raidtrace_streams_follow(streams, 70000, 70008, end - 1);
	KUNIT_EXPECT_EQ(test, streams->forgotten, 1ULL);
	raidtrace_streams_follow(streams, 80000, 80008, end);
	KUNIT_EXPECT_EQ(test, streams->forgotten, 1ULL);
	/* A stream that continued is still alive. */
	raidtrace_streams_follow(streams, 80008, 80016, end + 5);
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(streams, end + RAIDTRACE_STREAM_ALIVE_NS), 1U);
	raidtrace_streams_start(streams, 4);
	KUNIT_EXPECT_EQ(test, streams->forgotten, 0ULL);
	/* A stream lives from its beginning. */
	for (i = 0; i < 5; i++)
		follow(test, 1000 * i);
	KUNIT_EXPECT_EQ(test, streams->forgotten, 1ULL);
}

/* Compared with a simple list, in random order, with streams that reach the same sector. */
static void streams_equal_those_of_a_list(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 list[4] = {}, random = 88172645463325252ULL;
	unsigned int i, j, nr = 0;

	for (i = 0; i < 20000; i++) {
		u64 sector;
		bool found = false;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* Few different places, so that half of them continue something. */
		sector = random % 12 * 8;
		for (j = 0; j < nr && !found; j++)
			found = list[j] == sector;
		KUNIT_ASSERT_EQ(test, follow(test, sector), found);
		if (found)
			j--;
		else if (nr < ARRAY_SIZE(list))
			j = nr++;
		else
			j = nr - 1;
		memmove(&list[1], &list[0], j * sizeof(list[0]));
		list[0] = sector + 8;
		KUNIT_ASSERT_LE(test, raidtrace_streams_alive(&f->streams, NOW), nr);
	}
}

static void one_stream_is_the_previous_end(struct kunit *test)
{
	struct fixture *f = test->priv;

	raidtrace_streams_start(&f->streams, 1);
	KUNIT_EXPECT_FALSE(test, follow(test, 0));
	KUNIT_EXPECT_TRUE(test, follow(test, 8));
	KUNIT_EXPECT_FALSE(test, follow(test, 800));
	KUNIT_EXPECT_FALSE(test, follow(test, 16));
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(&f->streams, NOW), 0U);
}

/* Streams whose ends have the same hash are distinguished. */
static void ends_of_one_hash_are_distinguished(struct kunit *test)
{
	u64 second = 8;

	do
		second += 8;
	while (stream_hash(second) != stream_hash(8));
	follow(test, 0);
	KUNIT_EXPECT_FALSE(test, follow(test, second));
	follow(test, second - 8);
	KUNIT_EXPECT_TRUE(test, follow(test, 8));
	KUNIT_EXPECT_TRUE(test, follow(test, second));
}

/* After the start there are as many streams as requested, all without an end and not alive. */
static void start_forgets_all(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned int i;
	u64 end = 8;

	while (stream_hash(end))
		end += 8;
	memset(&f->streams, 1, sizeof(f->streams));
	raidtrace_streams_start(&f->streams, RAIDTRACE_STREAMS_MAX);
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(&f->streams, NOW), 0U);
	KUNIT_EXPECT_FALSE(test, follow(test, 0));
	for (i = 1; i < RAIDTRACE_STREAMS_MAX; i++)
		follow(test, 1000 * i);
	KUNIT_EXPECT_TRUE(test, follow(test, 8));
	/* The second of these takes the place of a stream that will be there no more. */
	follow(test, 500000);
	follow(test, end - 8);
	raidtrace_streams_start(&f->streams, 2);
	KUNIT_EXPECT_EQ(test, raidtrace_streams_alive(&f->streams, NOW), 0U);
	KUNIT_EXPECT_FALSE(test, follow(test, end));
	KUNIT_EXPECT_FALSE(test, follow(test, 1008));
	KUNIT_EXPECT_FALSE(test, follow(test, 5000));
	KUNIT_EXPECT_FALSE(test, follow(test, 6000));
	KUNIT_EXPECT_FALSE(test, follow(test, 1016));
	KUNIT_EXPECT_TRUE(test, follow(test, 6008));
}

static void bios_one_sector_apart_and_without_a_place(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct raidtrace_flow *flow = &f->account.flow[DIR_READ];

	queue_bio(test, DIR_READ, 0, 8);
	queue_bio(test, DIR_READ, 8, 8);
	queue_bio(test, DIR_READ, 17, 8);
	queue_bio(test, DIR_FLUSH, 0, 0);
	KUNIT_EXPECT_EQ(test, flow->stream_queued, 1ULL);
	KUNIT_EXPECT_EQ(test, flow->seek_queued_forward_sectors, 1ULL);
	KUNIT_EXPECT_EQ(test, flow->seek_queued_backward_sectors, 0ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].queued, 4ULL);
	KUNIT_EXPECT_EQ(test, f->account.origin[RAIDTRACE_CLASS_DATA].seeks_queued, 1ULL);
}

static struct kunit_case bio_cases[] = {
	KUNIT_CASE(bio_counts_bytes_and_distance),
	KUNIT_CASE(reset_forgets_the_position),
	KUNIT_CASE(owners_sum_to_directions),
	KUNIT_CASE(groups_not_selected_stay_zero),
	KUNIT_CASE(parts_are_of_one_size),
	KUNIT_CASE(two_interleaved_streams_are_followed),
	KUNIT_CASE(stream_lives_a_second),
	KUNIT_CASE(streams_equal_those_of_a_list),
	KUNIT_CASE(one_stream_is_the_previous_end),
	KUNIT_CASE(ends_of_one_hash_are_distinguished),
	KUNIT_CASE(start_forgets_all),
	KUNIT_CASE(bios_one_sector_apart_and_without_a_place),
	{}
};

static struct kunit_suite bio_suite = {
	.name = "raidtrace_bio",
	.init = bio_init_case,
	.test_cases = bio_cases,
};

kunit_test_suite(bio_suite);
