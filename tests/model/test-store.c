// SPDX-License-Identifier: GPL-2.0-or-later
/* The sparse store: what it gives back, what it costs, what happens when it is full. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define SECTORS		(64ULL << 20)	/* 32 GiB */

struct fixture {
	struct rl_store store;
	void *chunk[HOST_CHUNKS];
	u32 chunks;
};

static void *chunk(void *context)
{
	struct fixture *fixture = context;
	void *memory = aligned_alloc(4096, RL_CHUNK_BYTES);

	memset(memory, 0xa5, RL_CHUNK_BYTES);
	fixture->chunk[fixture->chunks++] = memory;
	return memory;
}

static struct fixture *create(u32 mib)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_true(rl_store_create(&fixture->store, SECTORS, mib, chunk, fixture));
	return fixture;
}

static int destroy(struct fixture *fixture)
{
	while (fixture->chunks)
		free(fixture->chunk[--fixture->chunks]);
	free(fixture);
	return 0;
}

static int setup(void **state)
{
	*state = create(4);
	return 0;
}

static int teardown(void **state)
{
	return destroy(*state);
}

static void check_round_trip(struct rl_store *store, u64 lba, const u64 *sector)
{
	u64 back[RL_SECTOR_BYTES / 8];

	memset(back, 0x77, sizeof(back));
	assert_true(rl_store_write(store, lba, 1, sector));
	rl_store_read(store, lba, 1, back);
	assert_memory_equal(back, sector, RL_SECTOR_BYTES);
}

FIXTURE_TEST(unwritten_is_zero, setup, teardown)
{
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 sector[RL_SECTOR_BYTES / 8], zero[RL_SECTOR_BYTES / 8] = { 0 };

	rl_store_read(store, SECTORS - 1, 1, sector);
	assert_memory_equal(sector, zero, sizeof(zero));
	assert_int_equal(rl_store_zero_run(store, 12345, 1 << 20), 1 << 20);
}

/* Every place of the step, with rising, falling and odd bytes there. */
FIXTURE_TEST(every_pattern_comes_back, setup, teardown)
{
	static const u8 pairs[][2] = { { 0, 1 }, { 1, 0 }, { 255, 0 }, { 7, 7 }, { 0, 255 }, { 200, 13 } };
	static const int odds[] = { -1, 0, 1, 2, 63, 64, 255 };
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 words[RL_SECTOR_BYTES / 8];
	u8 *sector = (u8 *)words;
	size_t pair, odd;
	u32 at;

	for (pair = 0; pair < RL_COUNT(pairs); pair++)
		for (odd = 0; odd < RL_COUNT(odds); odd++)
			for (at = 0; at < RL_SECTOR_BYTES; at++) {
				memset(sector, pairs[pair][0], at);
				memset(sector + at, pairs[pair][1], RL_SECTOR_BYTES - at);
				if (odds[odd] >= 0)
					sector[at] = (u8)(pairs[pair][0] + odds[odd]);
				check_round_trip(store, 99, words);
			}
}

FIXTURE_TEST(what_benchmarks_write_takes_no_slot, setup, teardown)
{
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 words[RL_SECTOR_BYTES / 8];
	u8 *sector = (u8 *)words;

	memset(sector, 3, RL_SECTOR_BYTES);
	check_round_trip(store, 0, words);
	memset(sector + 100, 2, RL_SECTOR_BYTES - 100);
	check_round_trip(store, 1, words);
	sector[100] = 4;
	check_round_trip(store, 2, words);
	assert_int_equal(store->slots, 0);
	sector[300] = 9;
	check_round_trip(store, 3, words);
	assert_int_equal(store->slots, 1);
}

