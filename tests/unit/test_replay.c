// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording, an interval at a time: which samples are in it, and where keys lead. */

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "bin_of.h"
#include "store/load.h"
#include "store/store.h"
#include "top/replay.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define MS	((uint64_t)1000000)
#define STEP	(100 * MS)

static char directory[] = "/tmp/raidtrace-replay-XXXXXX";
static char path[64];
static struct store *store;
static struct replay replay;
static struct top top;

/* Sample i of a disk: i MiB read, i + 1 in flight, one error in the third. */
static void put_sample(uint32_t target, uint32_t phase, unsigned int i, uint64_t start_ns, uint64_t end_ns)
{
	struct rt_counters c = { .id = target, .since_ns = start_ns, .now_ns = end_ns };

	c.flow[READ].issued = c.flow[READ].completed = i;
	c.flow[READ].bytes_issued = c.flow[READ].bytes_completed = (uint64_t)i << 20;
	c.flow[READ].errors = i == 3;
	rt_histogram_count(&c.histogram[READ][RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME],
			   bin_of(RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, i + 1), end_ns - start_ns);
	store_put_sample(store, target, phase, &c);
	rt_counters_free(&c);
}

/*
 * Idle before, then "write" from 1.0 s to 1.5 s in samples 1 to 5 and "read"
 * from 1.5 s to 1.85 s in samples 6 to 9, of sdb 3 ms later.
 */
static int make_recording(void **state)
{
	static const uint64_t ends[] = { 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1850 };
	struct rt_target disks[] = { { .disk = "sda", .id = 1 }, { .disk = "sdb", .id = 2 } };
	struct rt_counters nothing = { .since_ns = 900 * MS, .now_ns = 1000 * MS };
	uint64_t start = 1000;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.rtdb", directory);
	if (store_create(path, &store))
		return -1;
	store_begin(store);
	store_put_meta(store, "tool_version", "0.1.0");
	for (unsigned int t = 1; t <= 2; t++)
		store_put_target(store, t, &disks[t - 1]);
	store_put_setting(store, 0, 1, "readahead_sectors", "256");
	store_put_setting(store, 1500 * MS, 1, "readahead_sectors", "16384");
	store_begin_phase(store, 0, PHASE_OUTSIDE, 900 * MS);
	store_put_sample(store, 1, 0, &nothing);
	store_end_phase(store, 0, 1000 * MS);
	store_begin_phase(store, 1, "write", 1000 * MS);
	for (unsigned int i = 1; i <= 9; i++) {
		uint32_t phase = i <= 5 ? 1 : 2;

		if (i == 6) {
			store_end_phase(store, 1, 1500 * MS);
			store_begin_phase(store, 2, "read", 1500 * MS);
		}
		put_sample(1, phase, i, start * MS, ends[i - 1] * MS);
		put_sample(2, phase, 10 * i, (start + 3) * MS, (ends[i - 1] + 3) * MS);
		start = ends[i - 1];
	}
	store_end_phase(store, 2, 1850 * MS);
	store_commit(store);
	store_close(store);
	return store_open(path, &store);
}

static int remove_recording(void **state)
{
	(void)state;
	store_close(store);
	unlink(path);
	return rmdir(directory);
}

static void begin(uint64_t interval_ns)
{
	assert_int_equal(replay_begin(store, path, &top, interval_ns, &replay), 0);
	assert_int_equal(top.nr, 2);
}

static void end(void)
{
	replay_end(&replay);
	top_free(&top);
	memset(&top, 0, sizeof(top));
}

/* The interval, in ms since 1.0 s, and MiB read of sda and sdb in it. */
static void shows(uint64_t from_ms, uint64_t to_ms, const char *phase, double sda, double sdb)
{
	double seconds = (double)(to_ms - from_ms) / 1000;

	assert_int_equal(replay.from_ns / MS, 1000 + from_ms);
	assert_int_equal(replay.to_ns / MS, 1000 + to_ms);
	assert_string_equal(replay.phases[replay.phase].name, phase);
	for (size_t i = 0; i < 2; i++) {
		double wanted = strcmp(top.rows[i].target.disk, "sda") ? sdb : sda;
		double got = top_value(&top.rows[i], TOP_READ_RATE) / (1 << 20) * top.rows[i].seconds;

		if (got < wanted - 0.01 || got > wanted + 0.01)
			fail_msg("%s: %f instead of %f", top.rows[i].target.disk, got, wanted);
		/* That of the disk that is 3 ms late ends with it. */
		assert_true(top.rows[i].seconds > seconds - 0.004 && top.rows[i].seconds < seconds + 0.004);
	}
}

static void go(enum top_action where, uint64_t interval_ns)
{
	assert_int_equal(replay_go(&replay, &top, where, interval_ns), 0);
}

/* What was idle before is left out; the whole of it is gone through once, forth and back. */
static void steps(void **state)
{
	(void)state;
	begin(200 * MS);
	shows(0, 200, "write", 1 + 2, 30);
	go(TOP_BACK, 200 * MS);
	shows(0, 200, "write", 1 + 2, 30);
	go(TOP_ON, 200 * MS);
	shows(200, 400, "write", 3 + 4, 70);
	go(TOP_ON, 200 * MS);
	shows(400, 503, "write", 5, 50);
	assert_false(replay_at_end(&replay));
	go(TOP_ON, 200 * MS);
	shows(500, 700, "read", 6 + 7, 130);
	go(TOP_ON, 200 * MS);
	shows(700, 853, "read", 8 + 9, 170);
	assert_true(replay_at_end(&replay));
	go(TOP_BACK, 200 * MS);
	shows(500, 700, "read", 6 + 7, 130);
	go(TOP_BACK, 200 * MS);
	shows(400, 503, "write", 5, 50);
	end();
}

