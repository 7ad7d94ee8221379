// SPDX-License-Identifier: GPL-2.0-or-later
/* The controller's time: what overlaps, what does not, the write-back cache, RAID 5. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "3w-9xxx/timing/timing.h"
#include "host.h"

static struct tw_config config;
static struct tw_timing *timing;

static void create(const char *text)
{
	host_config(&config, text);
	tw_timing_create(timing, &config);
}

static int setup(void **state)
{
	(void)state;
	timing = malloc(sizeof(*timing));
	memset(timing, 0xa5, sizeof(*timing));
	create("controller.latency_us=2000");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(timing);
	return 0;
}

/* Reads of 128 KiB in order, @depth of them always in the controller. Return: nanoseconds each took. */
static u64 stream(u32 depth, u32 commands)
{
	u64 done[256] = { 0 }, now = 0;
	u32 i;

	for (i = 0; i < commands; i++) {
		now = i < depth ? 0 : done[i % depth] > now ? done[i % depth] : now;
		done[i % depth] = tw_timing_read(timing, 0, i * 256ULL, 256, now);
	}
	return now / (commands - depth);
}

FIXTURE_TEST(latency_overlaps_and_the_path_does_not, setup, teardown)
{
	u64 path = 20 * US + rl_transfer_ns(131072, config.controller.read_kib_s), one, two, many;

	one = stream(1, 4000);
	create("controller.latency_us=2000");
	two = stream(2, 4000);
	create("controller.latency_us=2000");
	many = stream(128, 8000);
	/* One at a time: latency, path, and a drive's cache hit. */
	assert_in_range(one, 2000 * US + path + 530 * US, 2000 * US + path + 900 * US);
	assert_in_range(two, one * 45 / 100, one * 55 / 100);
	assert_in_range(many, path, path * 101 / 100);
}

FIXTURE_TEST(a_read_takes_longer_for_each_stripe_that_it_touches, setup, teardown)
{
	u64 whole, aligned, shifted;

	create("controller.latency_us=0,controller.part_us=700,drive.read_ahead=0");
	aligned = tw_timing_read(timing, 0, 0, 256, 0);
	create("controller.latency_us=0,controller.part_us=0,drive.read_ahead=0");
	assert_int_equal(aligned, tw_timing_read(timing, 0, 0, 256, 1400 * US));
	/* From sector 63 on, where partitions began, 128 KiB are parts of three stripes. */
	create("controller.latency_us=0,controller.part_us=700,drive.read_ahead=0");
	shifted = tw_timing_read(timing, 0, 63, 256, 0);
	create("controller.latency_us=0,controller.part_us=0,drive.read_ahead=0");
	assert_int_equal(shifted, tw_timing_read(timing, 0, 63, 256, 2100 * US));
	/* One drive is one part, however long. */
	create("controller.latency_us=0,controller.part_us=700,array.level=single,array.drives=1");
	whole = tw_timing_read(timing, 0, 63, 256, 0);
	create("controller.latency_us=0,controller.part_us=0,array.level=single,array.drives=1");
	assert_int_equal(whole, tw_timing_read(timing, 0, 63, 256, 700 * US));
}

FIXTURE_TEST(a_cached_write_waits_for_no_drive, setup, teardown)
{
	u64 path = 20 * US + rl_transfer_ns(4096, config.controller.write_kib_s);

	assert_int_equal(tw_timing_write(timing, 0, 1000000, 8, 0), path);
	assert_int_equal(timing->dirty_sectors, 8);
	create("controller.cache_mib=0");
	assert_true(tw_timing_write(timing, 0, 1000000, 8, 0) > path + 100 * US);
	assert_int_equal(timing->dirty_sectors, 0);
}

FIXTURE_TEST(a_full_cache_waits_for_the_drives, setup, teardown)
{
	u64 seed = 9, now = 0, first = 0;
	u32 i;

	create("controller.cache_mib=1");
	for (i = 0; i < 2000; i++) {
		now = tw_timing_write(timing, 0, random_number(&seed) % 100000000 * 8ULL, 8, now);
		assert_true(timing->dirty_sectors <= 2048);
		if (i == 199)
			first = now;
	}
	/* 200 fit: 36 us each. 2000 random writes on 12 drives take a seek and half a turn each. */
	assert_true(first < 200 * 60 * US);
	assert_in_range(now, 2000 / 12 * 3000 * US, 2000 / 12 * 12000 * US);
}

