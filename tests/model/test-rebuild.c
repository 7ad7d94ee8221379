// SPDX-License-Identifier: GPL-2.0-or-later
/* Members lost and rebuilt, units initialised and verified: no data is lost that redundancy keeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "3w-9xxx/controller/controller.h"
#include "3w-9xxx/wire/wire.h"

/* Whichever member goes, whatever is written meanwhile: what is read is what was written. */
TEST(data_outlives_a_drive_and_its_rebuild)
{
	enum { SPAN = 4096 };
	u8 *truth = malloc(SPAN * 512);
	u64 seed = 77;
	size_t i;
	u32 member, round;

	for (i = 0; i < RL_COUNT(redundant_levels); i++)
		for (member = 1; member <= redundant_levels[i].drives; member++) {
			char faults[160];
			struct host *host;
			u32 during = 0;

			snprintf(faults, sizeof(faults), "fault.remove_member=%u,fault.remove_command=200,fault.replace_ms=1000,"
				 "array.background_kib=16,array.background_pause_us=3000,controller.cache_mib=1", member);
			host = probed(redundant_levels[i].shape, faults);
			memset(truth, 0, SPAN * 512);
			for (round = 0; round < 300; round++)
				random_command(host, truth, &seed, SPAN);
			assert_int_equal(host->model.timing.health[0].missing, member - 1);
			expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_DEGRADED_UNIT, 0 });
			everything_reads_back(host, truth, SPAN);
			host_pass(host, 1000 * MS);
			while (host->model.background.kind == TW_BACKGROUND_REBUILD && ++during < 400)
				random_command(host, truth, &seed, SPAN);
			assert_true(during > 20);
			everything_reads_back(host, truth, SPAN);
			host_pass(host, 200000 * MS);
			assert_int_equal(host->model.timing.health[0].missing, TW_NO_MEMBER);
			expect_events(host, (const u16[]){ TW_AEN_DRIVE_INSERTED, TW_AEN_REBUILD_STARTED, TW_AEN_REBUILD_DONE, 0 });
			everything_reads_back(host, truth, SPAN);
			/* Copies and parity as well: another member could go now. */
			assert_int_equal(tw_members_verify(&host->model, 0, 0, SPAN), 0);
			host_destroy(host);
		}
	free(truth);
}

/* Without this the test above would show nothing: the member's contents are really away. */
TEST(a_removed_member_holds_nothing)
{
	struct host *host = probed(redundant_levels[2].shape, "fault.remove_member=1,fault.remove_ms=1000");
	u8 sector[512];

	assert_int_equal(write_at(host, 0, 256, 0x61), 0);
	rl_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0x61);
	host_pass(host, 2000 * MS);
	rl_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0);
	assert_int_equal(read_at(host, 0, 1), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x61);
	/* Nor is anything written to it any more. */
	assert_int_equal(write_at(host, 0, 256, 0x62), 0);
	rl_store_read(&host->model.store, 0, 1, sector);
	assert_int_equal(sector[0], 0);
	assert_int_equal(read_at(host, 0, 1), 0);
	assert_int_equal(*(u8 *)host_at(host, HOST_DATA), 0x62);
}

/* A rebuild takes longer while there is work, and work takes longer while there is a rebuild. */
TEST(a_rebuild_and_commands_slow_each_other)
{
	static const char faults[] = "fault.remove_member=1,fault.remove_ms=10,fault.replace_ms=10,"
				     "array.background_pause_us=2000";
	struct host *idle = probed(redundant_levels[2].shape, faults), *busy = probed(redundant_levels[2].shape, faults);
	u64 seed = 4, sound = 0, begin, worked = 0;
	u32 i;

	begin = busy->clock;
	for (i = 0; i < 20 || busy->model.timing.health[0].missing != TW_NO_MEMBER; i++) {
		u64 before = busy->clock;

		read_at(busy, random_number(&seed) % 200000, 8);
		worked += busy->clock - before;
		assert_true(i < 100000);
	}
	worked /= i;
	host_pass(idle, busy->clock - begin - 1 * MS);
	assert_int_equal(idle->model.background.kind, TW_BACKGROUND_NONE);
	for (i = 0; i < 100; i++) {
		u64 before = busy->clock;

		read_at(busy, random_number(&seed) % 200000, 8);
		sound += (busy->clock - before) / 100;
	}
	assert_true(worked > sound);
}

