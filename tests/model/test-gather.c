// SPDX-License-Identifier: GPL-2.0-or-later
/* RAID 5 when the cache gathers few rows at a time, and what a row in parts makes all others wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "3w-9xxx/timing/gather.h"
#include "host.h"

#define ROW	512U	/* sectors: 4 data drives, 64 KiB */
#define SHAPE	"array.level=raid5,array.drives=5"

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
	return timing ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(timing);
	return 0;
}

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
	return timing->nr_ways[TW_READ_MODIFY] + timing->nr_ways[TW_RECONSTRUCT];
}

static void as_many_streams_as_rows_stay_whole(void **state)
{
	static const struct { const char *text; u32 streams; bool whole; } cases[] = {
		{ SHAPE, 1, true }, { SHAPE, 30, true },
		{ SHAPE ",controller.gather_rows=1", 1, true }, { SHAPE ",controller.gather_rows=1", 2, false },
		{ SHAPE ",controller.gather_rows=2", 2, true }, { SHAPE ",controller.gather_rows=2", 3, false },
		{ SHAPE ",controller.gather_rows=8", 8, true }, { SHAPE ",controller.gather_rows=8", 9, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < RL_COUNT(cases); i++) {
		u64 parts;

		create(cases[i].text);
		parts = write_streams(cases[i].streams, 4);
		/* Two commands of a row, each alone: every row is written twice, in parts. */
		if (parts != (cases[i].whole ? 0 : 8 * cases[i].streams))
			fail_msg("%s, %u streams: %llu in parts", cases[i].text, cases[i].streams, parts);
		assert_int_equal(timing->nr_ways[TW_FULL_ROW], cases[i].whole ? 4 * cases[i].streams : 0);
	}
}

/* The oldest goes, not the one that is being written. */
static void one_row_more_and_the_oldest_goes(void **state)
{
	(void)state;
	create(SHAPE ",controller.gather_rows=2");
	tw_timing_write(timing, 0, 0, 8, 0);
	tw_timing_write(timing, 0, 10 * ROW, 8, 0);
	tw_timing_write(timing, 0, 20 * ROW, 8, 0);
	assert_int_equal(timing->nr_rows, 2);
	assert_int_equal(timing->row[0].row, 10);
	assert_int_equal(timing->row[1].row, 20);
	assert_int_equal(timing->nr_ways[TW_READ_MODIFY], 1);
}

static void a_read_waits_for_rows_if_told_so(void **state)
{
	u64 alone, beside, waits, turn;

	(void)state;
	/* Row 0 has its parity on member 4; what is written is on member 0, what is read on member 2. */
	create(SHAPE ",controller.gather_reads=1");
	turn = timing->geometry.rotation_ns;
	alone = tw_timing_read(timing, 0, 256, 8, 1);
	create(SHAPE);
	tw_timing_write(timing, 0, 0, 8, 0);
	beside = tw_timing_read(timing, 0, 256, 8, 1);
	assert_int_equal(timing->nr_rows, 1);
	assert_true(beside < alone + turn / 10);
	create(SHAPE ",controller.gather_reads=1");
	tw_timing_write(timing, 0, 0, 8, 0);
	waits = tw_timing_read(timing, 0, 256, 8, 1);
	assert_int_equal(timing->nr_rows, 0);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_int_equal(timing->nr_ways[TW_READ_MODIFY], 1);
	/* Old data is read, a turn later the new is written, and only then the read begins. */
	assert_true(waits > beside + turn);
}

/* How much longer the firmware is busy after a write of @sectors at row 0 that is handed over at once. */
static u64 busy_ns(const char *text, u32 sectors)
{
	create(text);
	tw_timing_write(timing, 0, 0, sectors, 0);
	tw_gather_oldest(timing, 0);
	return timing->free_ns;
}

static void the_firmware_waits_for_old_data_if_told_so(void **state)
{
	u64 turn, part, part_waits, whole, whole_waits;
	u32 i;

	(void)state;
	part = busy_ns(SHAPE, 8);
	whole = busy_ns(SHAPE, ROW);
	part_waits = busy_ns(SHAPE ",controller.parity_waits=1", 8);
	turn = timing->geometry.rotation_ns;
	/* What was read is not read again: of two drives, data and parity, each has one write to do. */
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

static void a_row_in_parts_is_written_to_its_end_if_told_so(void **state)
{
	u64 waits, to_end, whole, turn;
	u32 i;

	(void)state;
	waits = busy_ns(SHAPE ",controller.parity_waits=1", 8);
	whole = busy_ns(SHAPE, ROW);
	to_end = busy_ns(SHAPE ",controller.parity_waits=2", 8);
	turn = timing->geometry.rotation_ns;
	/* What was read comes round once more before it can be written, and nothing is left to be written later. */
	assert_true(to_end > waits + turn / 2);
	assert_true(to_end < waits + 2 * turn);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		assert_int_equal(timing->backlog[i].count, 0);
	assert_int_equal(timing->dirty_sectors, 0);
	assert_int_equal(busy_ns(SHAPE ",controller.parity_waits=2", ROW), whole);
	assert_true(timing->dirty_sectors > 0);
}

/* All the same at once, writes and reads everywhere, on sound and degraded arrays: bounds hold, everything is written. */
static void bounds_hold_whatever_is_set(void **state)
{
	u64 seed = 11;
	u32 round, i;

	(void)state;
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

int gather_suite(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_streams_as_rows_stay_whole),
		cmocka_unit_test(one_row_more_and_the_oldest_goes),
		cmocka_unit_test(a_read_waits_for_rows_if_told_so),
		cmocka_unit_test(the_firmware_waits_for_old_data_if_told_so),
		cmocka_unit_test(a_row_in_parts_is_written_to_its_end_if_told_so),
		cmocka_unit_test(bounds_hold_whatever_is_set),
	};

	return cmocka_run_group_tests_name("gather", tests, setup, teardown);
}