FIXTURE_TEST(flush_waits_until_all_is_on_the_drives, setup, teardown)
{
	u64 now = 0, flushed;
	u32 i;

	for (i = 0; i < 64; i++)
		now = tw_timing_write(timing, 0, i * 1000000ULL, 8, now);
	flushed = tw_timing_flush(timing, 0, now);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_true(flushed > now + 10000 * US);
	/* Nothing left: only the firmware's time. */
	assert_in_range(tw_timing_flush(timing, 0, flushed), flushed + 1, flushed + 100 * US);
}

/* Drive 9 is busy with the first write while the others gather behind it. */
FIXTURE_TEST(joined_writes_are_one_for_the_drive, setup, teardown)
{
	const struct tw_backlog *backlog = &timing->backlog[9];
	u64 now = tw_timing_write(timing, 0, 9 * 128 + 1536ULL * 10000, 8, 0);
	u32 i;

	for (i = 0; i < 16; i++)
		now = tw_timing_write(timing, 0, 9 * 128 + i * 8ULL, 8, now);
	assert_int_equal(backlog->count, 1);
	assert_int_equal(backlog->entry[0].sectors, 128);
	/* Written again while still cached: no more than before. */
	now = tw_timing_write(timing, 0, 9 * 128 + 16, 8, now);
	assert_int_equal(backlog->count, 1);
	assert_int_equal(timing->dirty_sectors, 128);
	tw_timing_write(timing, 0, 9 * 128 + 1536 * 5, 8, now);
	assert_int_equal(backlog->count, 2);
	assert_int_equal(timing->dirty_sectors, 136);
}

FIXTURE_TEST(reads_go_before_cached_writes, setup, teardown)
{
	u64 now = 0, read;
	u32 i;

	/* 100 writes wait for drive 0. */
	for (i = 0; i < 100; i++)
		now = tw_timing_write(timing, 0, i * 1536ULL * 1000, 8, now);
	read = tw_timing_read(timing, 0, 1536ULL * 50, 8, now);
	/* At most one write that has begun, then seek and turn. */
	assert_true(read - now < 40000 * US);
}

/* Drives that a write keeps busy, by how far each drive's time moved. */
static u32 busy_drives(u64 lba, u32 sectors)
{
	u32 i, busy = 0;

	tw_timing_write(timing, 0, lba, sectors, 0);
	tw_timing_flush(timing, 0, 0);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		busy += timing->drive[i].free_ns > 0;
	return busy;
}

FIXTURE_TEST(writes_reach_copies_and_parity, setup, teardown)
{
	create("array.level=raid0,array.drives=4");
	assert_int_equal(busy_drives(1000, 8), 1);
	create("array.level=raid1,array.drives=2");
	assert_int_equal(busy_drives(1000, 8), 2);
	create("array.level=raid10,array.drives=8");
	assert_int_equal(busy_drives(1000, 8), 2);
	create("array.level=raid5,array.drives=5");
	assert_int_equal(busy_drives(1000, 8), 2);
	create("array.level=raid5,array.drives=5");
	assert_int_equal(busy_drives(0, 4 * 128), 5);
}

/* Members with something to do, and how many sectors they write. */
static u32 busy_members(u32 *sectors)
{
	u32 i, j, members = 0;

	*sectors = 0;
	for (i = 0; i < TW_MAX_DRIVES; i++) {
		members += timing->backlog[i].count > 0;
		for (j = 0; j < timing->backlog[i].count; j++)
			*sectors += timing->backlog[i].entry[j].read ? 0 : timing->backlog[i].entry[j].sectors;
	}
	return members;
}

/* 10 rows in commands of 128 KiB that end anywhere in them: each row is written whole, none is read. */
FIXTURE_TEST(raid5_gathers_rows_across_commands, setup, teardown)
{
	u32 i, sectors;
	u64 now = 0;

	create("array.level=raid5,array.drives=5");
	for (i = 0; i < 20; i++)
		now = tw_timing_write(timing, 0, i * 256, 256, now);
	assert_int_equal(timing->nr_methods[TW_FULL_ROW], 10);
	assert_int_equal(timing->nr_rows, 0);
	assert_int_equal(timing->nr_methods[TW_READ_MODIFY] + timing->nr_methods[TW_RECONSTRUCT], 0);
	tw_timing_flush(timing, 0, now);
	assert_int_equal(timing->dirty_sectors, 0);
	/* Not in order, still whole. */
	for (i = 8; i--;)
		now = tw_timing_write(timing, 0, 1000000 / 512 * 512 + i * 64, 64, now);
	assert_int_equal(timing->nr_methods[TW_FULL_ROW], 11);
	/* All five members are given their 128 sectors; some have begun. */
	assert_true(busy_members(&sectors) <= 5);
	assert_true(sectors <= 5 * 128);
}