/* An interval shorter than a sample holds one; of a longer one all of the phase, and no more. */
static void lengths(void **state)
{
	(void)state;
	begin(50 * MS);
	shows(0, 100, "write", 1, 10);
	go(TOP_ON, 50 * MS);
	shows(100, 200, "write", 2, 20);
	/* One whose middle is where it begins is in it. */
	go(TOP_BACK, 50 * MS);
	assert_int_equal(replay.from_ns, 1050 * MS);
	assert_int_equal(replay.to_ns, 1100 * MS);
	/* A sample of which little lies in it is in the next. */
	go(TOP_FIRST, 101 * MS);
	shows(0, 101, "write", 1, 10);
	go(TOP_ON, 101 * MS);
	shows(101, 202, "write", 2, 20);
	go(TOP_FIRST, 50 * MS);
	go(TOP_NOTHING, 60 * NS_PER_S);
	shows(0, 503, "write", 1 + 2 + 3 + 4 + 5, 150);
	go(TOP_ON, 60 * NS_PER_S);
	shows(500, 853, "read", 6 + 7 + 8 + 9, 300);
	assert_true(replay_at_end(&replay));
	go(TOP_ON, 60 * NS_PER_S);
	shows(500, 853, "read", 6 + 7 + 8 + 9, 300);
	end();
}

static void phases(void **state)
{
	(void)state;
	begin(60 * NS_PER_S);
	go(TOP_PHASE_ON, STEP);
	assert_int_equal(replay.from_ns, 1500 * MS);
	go(TOP_PHASE_ON, STEP);
	assert_int_equal(replay.from_ns, 1500 * MS);
	go(TOP_ON, STEP);
	assert_true(replay.from_ns > 1500 * MS);
	go(TOP_PHASE_BACK, STEP);
	assert_int_equal(replay.from_ns, 1500 * MS);
	go(TOP_PHASE_BACK, STEP);
	assert_int_equal(replay.from_ns, 1000 * MS);
	go(TOP_LAST, STEP);
	assert_string_equal(replay.phases[replay.phase].name, "read");
	assert_true(replay_at_end(&replay));
	go(TOP_FIRST, STEP);
	assert_int_equal(replay.from_ns, 1000 * MS);
	end();
}

/* A phase that ended when it began has one interval. */
static void no_length(void **state)
{
	struct replay_phase phase = { .number = 1, .start_ns = MS, .end_ns = MS };
	struct replay short_one = { .phases = &phase, .nr_phases = 1 };
	struct top nothing = { 0 };

	(void)state;
	assert_int_equal(replay_go(&short_one, &nothing, TOP_LAST, 3 * STEP), 0);
	assert_int_equal(short_one.from_ns, MS);
	assert_int_equal(short_one.to_ns, MS);
}

/* What a disk's errors and readahead were where the interval ends. */
static void until_then(void **state)
{
	(void)state;
	begin(200 * MS);
	assert_int_equal(top.rows[0].errors, 0);
	assert_int_equal(top.rows[0].readahead_sectors, 256);
	go(TOP_LAST, 200 * MS);
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(top.rows[i].target.disk, "sda")) {
			assert_int_equal(top.rows[i].errors, 1);
			assert_int_equal(top.rows[i].readahead_sectors, 16384);
		}
	end();
}

static void said(void **state)
{
	char when[160];

	(void)state;
	begin(60 * NS_PER_S);
	replay_when(&replay, when, sizeof(when));
	assert_string_equal(when, "0.000 to 0.503 of 0.853 s  phase write");
	end();
}

/* Keys of a recording lead elsewhere and stop what plays; live they do nothing. */
static void keys(void **state)
{
	static const struct {
		int key;
		enum top_action action;
	} cases[] = {
		{ TOP_KEY_LEFT, TOP_BACK }, { ',', TOP_BACK }, { TOP_KEY_RIGHT, TOP_ON }, { '.', TOP_ON },
		{ 'p', TOP_PHASE_BACK }, { 'n', TOP_PHASE_ON }, { TOP_KEY_HOME, TOP_FIRST }, { 'g', TOP_FIRST },
		{ TOP_KEY_END, TOP_LAST }, { 'G', TOP_LAST },
	};
	struct top nothing = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct top_keys live = { .interval_ns = NS_PER_S }, played = { .interval_ns = NS_PER_S, .replay = true };

		assert_int_equal(top_key(&live, &nothing, cases[i].key), TOP_NOTHING);
		assert_false(live.frozen);
		assert_int_equal(top_key(&played, &nothing, cases[i].key), cases[i].action);
		assert_true(played.frozen);
		assert_int_equal(top_key(&played, &nothing, ' '), TOP_NOTHING);
		assert_false(played.frozen);
	}
}

static void nothing_to_change(void **state)
{
	struct top_keys played = { .interval_ns = NS_PER_S, .replay = true };

	(void)state;
	begin(NS_PER_S);
	assert_int_equal(top_key(&played, &top, 'r'), TOP_NOTHING);
	assert_string_equal(played.message, "of a recording nothing can be changed");
	assert_int_equal(played.mode, TOP_WATCH);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps),
		cmocka_unit_test(lengths),
		cmocka_unit_test(phases),
		cmocka_unit_test(no_length),
		cmocka_unit_test(until_then),
		cmocka_unit_test(said),
		cmocka_unit_test(keys),
		cmocka_unit_test(nothing_to_change),
	};

	return cmocka_run_group_tests(tests, make_recording, remove_recording);
}
