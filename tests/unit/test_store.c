// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: rows that are put into a recording are in it. */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/store.h"

#define X(...) + 1
#define RT_COUNTERS_IN_FLOW	(0 RT_FLOW_COUNTERS(X))

FIXTURE_TEST(round_trip, NULL, remove_file)
{
	struct store *store;

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	for (uint32_t n = 1; n <= 3; n++)
		assert_int_equal(put_sample(store, n), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_end_phase(store_rows(store), 0, 400), 0);
	assert_int_equal(store_put_meta(store_rows(store), "end", "complete"), 0);
	/* A setting of the machine belongs to no disk. */
	assert_int_equal(store_put_setting(store_rows(store), 5, 0, "interval_ns", "1"), 0);
	assert_int_equal(store_commit(store), 0);
	store_close(store);
	assert_int_equal(access(journal, F_OK), -1);

	store = open_again();
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='end' AND value='complete'"), 1);
	assert_int_equal(number(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_int_equal(number(store, "PRAGMA application_id"), 0x52544442);
	assert_int_equal(number(store, "PRAGMA user_version"), 2);
	/* The dictionary has each counter of its table, and nothing else. */
	assert_int_equal(number(store, "SELECT count(*) FROM counter WHERE owner='flow'"), RT_COUNTERS_IN_FLOW);
	assert_int_equal(number(store, "SELECT count(*) FROM counter JOIN pragma_table_info(owner) USING(name)"),
			 number(store, "SELECT count(*) FROM counter"));
	assert_int_equal(number(store, "SELECT count(*) FROM counter WHERE owner='hwq' AND name='returned' AND unit='requests'"), 1);
	assert_int_equal(number(store, "SELECT min(start_ns) FROM sample"), 100);
	assert_int_equal(number(store, "SELECT max(end_ns) FROM sample"), 400);
	assert_int_equal(number(store, "SELECT sum(issued) FROM flow WHERE direction='read'"), 6);
	assert_int_equal(number(store, "SELECT in_flight FROM flow ORDER BY sample DESC LIMIT 1"), 3);
	assert_int_equal(number(store, "SELECT sum(count) FROM bin WHERE direction='read' AND kind='size'"), 9);
	assert_int_equal(number(store, "SELECT sum(count) FROM bin WHERE bin=8"), 3);
	assert_int_equal(number(store, "SELECT count(*) FROM flow WHERE direction != 'read'"), 0);
	store_close(store);
}

static void write_file(const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* A counter that the kernel lacks is NULL from the first sample on: the recorder may be killed after it. */
FIXTURE_TEST(unknown_is_null, NULL, remove_file)
{
	struct store *store;
	struct rt_counters c;

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
	/* All directions together have no counters. */
	assert_int_equal(number(store, "SELECT issued IS NULL FROM flow WHERE direction='all'"), 1);
	rt_counters_free(&c);
	store_close(store);
}

FIXTURE_TEST(existing_file, NULL, remove_file)
{
	static const char nowhere[] = "/proc/nowhere/a.rtdb";
	char long_path[PATH_MAX - sizeof("-journal") + 2];
	struct store *store;
	char text[8] = "";
	int fd;

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

/* A recording is replaced only after its recorder has closed it, or has ended. */
FIXTURE_TEST(replaced, NULL, remove_file)
{
	struct store *store;
	int begun[2];
	char byte;
	pid_t pid;

	assert_int_equal(store_replace(path), 0);	/* there is none */
	assert_false(store_is_recorded(path));
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	assert_true(store_is_recorded(path));
	assert_int_equal(store_replace(path), -EBUSY);
	/* The refusal ends no lock of SQLite, and readers need not wait. */
	assert_int_equal(put_sample(store, 2), 0);
	assert_true(store_is_there(store));
	store_close(store);
	assert_false(store_is_recorded(path));
	assert_int_equal(store_replace(path), 0);
	assert_int_equal(access(path, F_OK), -1);

	assert_int_equal(pipe(begun), 0);
	pid = fork();
	if (!pid) {
		if (!store_create(path, &store) && write(begun[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(begun[0], &byte, 1), 1);
	assert_int_equal(store_replace(path), -EBUSY);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(store_replace(path), 0);
	assert_int_equal(access(path, F_OK), -1);
	close(begun[0]);
	close(begun[1]);
}

/* NULL for a disk of which only the name is known, unless the user gave its size. */
FIXTURE_TEST(capacity, NULL, remove_file)
{
	struct rt_target target = { .disk = "sdb" };
	struct store *store;

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_target(store_rows(store), 2, &target), 0);
	target.name_only = true;
	assert_int_equal(store_put_target(store_rows(store), 3, &target), 0);
	target.capacity_sectors = 8;
	assert_int_equal(store_put_target(store_rows(store), 4, &target), 0);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(number(store, "SELECT capacity_sectors FROM target WHERE target=2"), 0);
	assert_int_equal(number(store, "SELECT capacity_sectors IS NULL FROM target WHERE target=3"), 1);
	assert_int_equal(number(store, "SELECT capacity_sectors FROM target WHERE target=4"), 8);
	store_close(store);
}

/* Counters without a direction, processes apart. */
FIXTURE_TEST(groups_round_trip, NULL, remove_file)
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

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_target(store_rows(store), 1, &target), 0);
	assert_int_equal(store_begin_phase(store_rows(store), 0, "run", 0), 0);
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

/* Two of three disks forget counters that are not known, and their histograms. */
FIXTURE_TEST(forgets, NULL, remove_file)
{
	static const unsigned int kinds[] = {
		SIZE, RAIDTRACE_HISTOGRAM_KIND_D2C, RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C,
		RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE,
	};
	struct rt_counters c = {
		.groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_PLUG, .disk.plugs = 3,
		.flow[READ] = { .issued = 1, .splits = 2, .d2c_sum_ns = 4, .in_flight = 5 },
	};
	struct store *store;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(rt_histogram_count(&c.histogram[READ][kinds[i]], 3, 1), 0);
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(store_begin(store), 0);
	for (uint32_t number = 1; number <= 3; number++)
		assert_int_equal(store_put_sample(store, number, 0, &c), 0);
	assert_int_equal(store_forget(store, 2, RT_COUNTER_BIT(SPLITS) | RT_COUNTER_BIT(D2C_SUM_NS) |
				      RT_COUNTER_BIT(IN_FLIGHT), RT_DISK_BIT(PLUGS)), 0);
	assert_int_equal(store_forget(store, 3, RT_COUNTER_BIT(SPLITS), 0), 0);
	assert_int_equal(store_commit(store), 0);
#define OF_FLOW "SELECT count(*) FROM flow JOIN sample USING(sample) WHERE "
	assert_int_equal(number(store, OF_FLOW "(splits IS NULL) != (target > 1)"), 0);
	assert_int_equal(number(store, OF_FLOW "(d2c_sum_ns IS NULL) != (target = 2)"), 0);
	assert_int_equal(number(store, OF_FLOW "(in_flight IS NULL OR in_flight_max IS NULL) != (target = 2)"), 0);
	assert_int_equal(number(store, OF_FLOW "issued = 1"), 3);
	assert_int_equal(number(store, "SELECT count(*) FROM sample WHERE (plugs IS NULL) != (target = 2)"), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM bin JOIN sample USING(sample) WHERE target != 2"), 10);
	assert_int_equal(number(store, "SELECT count(*) FROM bin JOIN sample USING(sample) WHERE target = 2"), 1);
	assert_int_equal(number(store, "SELECT kind = 'size' FROM bin JOIN sample USING(sample) WHERE target = 2"), 1);
	rt_counters_free(&c);
	store_close(store);
}

/* A sum that no integer of SQLite holds is refused before it is reported. */
FIXTURE_TEST(sums, NULL, remove_file)
{
	static const char *const tables[] = { "sample", "flow", "origin", "submitter" };
	static const char *const counters[] = { "plugs", "issued", "seeks", "queued" };
	struct store *store;
	char sql[200];

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	assert_int_equal(put_sample(store, 2), 0);
	for (int n = 1; n <= 2; n++) {
		snprintf(sql, sizeof(sql), "INSERT INTO origin(sample,class) VALUES(%d,'data')", n);
		assert_int_equal(store_execute(store, sql), 0);
		snprintf(sql, sizeof(sql), "INSERT INTO submitter(sample,submitter) VALUES(%d,1)", n);
		assert_int_equal(store_execute(store, sql), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(store_sums_fit(store), 0);
		snprintf(sql, sizeof(sql), "UPDATE %s SET %s=%" PRId64, tables[i], counters[i], INT64_MAX);
		assert_int_equal(store_execute(store, sql), 0);
		if (!store_sums_fit(store))
			fail_msg("%s", tables[i]);
		snprintf(sql, sizeof(sql), "UPDATE %s SET %s=1", tables[i], counters[i]);
		assert_int_equal(store_execute(store, sql), 0);
	}
	store_close(store);
}

GROUP_FIXTURE(make_directory, remove_directory)