FIXTURE_TEST(raid5_hands_over_a_part_when_it_is_old, setup, teardown)
{
	u32 sectors;

	create("array.level=raid5,array.drives=5,controller.gather_ms=50");
	tw_timing_write(timing, 0, 100, 8, 0);
	assert_int_equal(timing->nr_rows, 1);
	assert_int_equal(busy_members(&sectors), 0);
	tw_timing_other(timing, 40000 * US);
	assert_int_equal(timing->nr_rows, 1);
	tw_timing_other(timing, 60000 * US);
	assert_int_equal(timing->nr_rows, 0);
	assert_int_equal(busy_members(&sectors), 2);
	assert_int_equal(sectors, 16);
	assert_int_equal(timing->nr_methods[TW_READ_MODIFY], 1);
	/* Only the data was charged to the cache. */
	assert_int_equal(timing->dirty_sectors, 8);
	tw_timing_flush(timing, 0, 60000 * US);
	assert_int_equal(timing->dirty_sectors, 0);
}

FIXTURE_TEST(raid5_small_writes_cost_a_turn_and_large_ones_do_not, setup, teardown)
{
	u64 turn, small, large;

	create("array.level=raid5,array.drives=5,controller.cache_mib=0");
	turn = timing->geometry.rotation_ns;
	small = tw_timing_write(timing, 0, 0, 8, 0);
	create("array.level=raid5,array.drives=5,controller.cache_mib=0");
	large = tw_timing_write(timing, 0, 0, 512, 0);
	assert_true(small > turn);
	/* Whole: at most a turn of waiting and the transfer; in part: one turn more. */
	assert_true(large < small + rl_transfer_ns(512 * 512, 200000));
	assert_int_equal(timing->dirty_sectors, 0);
}

/* Writes everywhere: the cache keeps its bound and every row is written in the end. */
FIXTURE_TEST(raid5_keeps_the_bounds_of_its_cache, setup, teardown)
{
	u64 seed = 5, now = 0, rows = 0;
	u32 i;

	create("array.level=raid5,array.drives=6,controller.cache_mib=1");
	for (i = 0; i < 3000; i++) {
		u32 sectors = 1 + random_number(&seed) % 300;

		now = tw_timing_write(timing, 0, random_number(&seed) % 10000000, sectors, now);
		assert_true(timing->dirty_sectors <= 2048);
		assert_true(timing->nr_rows <= TW_ROWS);
	}
	tw_timing_flush(timing, 0, now);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_int_equal(timing->nr_rows, 0);
	for (i = 0; i < RL_COUNT(timing->nr_methods); i++)
		rows += timing->nr_methods[i];
	assert_true(rows >= 3000);
}

/* A missing member is neither read nor written. Its data is read from all others. */
FIXTURE_TEST(a_missing_member_is_left_alone, setup, teardown)
{
	static const char *const shapes[] = {
		"array.level=raid5,array.drives=5", "array.level=raid1,array.drives=2", "array.level=raid10,array.drives=4",
	};
	u64 seed = 5, now = 0;
	size_t shape;
	u32 i;

	for (shape = 0; shape < RL_COUNT(shapes); shape++) {
		create(shapes[shape]);
		tw_timing_write(timing, 0, 0, 512, 0);
		tw_timing_lose_drive(timing, 0, 1);
		now = timing->drive[1].free_ns;
		for (i = 0; i < 300; i++) {
			u32 lba = random_number(&seed) % 10000000;

			now = i % 2 ? tw_timing_write(timing, 0, lba, 64, now) : tw_timing_read(timing, 0, lba, 64, now);
		}
		tw_timing_flush(timing, 0, now);
		assert_int_equal(timing->drive[1].uses, 0);
		assert_false(timing->drive[1].writing);
		assert_int_equal(timing->dirty_sectors, 0);
	}
}

FIXTURE_TEST(a_degraded_read_takes_all_other_members, setup, teardown)
{
	u32 i, used = 0;

	create("array.level=raid5,array.drives=5");
	tw_timing_lose_drive(timing, 0, 1);
	/* Row 0, column 1 is on member 1. */
	tw_timing_read(timing, 0, 128, 64, 0);
	for (i = 0; i < 5; i++)
		used += timing->drive[i].uses > 0;
	assert_int_equal(used, 4);
}

