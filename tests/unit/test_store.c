// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what is put into one is in it. */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include "store/load.h"

#define X(...) + 1
#define RT_COUNTERS_IN_FLOW	(0 RT_FLOW_COUNTERS(X))

static void round_trip(void **state)
{
	struct rt_counters sum;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	for (uint32_t n = 1; n <= 3; n++)
		assert_int_equal(put_sample(store, n), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_end_phase(store, 0, 400), 0);
	assert_int_equal(store_put_meta(store, "end", "complete"), 0);
	assert_int_equal(store_commit(store), 0);
	store_close(store);
	assert_int_equal(access(journal, F_OK), -1);

	store = open_again();
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='end' AND value='complete'"), 1);
	assert_int_equal(number(store, "PRAGMA application_id"), 0x52544442);
	assert_int_equal(number(store, "PRAGMA user_version"), 2);
	/* The dictionary has each counter of its table, and nothing else. */
	assert_int_equal(number(store, "SELECT count(*) FROM counter WHERE owner='flow'"), RT_COUNTERS_IN_FLOW);
	assert_int_equal(number(store, "SELECT count(*) FROM counter JOIN pragma_table_info(owner) USING(name)"),
			 number(store, "SELECT count(*) FROM counter"));
	assert_int_equal(number(store, "SELECT count(*) FROM counter WHERE owner='hwq' AND name='returned' AND unit='requests'"), 1);
	assert_int_equal(store_sum(store, 0, 1, &sum), 0);
	assert_int_equal(sum.since_ns, 100);
	assert_int_equal(sum.now_ns, 400);
	assert_int_equal(sum.flow[READ].issued, 6);
	/* Of the last sample, not a sum. */
	assert_int_equal(sum.flow[READ].in_flight, 3);
	assert_int_equal(rt_histogram_sum(&sum.histogram[READ][SIZE]), 9);
	assert_int_equal(sum.histogram[READ][SIZE].counts[0], 3);
	rt_counters_free(&sum);
	assert_int_equal(number(store, "SELECT count(*) FROM flow WHERE direction != 'read'"), 0);
	store_close(store);
}

