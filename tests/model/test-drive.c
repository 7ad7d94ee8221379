// SPDX-License-Identifier: GPL-2.0-or-later
/* The drive against its data sheet: seek curve, rotation, media rate, cache. */
#include <string.h>

#include "host.h"

struct fixture {
	struct tw_config config;
	struct rl_geometry geometry;
	struct rl_drive drive;
};

static struct fixture f;

static void create(const char *text)
{
	host_config(&f.config, text);
	rl_geometry_create(&f.geometry, &f.config.drive);
	rl_drive_create(&f.drive, &f.geometry, 0);
}

static int setup(void **state)
{
	(void)state;
	create("");
	return 0;
}

FIXTURE_TEST(seeks_go_through_the_three_published_points, setup, NULL)
{
	u64 stroke = f.geometry.stroke_ns, average = rl_seek_ns(&f.geometry, stroke / 3);

	assert_int_equal(rl_seek_ns(&f.geometry, 0), 0);
	assert_int_equal(rl_seek_ns(&f.geometry, f.geometry.rotation_ns - 1), 0);
	assert_in_range(rl_seek_ns(&f.geometry, f.geometry.rotation_ns), 600 * US, 650 * US);
	assert_in_range(average, 4490 * US, 4510 * US);
	assert_in_range(rl_seek_ns(&f.geometry, stroke), 10190 * US, 10210 * US);
}

FIXTURE_TEST(a_longer_seek_never_takes_less, setup, NULL)
{
	u64 distance, last = 0;

	for (distance = 0; distance <= f.geometry.stroke_ns; distance += f.geometry.stroke_ns / 5000) {
		assert_true(rl_seek_ns(&f.geometry, distance) >= last);
		last = rl_seek_ns(&f.geometry, distance);
	}
}

FIXTURE_TEST(media_time_rises_with_the_zones, setup, NULL)
{
	u64 lba, step = f.geometry.sectors / 1000, last = 0, ns;

	for (lba = step; lba <= f.geometry.sectors; lba += step) {
		ns = rl_media_ns(&f.geometry, lba);
		assert_true(ns > last);
		last = ns;
	}
	/* 1 MiB at the outer edge and at the inner one. */
	assert_in_range(rl_media_ns(&f.geometry, 2048), 14562 * US, 14566 * US);
	ns = rl_media_ns(&f.geometry, f.geometry.sectors) - rl_media_ns(&f.geometry, f.geometry.sectors - 2048);
	assert_in_range(ns, 19415 * US, 19422 * US);
}

FIXTURE_TEST(one_long_read_runs_at_the_media_rate, setup, NULL)
{
	u64 now = 0, lba, start;

	now = rl_drive_read(&f.drive, 0, 128, now);
	start = now;
	for (lba = 128; lba < 128 * 1025; lba += 128)
		now = rl_drive_read(&f.drive, lba, 128, now);
	/* 64 MiB at 70312 KiB/s are 932 ms; what the cache had read ahead comes earlier. */
	assert_in_range(now - start, 910 * 1000 * US, 935 * 1000 * US);
}

/* A transfer from the platter ends when its last sector has passed. */
static void check_angle(u64 done, u64 end)
{
	u64 left = done - rl_transfer_ns(RL_SECTOR_BYTES, f.config.drive.interface_kib_s) + f.drive.phase_ns;

	assert_int_equal(left % f.geometry.rotation_ns, rl_media_ns(&f.geometry, end) % f.geometry.rotation_ns);
}

FIXTURE_TEST(a_sector_passes_once_per_turn, setup, NULL)
{
	u64 seed = 3, now = 0, lba, done;
	u32 i;

	rl_drive_create(&f.drive, &f.geometry, 5);
	for (i = 0; i < 1000; i++) {
		lba = random_number(&seed) % (f.geometry.sectors - 100);
		done = rl_drive_read(&f.drive, lba, 8, now);
		check_angle(done, lba + 8);
		now = done + random_number(&seed);
	}
	/* A read-ahead that had to stop waits for its place to come round again. */
	for (i = 0; i < 20; i++) {
		lba = f.drive.ahead_limit;
		now = rl_drive_read(&f.drive, lba, 8, now + 123456789);
		check_angle(now, lba + 8);
	}
}