FIXTURE_TEST(a_bad_drive_makes_its_commands_longer, setup, teardown)
{
	u64 good, bad;

	good = tw_timing_read(timing, 0, 128, 8, 0) - timing->free_ns;
	create("controller.latency_us=2000,drive.slow_member=2,drive.slow_factor=20");
	bad = tw_timing_read(timing, 0, 128, 8, 0) - timing->free_ns;
	assert_true(bad - 2000 * US == (good - 2000 * US) * 20);
	create("controller.latency_us=2000,drive.slow_member=3,drive.slow_factor=20");
	assert_true(tw_timing_read(timing, 0, 128, 8, 0) - timing->free_ns == good);
}

FIXTURE_TEST(units_have_drives_of_their_own, setup, teardown)
{
	u64 first;

	create("array.level=single,array.drives=1,array.units=2,controller.read_kib_s=100000000,controller.command_us=0");
	first = tw_timing_read(timing, 0, 1000000, 8, 0);
	assert_true(tw_timing_read(timing, 0, 90000000, 8, 0) > first);
	assert_true(timing->drive[1].free_ns == 0);
	tw_timing_read(timing, 1, 90000000, 8, 0);
	assert_true(timing->drive[1].free_ns > 0);
}

/* RAID 5 when the cache gathers few rows at a time, and what a row in parts makes all others wait. */

#define ROW	512U	/* sectors: 4 data drives, 64 KiB */
#define SHAPE	"array.level=raid5,array.drives=5"

/* @rows rows from each of @streams places by turns, 128 KiB at a time. Return: rows that were written in parts. */
static u64 write_streams(u32 streams, u32 rows)
{
	u64 now = 0;
	u32 i, j;

	for (i = 0; i < rows * ROW / 256; i++)
		for (j = 0; j < streams; j++)
			now = tw_timing_write(timing, 0, j * 1000 * ROW + i * 256, 256, now);
	tw_timing_flush(timing, 0, now);
	assert_int_equal(timing->nr_rows, 0);
	assert_int_equal(timing->dirty_sectors, 0);
	return timing->nr_methods[TW_READ_MODIFY] + timing->nr_methods[TW_RECONSTRUCT];
}

FIXTURE_TEST(as_many_streams_as_rows_stay_whole, setup, teardown)
{
	static const struct { const char *text; u32 streams; bool whole; } cases[] = {
		{ SHAPE, 1, true }, { SHAPE, 30, true },
		{ SHAPE ",controller.gather_rows=1", 1, true }, { SHAPE ",controller.gather_rows=1", 2, false },
		{ SHAPE ",controller.gather_rows=2", 2, true }, { SHAPE ",controller.gather_rows=2", 3, false },
		{ SHAPE ",controller.gather_rows=8", 8, true }, { SHAPE ",controller.gather_rows=8", 9, false },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(cases); i++) {
		u64 parts;

		create(cases[i].text);
		parts = write_streams(cases[i].streams, 4);
		/* Two commands of a row, each alone: every row is written twice, in parts. */
		if (parts != (cases[i].whole ? 0 : 8 * cases[i].streams))
			fail_msg("%s, %u streams: %llu in parts", cases[i].text, cases[i].streams, parts);
		assert_int_equal(timing->nr_methods[TW_FULL_ROW], cases[i].whole ? 4 * cases[i].streams : 0);
	}
}

/* The oldest goes, not the one that is being written. */
FIXTURE_TEST(one_row_more_and_the_oldest_goes, setup, teardown)
{
	create(SHAPE ",controller.gather_rows=2");
	tw_timing_write(timing, 0, 0, 8, 0);
	tw_timing_write(timing, 0, 10 * ROW, 8, 0);
	tw_timing_write(timing, 0, 20 * ROW, 8, 0);
	assert_int_equal(timing->nr_rows, 2);
	assert_int_equal(timing->row[0].row, 10);
	assert_int_equal(timing->row[1].row, 20);
	assert_int_equal(timing->nr_methods[TW_READ_MODIFY], 1);
}

FIXTURE_TEST(a_read_waits_for_rows_if_told_so, setup, teardown)
{
	u64 alone, concurrent, waits, turn;

	/* Row 0 has its parity on member 4; what is written is on member 0, what is read on member 2. */
	create(SHAPE ",controller.gather_reads=1");
	turn = timing->geometry.rotation_ns;
	alone = tw_timing_read(timing, 0, 256, 8, 1);
	create(SHAPE);
	tw_timing_write(timing, 0, 0, 8, 0);
	concurrent = tw_timing_read(timing, 0, 256, 8, 1);
	assert_int_equal(timing->nr_rows, 1);
	assert_true(concurrent < alone + turn / 10);
	create(SHAPE ",controller.gather_reads=1");
	tw_timing_write(timing, 0, 0, 8, 0);
	waits = tw_timing_read(timing, 0, 256, 8, 1);
	assert_int_equal(timing->nr_rows, 0);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_int_equal(timing->nr_methods[TW_READ_MODIFY], 1);
	/* Old data is read, a turn later the new is written, and only then the read begins. */
	assert_true(waits > concurrent + turn);
}