FIXTURE_TEST(zeros_give_all_memory_back, setup, teardown)
{
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 seed = 1, used = rl_store_used_bytes(store), full;
	u64 words[RL_SECTOR_BYTES / 8], zero[RL_SECTOR_BYTES / 8] = { 0 };
	u32 i;

	for (i = 0; i < 2000; i++) {
		random_fill(&seed, words, sizeof(words));
		assert_true(rl_store_write(store, i * 3, 1, words));
	}
	assert_int_equal(store->slots, 2000);
	full = rl_store_used_bytes(store);
	assert_true(full >= used + 2000 * RL_SECTOR_BYTES);
	for (i = 0; i < 2000; i++)
		assert_true(rl_store_write(store, i * 3, 1, zero));
	assert_int_equal(store->slots, 0);
	/* The node page that covers 256 MiB stays. */
	assert_int_equal(rl_store_used_bytes(store), used + 4096);
	assert_int_equal(rl_store_zero_run(store, 0, 10000), 10000);
	for (i = 0; i < 2000; i++) {
		random_fill(&seed, words, sizeof(words));
		assert_true(rl_store_write(store, i * 3, 1, words));
	}
	assert_int_equal(rl_store_used_bytes(store), full);
}

FIXTURE_TEST(zero_runs_end_where_data_begins, setup, teardown)
{
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 words[RL_SECTOR_BYTES / 8] = { 1 };

	assert_true(rl_store_write(store, 5000, 1, words));
	assert_int_equal(rl_store_zero_run(store, 0, 100000), 5000);
	assert_int_equal(rl_store_zero_run(store, 4999, 100000), 1);
	assert_int_equal(rl_store_zero_run(store, 5000, 100000), 0);
	assert_int_equal(rl_store_zero_run(store, 5001, 100000), 100000);
	assert_int_equal(rl_store_zero_run(store, 4000, 500), 500);
	/* From the middle of one leaf of 1024 sectors to the start of the next. */
	assert_int_equal(rl_store_zero_run(store, 3500, 100000), 1500);
	assert_true(rl_store_write(store, 4098, 1, words));
	assert_int_equal(rl_store_zero_run(store, 3500, 100000), 598);
}

/* Random writes of all kinds against a plain array. */
FIXTURE_TEST(random_writes_equal_an_array, setup, teardown)
{
	enum { SPAN = 3000 };
	struct rl_store *store = &((struct fixture *)*state)->store;
	u8 *truth = calloc(SPAN, RL_SECTOR_BYTES);
	u64 seed = 42, data[8 * RL_SECTOR_BYTES / 8], back[RL_SECTOR_BYTES / 8];
	u32 i, base = 1 << 19;	/* astride two nodes */

	for (i = 0; i < 20000; i++) {
		u32 lba = random_number(&seed) % (SPAN - 8), count = 1 + random_number(&seed) % 8;

		switch (random_number(&seed) % 4) {
		case 0:
			memset(data, 0, sizeof(data));
			break;
		case 1:
			memset(data, (int)random_number(&seed), sizeof(data));
			break;
		case 2:
			memset(data, 0, sizeof(data));
			memset(data, 1, random_number(&seed) % sizeof(data));
			break;
		default:
			random_fill(&seed, data, sizeof(data));
		}
		assert_true(rl_store_write(store, base - SPAN / 2 + lba, count, data));
		memcpy(truth + (size_t)lba * RL_SECTOR_BYTES, data, (size_t)count * RL_SECTOR_BYTES);
	}
	for (i = 0; i < SPAN; i++) {
		rl_store_read(store, base - SPAN / 2 + i, 1, back);
		assert_memory_equal(back, truth + (size_t)i * RL_SECTOR_BYTES, RL_SECTOR_BYTES);
	}
	free(truth);
}

FIXTURE_TEST(a_full_store_refuses_and_keeps_what_it_has, setup, teardown)
{
	struct rl_store *store = &((struct fixture *)*state)->store;
	u64 seed = 7, words[RL_SECTOR_BYTES / 8], back[RL_SECTOR_BYTES / 8], zero[RL_SECTOR_BYTES / 8] = { 0 };
	u32 written = 0;

	random_fill(&seed, words, sizeof(words));
	while (rl_store_write(store, written, 1, words))
		written++;
	assert_true(store->exhausted);
	/* 4 MiB: nearly all of it sectors. */
	assert_in_range(written, 8000, 8192);
	assert_true(rl_store_used_bytes(store) <= rl_store_limit_bytes(store));
	rl_store_read(store, written - 1, 1, back);
	assert_memory_equal(back, words, sizeof(words));
	rl_store_read(store, written, 1, back);
	assert_memory_equal(back, zero, sizeof(zero));
	assert_true(rl_store_write(store, 17, 1, zero));
	assert_true(rl_store_write(store, written, 1, words));
	assert_true(store->exhausted);
}
