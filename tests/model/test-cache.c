// SPDX-License-Identifier: GPL-2.0-or-later
/* The write-back cache: what a flush waits for, the data that a power cut loses, and the answer of MODE SENSE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define SECTORS		(16U << 10)	/* of the unit, where the tests write */
#define STEP		8U		/* sectors of one block, written and compared as one */
#define BLOCKS		(SECTORS / STEP)
#define SMALL		"store_mib=64,log_entries=20000,drive.sectors=1000000,"

static const u8 flush_cdb[10] = { 0x35 };

/* The possible contents of a block: any version from @flushed to @latest. */
struct block {
	u32 flushed;
	u32 latest;
};

struct image {
	struct host *host;
	struct block block[BLOCKS];
	u32 version;
	u64 seed;
};

static void stamp(u64 *to, u32 block, u32 version)
{
	u32 i;

	for (i = 0; i < STEP * RL_SECTOR_BYTES / sizeof(*to); i++)
		to[i] = version ? (u64)block << 32 | version : 0;
}

static void write_blocks(struct image *image, u32 first, u32 count)
{
	u32 i;

	image->version++;
	for (i = 0; i < count; i++) {
		stamp(host_at(image->host, HOST_DATA + i * STEP * RL_SECTOR_BYTES), first + i, image->version);
		image->block[first + i].latest = image->version;
	}
	driver_transfer(image->host, 3, true, first * STEP, count * STEP, 0);
	assert_int_equal(driver_finish(image->host, 3), 0);
}

static void flush(struct image *image)
{
	u32 i;

	assert_int_equal(driver_command(image->host, 0, flush_cdb, sizeof(flush_cdb), 0), 0);
	for (i = 0; i < BLOCKS; i++)
		image->block[i].flushed = image->block[i].latest;
}

/* Return: blocks that hold less than was written last; fails when one holds less than was flushed. */
static u32 look(struct image *image)
{
	u64 *data = host_at(image->host, HOST_DATA);
	u32 i, lost = 0;

	for (i = 0; i < BLOCKS; i++) {
		const struct block *block = &image->block[i];
		u64 expected[STEP * RL_SECTOR_BYTES / sizeof(u64)];
		u32 version;

		driver_transfer(image->host, 4, false, i * STEP, STEP, 0);
		assert_int_equal(driver_finish(image->host, 4), 0);
		version = (u32)data[0];
		stamp(expected, i, version);
		assert_memory_equal(data, expected, sizeof(expected));
		if (version < block->flushed || version > block->latest)
			fail_msg("block %u: version %u, flushed %u, latest %u", i, version, block->flushed,
				 block->latest);
		lost += version != block->latest;
	}
	return lost;
}

/* Write and flush at random until the power fails, with a write that goes with it. Return: see look(). */
static u32 cut(const char *array, u32 command, u64 seed)
{
	struct image *image = calloc(1, sizeof(*image));
	char text[400];
	u32 i, lost;

	snprintf(text, sizeof(text), SMALL "%s,fault.power_command=%u", array, command);
	image->host = host_create(text);
	image->seed = seed;
	driver_probe(image->host);
	for (i = 1; i < command; i++) {
		u32 count = 1 + random_number(&image->seed) % 32;

		write_blocks(image, random_number(&image->seed) % (BLOCKS - count), count);
		if (random_number(&image->seed) % 16 == 0)
			flush(image);
		if (random_number(&image->seed) % 8 == 0)
			image->host->clock += random_number(&image->seed) % 20000000;
	}
	driver_transfer(image->host, 3, true, 0, STEP, 0);
	assert_true(tw_model_read(&image->host->model, TW_REG_STATUS) & TW_STATUS_RESPONSE_EMPTY);
	lost = look(image);
	host_destroy(image->host);
	free(image);
	return lost;
}