/* How much longer the firmware is busy after a write of @sectors at row 0 that is handed over at once. */
static u64 busy_ns(const char *text, u32 sectors)
{
	create(text);
	tw_timing_write(timing, 0, 0, sectors, 0);
	tw_gather_oldest(timing, 0);
	return timing->free_ns;
}

FIXTURE_TEST(the_firmware_waits_for_old_data_if_told_so, setup, teardown)
{
	u64 turn, part, part_waits, whole, whole_waits;
	u32 i;

	part = busy_ns(SHAPE, 8);
	whole = busy_ns(SHAPE, ROW);
	part_waits = busy_ns(SHAPE ",controller.parity_waits=1", 8);
	turn = timing->geometry.rotation_ns;
	/* Old data is not read again: the drives of data and parity each have one write to do. */
	for (i = 0; i < TW_MAX_DRIVES; i++) {
		assert_true(timing->backlog[i].count <= 1);
		assert_false(timing->backlog[i].count && timing->backlog[i].entry[0].turns);
		assert_false(timing->backlog[i].count && timing->backlog[i].entry[0].read);
	}
	assert_int_equal(timing->backlog[0].count + timing->backlog[4].count, 2);
	whole_waits = busy_ns(SHAPE ",controller.parity_waits=1", ROW);
	assert_int_equal(whole_waits, whole);
	assert_true(part < turn / 10);
	/* A seek, at most a turn, and the transfer. */
	assert_true(part_waits > part + 100000);
	assert_true(part_waits < part + 2 * turn + 20000000);
}

FIXTURE_TEST(a_row_in_parts_is_written_to_its_end_if_told_so, setup, teardown)
{
	u64 waits, to_end, whole, turn;
	u32 i;

	waits = busy_ns(SHAPE ",controller.parity_waits=1", 8);
	whole = busy_ns(SHAPE, ROW);
	to_end = busy_ns(SHAPE ",controller.parity_waits=2", 8);
	turn = timing->geometry.rotation_ns;
	/* The sectors that were read pass the head once more before they can be written, and no write remains. */
	assert_true(to_end > waits + turn / 2);
	assert_true(to_end < waits + 2 * turn);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		assert_int_equal(timing->backlog[i].count, 0);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_int_equal(busy_ns(SHAPE ",controller.parity_waits=2", ROW), whole);
	assert_true(timing->dirty_sectors > 0);
}

/* All the same at once, writes and reads everywhere, on sound and degraded arrays: bounds hold, everything is written. */
FIXTURE_TEST(bounds_hold_whatever_is_set, setup, teardown)
{
	u64 seed = 11;
	u32 round, i;

	for (round = 0; round < 24; round++) {
		char text[200];
		u64 now = 0;

		snprintf(text, sizeof(text), SHAPE ",array.units=2,controller.cache_mib=%u,controller.gather_rows=%u,"
			 "controller.gather_reads=%u,controller.parity_waits=%u", round % 3, 1U << round % 8, round / 2 % 2,
			 round % 3);
		create(text);
		if (round >= 12)
			tw_timing_lose_drive(timing, 0, round % 5);
		for (i = 0; i < 500; i++) {
			u32 unit = random_number(&seed) % 2, sectors = 1 + random_number(&seed) % 300;
			u64 lba = random_number(&seed) % 10000000, done;

			done = random_number(&seed) % 4 ? tw_timing_write(timing, unit, lba, sectors, now) :
							  tw_timing_read(timing, unit, lba, sectors, now);
			assert_true(done >= now);
			now = random_number(&seed) % 2 ? done : now + random_number(&seed) % 1000000;
			assert_true(timing->nr_rows <= config.controller.gather_rows);
			assert_true(timing->dirty_sectors <= 2048 * config.controller.cache_mib);
		}
		tw_timing_flush(timing, 0, now);
		tw_timing_flush(timing, 1, now);
		assert_int_equal(timing->dirty_sectors, 0);
		assert_int_equal(timing->nr_rows, 0);
	}
}