TEST(a_unit_is_initialised_and_verified)
{
	static const char *const keys[] = { "array.initialize=1", "array.verify=1" };
	static const u16 done[] = { TW_AEN_INITIALIZE_DONE, TW_AEN_VERIFY_DONE };
	size_t i, level;
	u64 seed = 6;
	u32 j;

	for (level = 0; level < RL_COUNT(redundant_levels); level++)
		for (i = 0; i < RL_COUNT(keys); i++) {
			struct host *host = probed(redundant_levels[level].shape, keys[i]);
			u8 *truth = calloc(4096, 512);

			/* Its beginning was reported before the driver came, which drains that event. */
			assert_int_not_equal(host->model.background.kind, TW_BACKGROUND_NONE);
			for (j = 0; j < 50; j++)
				random_command(host, truth, &seed, 4096);
			host_pass(host, 100000 * MS);
			expect_events(host, (const u16[]){ done[i], 0 });
			assert_int_equal(host->model.background.differing, 0);
			assert_int_equal(tw_members_verify(&host->model, 0, 0, 65536), 0);
			host_destroy(host);
			free(truth);
		}
}

TEST(verifying_sees_a_member_that_differs)
{
	struct host *host = probed(redundant_levels[2].shape, "array.verify=1");
	u8 sector[512] = { 1 };

	assert_int_equal(write_at(host, 0, 256, 0x61), 0);
	assert_true(rl_store_write(&host->model.store, 40000, 1, sector));
	host_pass(host, 100000 * MS);
	assert_int_equal(host->model.background.differing, 1);
}

/* The second drive goes: of RAID 5 and RAID 1 any, of RAID 10 the other half of the pair. */
TEST(a_second_loss_takes_the_unit_along)
{
	static const struct { const char *shape, *members; } cases[] = {
		{ SMALL_ARRAY "array.level=raid1,array.drives=2,", "fault.remove_member=1,fault.second_member=2" },
		{ SMALL_ARRAY "array.level=raid5,array.drives=5,", "fault.remove_member=2,fault.second_member=5" },
		{ SMALL_ARRAY "array.level=raid5,array.drives=5,", "fault.remove_member=5,fault.second_member=1" },
		{ SMALL_ARRAY "array.level=raid10,array.drives=6,", "fault.remove_member=3,fault.second_member=4" },
		{ SMALL_ARRAY "array.level=raid10,array.drives=6,", "fault.remove_member=6,fault.second_member=5" },
	};
	size_t i;

	for (i = 0; i < RL_COUNT(cases); i++) {
		char faults[160];
		struct host *host;

		snprintf(faults, sizeof(faults), "%s,fault.remove_ms=50,fault.second_ms=100,fault.replace_ms=500",
			 cases[i].members);
		host = probed(cases[i].shape, faults);
		assert_int_equal(write_at(host, 0, 256, 0x61), 0);
		host_pass(host, 60 * MS);
		assert_int_equal(read_at(host, 0, 256), 0);
		host_pass(host, 50 * MS);
		assert_int_equal(read_at(host, 0, 8), 1);
		assert_int_equal(driver_header(host, 1)->sense[2], TW_SENSE_NOT_READY);
		assert_int_equal(write_at(host, 0, 8, 1), 1);
		/* The drive that is put in finds no unit to be rebuilt into. */
		host_pass(host, 10000 * MS);
		expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_DEGRADED_UNIT, TW_AEN_DRIVE_REMOVED,
						   TW_AEN_INCOMPLETE_UNIT, TW_AEN_DRIVE_INSERTED, 0 });
		host_destroy(host);
	}
}

TEST(a_second_loss_during_the_rebuild_ends_it)
{
	struct host *host = probed(redundant_levels[2].shape, "fault.remove_member=1,fault.remove_ms=10,fault.replace_ms=10,"
				   "fault.second_member=2,fault.second_ms=100");

	host_pass(host, 1000 * MS);
	assert_int_equal(host->model.background.kind, TW_BACKGROUND_NONE);
	assert_true(host->model.fault.offline[0]);
	expect_events(host, (const u16[]){ TW_AEN_DRIVE_REMOVED, TW_AEN_DEGRADED_UNIT, TW_AEN_DRIVE_INSERTED,
					   TW_AEN_REBUILD_STARTED, TW_AEN_DRIVE_REMOVED, TW_AEN_REBUILD_FAILED,
					   TW_AEN_INCOMPLETE_UNIT, 0 });
}

/* RAID 10 does without a drive of each of two pairs, whichever goes first; one is rebuilt, the other stays away. */
TEST(raid10_outlives_two_pairs_losing_one_each)
{
	static const char *const orders[] = { "fault.remove_command=50,fault.second_command=100",
					      "fault.remove_command=100,fault.second_command=50" };
	enum { SPAN = 4096 };
	u8 *truth = malloc(SPAN * 512);
	u64 seed = 5;
	u32 i, round;

	for (i = 0; i < RL_COUNT(orders); i++) {
		char faults[200];
		struct host *host;

		snprintf(faults, sizeof(faults), "fault.remove_member=2,fault.second_member=5,fault.replace_ms=1000,%s",
			 orders[i]);
		host = probed(redundant_levels[3].shape, faults);
		memset(truth, 0, SPAN * 512);
		for (round = 0; round < 150; round++)
			random_command(host, truth, &seed, SPAN);
		assert_false(host->model.fault.offline[0]);
		assert_int_equal(host->model.timing.health[0].missing, i ? 4 : 1);
		assert_int_equal(host->model.timing.health[0].also, i ? 1 : 4);
		everything_reads_back(host, truth, SPAN);
		host_pass(host, 1000 * MS);
		for (round = 0; round < 50; round++)
			random_command(host, truth, &seed, SPAN);
		host_pass(host, 200000 * MS);
		assert_int_equal(host->model.timing.health[0].missing, 4);
		assert_int_equal(host->model.timing.health[0].also, TW_NO_MEMBER);
		everything_reads_back(host, truth, SPAN);
		host_destroy(host);
	}
	free(truth);
}