static void write_file(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* What the kernel cannot count is NULL from the first sample on, should the recorder be killed after it. */
static void unknown_is_null(void **state)
{
	struct store *store;
	struct rt_counters c;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	fill(&c, 3);
	c.flow[RAIDTRACE_DIRECTION_ALL].in_flight = 3;
	c.unknown = RT_COUNTER_BIT(COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_sample(store, 1, 0, &c), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(number(store, "SELECT completed IS NULL FROM flow WHERE direction='read'"), 1);
	assert_int_equal(number(store, "SELECT in_flight IS NULL AND in_flight_max IS NULL FROM flow LIMIT 1"), 1);
	assert_int_equal(number(store, "SELECT issued FROM flow WHERE direction='read'"), 3);
	/* Of all directions together there are no counters. */
	assert_int_equal(number(store, "SELECT issued IS NULL FROM flow WHERE direction='all'"), 1);
	rt_counters_free(&c);
	store_close(store);
}

static void existing_file(void **state)
{
	static const char nowhere[] = "/proc/nowhere/a.rtdb";
	char long_path[PATH_MAX - sizeof("-journal") + 2];
	struct store *store;
	char text[8] = "";
	int fd;

	(void)state;
	write_file("mine", 4);
	assert_int_equal(store_create(path, &store), -EEXIST);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	assert_string_equal(text, "mine");
	assert_int_equal(store_create(nowhere, &store), -ENOENT);
	assert_string_equal(store_error(NULL), "No such file or directory");
	/* Its journal's would be one byte too long. */
	memset(long_path, '/', sizeof(long_path));
	strcpy(long_path + sizeof(long_path) - sizeof(nowhere), nowhere);
	assert_int_equal(store_create(long_path, &store), -ENAMETOOLONG);
}

/* Of a disk of which only the name is known NULL, unless it was told with the name. */
static void capacity(void **state)
{
	struct rt_target target = { .disk = "sdb" };
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_target(store, 2, &target), 0);
	target.name_only = true;
	assert_int_equal(store_put_target(store, 3, &target), 0);
	target.capacity_sectors = 8;
	assert_int_equal(store_put_target(store, 4, &target), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(number(store, "SELECT capacity_sectors FROM target WHERE target=2"), 0);
	assert_int_equal(number(store, "SELECT capacity_sectors IS NULL FROM target WHERE target=3"), 1);
	assert_int_equal(number(store, "SELECT capacity_sectors FROM target WHERE target=4"), 8);
	store_close(store);
}

/* Also with a setting of the machine, which belongs to no disk. */
static void refers_to_what_is_there(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_setting(store, 5, 0, "interval_ns", "1"), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	store_close(store);
}

/* Counters without a direction, processes apart. */
static void groups_round_trip(void **state)
{
	static const struct rt_target target = {
		.disk = "sda", .streams = 16, .place_sectors = 4096,
		.groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_STREAM |
			  RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_ORIGIN |
			  RAIDTRACE_GROUP_SUBMITTER,
	};
	struct rt_submitter submitters[] = {
		{ .index = 0, .pid = 7, .comm = "dd", .queued = 3 },
		{ .index = 1, .pid = 0, .comm = "swapper/0", .queued = 0 },
		{ .index = 64, .rest = true, .seeks_queued = 9 },
	};
	struct rt_counters c = {
		.groups = target.groups, .nr_submitters = 3,
		.submitters = submitters,
		.disk = { .unknown = RT_DISK_BIT(TAG_WAITS), .plugs = 5 },
	};
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_target(store, 1, &target), 0);
	assert_int_equal(store_begin_phase(store, 0, "run", 0), 0);
	for (uint32_t n = 1; n <= 2; n++) {
		c.since_ns = n;
		c.now_ns = n + 1;
		c.disk.streams_alive = 4 - n;
		c.origin[RAIDTRACE_CLASS_JOURNAL].seeks = n;
		assert_int_equal(store_put_sample(store, 1, 0, &c), 0);
	}
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM origin"), 2);
	assert_int_equal(number(store, "SELECT count(issued) FROM origin"), 2);
	assert_int_equal(number(store, "SELECT count(*) FROM submitter"), 4);
	assert_int_equal(number(store, "SELECT count(*) FROM submitter WHERE pid IS NULL AND comm IS NULL"), 2);
	assert_int_equal(number(store, "SELECT count(tag_waits) FROM sample"), 0);
	assert_int_equal(number(store, "SELECT sum(plugs) FROM sample"), 10);
	assert_int_equal(number(store, "SELECT streams_alive FROM sample ORDER BY sample DESC LIMIT 1"), 2);
	assert_int_equal(number(store, "SELECT sum(seeks) FROM origin WHERE class='journal'"), 3);
	assert_int_equal(number(store, "SELECT sum(queued) FROM submitter WHERE comm='dd'"), 6);
	assert_int_equal(number(store, "SELECT sum(seeks_queued) FROM submitter WHERE comm IS NULL"), 18);
	store_close(store);
}

/* What the end of raidctl record sums: a span for each phase and disk, directions apart. */
static void is_summed(void **state)
{
	static const struct rt_target md = { .disk = "md0", .bio_based = true };
	struct rt_counters c = { .since_ns = 1, .now_ns = 2, .flow[READ].queued = 3, .flow[RAIDTRACE_DIRECTION_WRITE].queued = 4 };
	struct recording recording;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_target(store, 2, &md), 0);
	assert_int_equal(store_put_sample(store, 2, 0, &c), 0);
	assert_int_equal(store_put_sample(store, 2, 0, &c), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(recording_load(store, &recording), 0);
	assert_string_equal(recording_meta(&recording, "end"), "running");
	assert_string_equal(recording_meta(&recording, "nothing"), "");
	assert_int_equal(recording.nr_spans, 2);
	assert_string_equal(recording.spans[0].disk, "sda");
	assert_int_equal(recording.spans[0].counters.unknown, 0);
	assert_string_equal(recording.spans[1].disk, "md0");
	assert_int_equal(recording.spans[1].counters.unknown,
			 RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT));
	assert_int_equal(recording.spans[1].counters.flow[READ].queued, 6);
	assert_int_equal(recording.spans[1].counters.flow[RAIDTRACE_DIRECTION_WRITE].queued, 8);
	recording_free(&recording);
	store_close(store);
}

/* A sum that no integer of SQLite holds is refused before it is reported. */
static void sums(void **state)
{
	static const char *const tables[] = { "sample", "flow", "origin", "submitter" };
	static const char *const counters[] = { "plugs", "issued", "seeks", "queued" };
	struct store *store;
	char sql[200];

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	assert_int_equal(put_sample(store, 2), 0);
	for (int n = 1; n <= 2; n++) {
		snprintf(sql, sizeof(sql), "INSERT INTO origin(sample,class) VALUES(%d,'data')", n);
		assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
		snprintf(sql, sizeof(sql), "INSERT INTO submitter(sample,submitter) VALUES(%d,1)", n);
		assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(store_sums_fit(store), 0);
		snprintf(sql, sizeof(sql), "UPDATE %s SET %s=%" PRId64, tables[i], counters[i], INT64_MAX);
		assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
		if (!store_sums_fit(store))
			fail_msg("%s", tables[i]);
		snprintf(sql, sizeof(sql), "UPDATE %s SET %s=1", tables[i], counters[i]);
		assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
	}
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(round_trip, remove_file),
		cmocka_unit_test_teardown(unknown_is_null, remove_file),
		cmocka_unit_test_teardown(existing_file, remove_file),
		cmocka_unit_test_teardown(capacity, remove_file),
		cmocka_unit_test_teardown(refers_to_what_is_there, remove_file),
		cmocka_unit_test_teardown(groups_round_trip, remove_file),
		cmocka_unit_test_teardown(is_summed, remove_file),
		cmocka_unit_test_teardown(sums, remove_file),
	};

	return cmocka_run_group_tests_name("store", tests, make_directory,
					   remove_directory);
}