FIXTURE_TEST(random_reads_take_seek_and_half_a_turn, setup, NULL)
{
	u64 now = 0, start, seed = 5, sum = 0;
	u32 i;

	for (i = 0; i < 20000; i++) {
		u64 lba = random_number(&seed) % (f.geometry.sectors / 16) * 16;

		start = now;
		now = rl_drive_read(&f.drive, lba, 8, now);
		sum += now - start;
	}
	/* 4.5 ms + 3.0 ms + 0.1 ms of command + transfer of 4 KiB. */
	assert_in_range(sum / 20000, 7400 * US, 7900 * US);
}

FIXTURE_TEST(a_second_read_comes_from_the_cache, setup, NULL)
{
	u64 first = rl_drive_read(&f.drive, 1000000, 128, 0), again;

	again = rl_drive_read(&f.drive, 1000000, 128, first);
	/* 0.1 ms of command and 64 KiB at 146484 KiB/s. */
	assert_in_range(again - first, 535 * US, 540 * US);
}

FIXTURE_TEST(read_ahead_makes_the_next_read_a_hit, setup, NULL)
{
	u64 first = rl_drive_read(&f.drive, 1000000, 128, 0), next;

	next = rl_drive_read(&f.drive, 1000128, 128, first + 20 * 1000 * US);
	assert_in_range(next - first, 20535 * US, 20540 * US);
	create("drive.read_ahead=0");
	first = rl_drive_read(&f.drive, 1000000, 128, 0);
	next = rl_drive_read(&f.drive, 1000128, 128, first + 20 * 1000 * US);
	assert_true(next - first > 20900 * US);
}

FIXTURE_TEST(a_write_makes_the_cache_forget, setup, NULL)
{
	u64 now = rl_drive_read(&f.drive, 1000000, 128, 0), read;

	now = rl_drive_write(&f.drive, 1000010, 8, now, 0);
	read = rl_drive_read(&f.drive, 1000000, 128, now) - now;
	assert_true(read > 1000 * US);
}

FIXTURE_TEST(writes_that_follow_miss_no_turn, setup, NULL)
{
	u64 now = rl_drive_write(&f.drive, 0, 128, 0, 0), start = now;
	u32 i;

	for (i = 1; i <= 1024; i++)
		now = rl_drive_write(&f.drive, i * 128ULL, 128, now + 50 * US, 0);
	/* 64 MiB at the media rate, and 50 us between commands. */
	assert_in_range(now - start, 930 * 1000 * US, 1000 * 1000 * US);
}

FIXTURE_TEST(read_before_write_costs_a_turn, setup, NULL)
{
	struct rl_drive twin = f.drive;
	u64 plain = rl_drive_write(&f.drive, 500000, 8, 0, 0);

	assert_int_equal(rl_drive_write(&twin, 500000, 8, 0, 1) - plain, f.geometry.rotation_ns);
}

/* Nothing may be over before it began, whatever the order of commands. */
FIXTURE_TEST(time_only_goes_forward, setup, NULL)
{
	u64 now = 0, done, seed = 11;
	u32 i;

	create("drive.segments=3,drive.cache_kib=256");
	for (i = 0; i < 200000; i++) {
		u32 sectors = 1 + random_number(&seed) % 1000;
		u64 lba = random_number(&seed) % 4 ? random_number(&seed) % 5000 :
			  random_number(&seed) % (f.geometry.sectors - 1000);
		u64 least = f.drive.free_ns > now ? f.drive.free_ns : now;

		if (random_number(&seed) % 3)
			done = rl_drive_read(&f.drive, lba, sectors, now);
		else
			done = rl_drive_write(&f.drive, lba, sectors, now, 0);
		if (done <= least || done - least > 60 * 1000 * US)
			fail_msg("command %u took from %llu to %llu", i, least, done);
		now += random_number(&seed) % (5000 * US);
	}
}