/* KiB of a member rebuilt in a second. */
static u64 rebuild_rate(const char *more)
{
	char faults[200];
	struct host *host;
	u64 from;

	snprintf(faults, sizeof(faults), "fault.remove_member=1,fault.remove_ms=10,fault.replace_ms=10%s", more);
	host = probed("store_mib=16,drive.sectors=4000000,array.level=raid5,array.drives=4,", faults);
	host_pass(host, 1000 * MS);
	from = host->model.background.at;
	host_pass(host, 10000 * MS);
	from = (host->model.background.at - from) / 20;
	host_destroy(host);
	return from;
}

/*
 * A step reads 256 KiB of all others, writes as much, and pauses. At best the drives have read on meanwhile, and their
 * caches give at the interface's rate; at worst reading and writing each wait for a turn.
 */
TEST(a_rebuild_has_the_rate_of_its_parts)
{
	static const u32 pauses[] = { 0, 10000, 100000 };
	u64 rate, previous = RL_NEVER;
	size_t i;

	for (i = 0; i < RL_COUNT(pauses); i++) {
		u64 media_us = 256 * 1000000ULL / 70312, cache_us = 256 * 1000000ULL / 146484, turn_us = 6000;
		u64 best = 256 * 1000000ULL / (pauses[i] + media_us + cache_us);
		u64 worst = 256 * 1000000ULL / (pauses[i] + 2 * (media_us + 100 + turn_us));
		char more[64];

		snprintf(more, sizeof(more), ",array.background_pause_us=%u", pauses[i]);
		rate = rebuild_rate(more);
		/* A step may begin in one second and be counted in the next. */
		if (rate > best + 256 / 10 || rate < worst)
			fail_msg("pause %u us: %llu KiB/s, not %llu to %llu", pauses[i], rate, worst, best);
		assert_true(rate < previous);
		previous = rate;
	}
}

/* On every level, with every stripe, sound or degraded, what is read is what was written. */

#define INTEGRITY_SPAN	8192U

/* @faults strike with the 60th of 200 random commands. */
static void survives(const char *level, u32 drives, u32 stripe, const char *more, u64 seed)
{
	char shape[300];
	u8 *truth = calloc(INTEGRITY_SPAN, RL_SECTOR_BYTES);
	struct host *host;
	u32 i;

	snprintf(shape, sizeof(shape), "store_mib=20,log_entries=999,drive.sectors=65536,array.level=%s,array.drives=%u,"
		 "array.stripe_kib=%u,", level, drives, stripe);
	host = probed(shape, more);
	for (i = 0; i < 200; i++)
		random_command(host, truth, &seed, INTEGRITY_SPAN);
	everything_reads_back(host, truth, INTEGRITY_SPAN);
	host_destroy(host);
	free(truth);
}

static const struct { const char *level; u32 drives; bool redundant; } shapes[] = {
	{ "single", 1, false }, { "raid0", 2, false }, { "raid0", 7, false }, { "raid1", 2, true }, { "raid5", 3, true },
	{ "raid5", 8, true }, { "raid10", 4, true }, { "raid10", 8, true },
};

TEST(every_level_and_stripe_keeps_data)
{
	static const char *const caches[] = { "controller.cache_mib=0", "controller.cache_mib=1",
					      /* Held member by member, as for a power cut that never comes. */
					      "controller.cache_mib=1,controller.battery=0,fault.power_command=999999" };
	u32 stripe;
	size_t i, j;

	for (i = 0; i < RL_COUNT(shapes); i++)
		for (stripe = 16; stripe <= 256; stripe *= 2)
			for (j = 0; j < RL_COUNT(caches); j++)
				survives(shapes[i].level, shapes[i].drives, stripe, caches[j], i * 100 + stripe + j);
}

TEST(degraded_levels_keep_data)
{
	u32 stripe, member;
	size_t i;

	for (i = 0; i < RL_COUNT(shapes); i++)
		for (stripe = 16; shapes[i].redundant && stripe <= 256; stripe *= 4)
			for (member = 1; member <= shapes[i].drives; member++) {
				char more[100];

				snprintf(more, sizeof(more), "fault.remove_member=%u,fault.remove_command=60", member);
				survives(shapes[i].level, shapes[i].drives, stripe, more, i * 100 + stripe + member);
			}
}