/* Property: on every level, whenever it happens, what was flushed is there; and something else is not. */
TEST(no_battery_keeps_what_was_flushed)
{
	static const char *const arrays[] = {
		"array.level=single,array.drives=1", "array.level=raid0,array.drives=4",
		"array.level=raid1,array.drives=2", "array.level=raid10,array.drives=4",
		"array.level=raid5,array.drives=5", "array.level=raid5,array.drives=3,array.stripe_kib=16",
		"array.level=raid0,array.drives=3,array.stripe_kib=256",
		"array.level=raid5,array.drives=4,controller.gather_rows=1,controller.gather_reads=1,controller.parity_waits=1",
		"array.level=raid5,array.drives=4,controller.gather_rows=2,controller.parity_waits=2",
	};
	char text[300];
	u32 i, round, lost;

	for (i = 0; i < RL_COUNT(arrays); i++) {
		lost = 0;
		snprintf(text, sizeof(text), "%s,controller.battery=0,controller.cache_mib=32", arrays[i]);
		for (round = 0; round < 6; round++)
			lost += cut(text, 20 + 53 * round, i * 100 + round);
		if (!lost)
			fail_msg("%s: nothing was lost, so nothing was tested", arrays[i]);
	}
}

TEST(a_battery_keeps_everything)
{
	assert_int_equal(cut("array.level=raid5,array.drives=4", 150, 1), 0);
	assert_int_equal(cut("array.level=raid0,array.drives=4", 150, 2), 0);
}

TEST(no_cache_loses_nothing)
{
	assert_int_equal(cut("array.level=raid0,array.drives=4,controller.battery=0,controller.cache_mib=0", 90, 1), 0);
	assert_int_equal(cut("array.level=raid5,array.drives=4,controller.battery=0,controller.cache_mib=0", 90, 2), 0);
}

/* Where what is cached waits - in a row of RAID 5, in a drive's backlog - makes no difference. */
TEST(what_waits_anywhere_is_lost)
{
	static const char *const arrays[] = { "array.level=raid5,array.drives=4", "array.level=raid0,array.drives=4" };
	char text[200];
	u32 i;

	for (i = 0; i < RL_COUNT(arrays); i++) {
		struct host *host;
		u64 *data;

		snprintf(text, sizeof(text), SMALL "%s,controller.battery=0,fault.power_command=2", arrays[i]);
		host = host_create(text);
		data = host_at(host, HOST_DATA);
		driver_probe(host);
		stamp(data, 1, 1);
		driver_transfer(host, 1, true, 0, STEP, 0);
		assert_int_equal(driver_finish(host, 1), 0);
		/* In the instant in which it is answered no drive has begun it. */
		driver_transfer(host, 1, false, 4096, STEP, 0);
		driver_transfer(host, 1, false, 0, STEP, 0);
		assert_int_equal(driver_finish(host, 1), 0);
		assert_int_equal(data[0], 0);
		host_destroy(host);
	}
}

static bool was_told(struct host *host, u16 code)
{
	u32 i;

	for (i = 0; i < host->model.nr_events; i++)
		if (host->model.event[i].code == code)
			return true;
	return false;
}

TEST(the_driver_is_told)
{
	static const struct { const char *text; bool dirty, kept, lost; } cases[] = {
		{ "controller.battery=0", true, false, true },
		{ "controller.battery=1", true, true, false },
		{ "controller.battery=0", false, false, false },
		{ "controller.battery=1", false, false, false },
	};
	char text[200];
	u32 i;

	for (i = 0; i < RL_COUNT(cases); i++) {
		struct host *host;

		snprintf(text, sizeof(text), SMALL "array.drives=4,fault.power_command=2,%s", cases[i].text);
		host = host_create(text);
		driver_probe(host);
		driver_transfer(host, 1, true, 0, 128, 0);
		assert_int_equal(driver_finish(host, 1), 0);
		if (!cases[i].dirty)
			assert_int_equal(driver_command(host, 0, flush_cdb, 10, 0), 0);
		driver_transfer(host, 1, false, 0, 8, 0);
		assert_true(was_told(host, TW_AEN_RESET));
		assert_int_equal(was_told(host, TW_AEN_CACHE_KEPT), cases[i].kept);
		assert_int_equal(was_told(host, TW_AEN_CACHE_LOST), cases[i].lost);
		assert_int_equal(rl_log_at(&host->model.device.log, host->model.device.log.count - 1)->status, RL_LOG_RESET);
		host_destroy(host);
	}
}

static u64 time_of_flush(struct host *host)
{
	u64 begin = host->clock;

	assert_int_equal(driver_command(host, 0, flush_cdb, 10, 0), 0);
	return host->clock - begin;
}

/* Much dirty on two drives of 72 MB/s: no faster than the platters turn, and then there is nothing left to do. */
TEST(a_flush_takes_as_long_as_the_drives)
{
	struct host *host = host_create(SMALL "array.drives=2,controller.cache_mib=64");
	u64 dirty, first, least;
	u32 i;

	driver_probe(host);
	for (i = 0; i < 128; i++) {
		driver_transfer(host, 1, true, i * 512, 512, 0);
		assert_int_equal(driver_finish(host, 1), 0);
	}
	dirty = host->model.timing.dirty_sectors;
	assert_true(dirty > 8192);
	least = rl_transfer_ns(dirty * RL_SECTOR_BYTES / 2, host->model.config.drive.media_outer_kib_s);
	first = time_of_flush(host);
	assert_true(first >= least);
	assert_true(first < 2 * least);
	assert_int_equal(host->model.timing.dirty_sectors, 0);
	assert_true(time_of_flush(host) <= 2 * host->model.config.controller.command_us * RL_NS_PER_US);
}

/* A flush is of its unit: another unit's dirty sectors stay where they are. */
TEST(a_flush_is_of_one_unit)
{
	static const u8 write_cdb[10] = { 0x2a, 0, 0, 0, 0, 0, 0, 0, 128 };
	struct host *host = host_create(SMALL "array.drives=2,array.units=2");

	driver_probe(host);
	assert_int_equal(driver_command(host, 0, write_cdb, 10, 65536), 0);
	assert_int_equal(driver_command(host, 1, write_cdb, 10, 65536), 0);
	assert_int_equal(driver_command(host, 0, flush_cdb, 10, 0), 0);
	assert_int_equal(host->model.timing.backlog[0].count + host->model.timing.backlog[1].count, 0);
	assert_true(host->model.timing.backlog[2].count + host->model.timing.backlog[3].count > 0);
}

TEST(mode_sense_says_what_the_profile_says)
{
	static const u8 six[6] = { 0x1a, 0, 0x08, 0, 24 }, ten[10] = { 0x5a, 0, 0x3f, 0, 0, 0, 0, 0, 28 };
	u32 reported;

	for (reported = 0; reported < 2; reported++) {
		char text[200];
		struct host *host;
		const u8 *data;

		snprintf(text, sizeof(text), SMALL "array.drives=2,controller.write_cache_reported=%u", reported);
		host = host_create(text);
		driver_probe(host);
		data = host_at(host, HOST_DATA);
		assert_int_equal(driver_command(host, 0, six, 6, 24), 0);
		assert_int_equal(data[2] & 0x10, 0);	/* DPOFUA */
		assert_int_equal(data[4], 0x08);
		assert_int_equal(data[6] & 4, reported ? 4 : 0);
		assert_int_equal(driver_command(host, 0, ten, 10, 28), 0);
		assert_int_equal(data[3] & 0x10, 0);
		assert_int_equal(data[8], 0x08);
		assert_int_equal(data[10] & 4, reported ? 4 : 0);
		host_destroy(host);
	}
}

/* A feature that MODE SENSE does not offer is refused, not ignored: a FUA write must not be only cached. */
HOST_TEST(force_unit_access_is_refused)
{
	static const u8 opcodes[] = { 0x28, 0x2a, 0x88, 0x8a };
	u32 i;

	for (i = 0; i < RL_COUNT(opcodes); i++) {
		u8 cdb[16] = { opcodes[i], 0x08 };

		cdb[opcodes[i] < 0x80 ? 8 : 13] = 8;
		assert_int_not_equal(driver_command(host, 0, cdb, 16, 4096), 0);
		assert_int_equal(tw_get16(driver_header(host, 0)->error), TW_ERROR_CDB_FIELD);
		assert_int_equal(driver_header(host, 0)->sense[12], 0x24);
	}
}
