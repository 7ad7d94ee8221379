// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what goes in comes out, and what is none is refused. */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "numbers/columns.h"
#include "store/load.h"

static void round_trip(void **state)
{
	struct rt_counters sum;
	struct store *store;
	char *text;

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

	assert_int_equal(store_open(path, &store), 0);
	text = store_get_meta(store, "end");
	assert_string_equal(text, "complete");
	free(text);
	assert_null(store_get_meta(store, "nothing"));
	assert_int_equal(number(store, "PRAGMA application_id"), 0x52544442);
	assert_int_equal(number(store, "PRAGMA user_version"), 2);
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

static void refused(int err, const char *words)
{
	struct store *store = NULL;

	assert_int_equal(store_open(path, &store), err);
	if (!strstr(store_error(NULL), words))
		fail_msg("\"%s\" does not say \"%s\"", store_error(NULL), words);
}

static void not_a_recording(void **state)
{
	(void)state;
	refused(-ENOENT, "No such file");
	write_file("", 0);
	refused(-EINVAL, "an empty file; if it is to be a recording");
	write_file("SQLite format 3", 16);
	refused(-EINVAL, "not a recording");
	assert_int_equal(mkdir(journal, 0700), 0);
	assert_int_equal(store_open(journal, NULL), -EINVAL);
	rmdir(journal);
}

static void patch(off_t at, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, bytes, len, at), len);
	close(fd);
}

static void other_version(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	store_close(store);
	patch(60, "\0\0\0\3", 4);
	refused(-EPROTO, "a recording of version 3, this raidctl reads versions 1 to 2");
	patch(60, "\0\0\0\0", 4);
	refused(-EPROTO, "a recording of version 0");
	patch(60, "\0\0\0\1", 4);
	patch(68, "RTXX", 4);
	refused(-EINVAL, "not a recording");
}

/* Statements apart by semicolons: store_each_row() takes one. */
static void run(struct store *store, const char *sql)
{
	while (*sql) {
		size_t length = strcspn(sql, ";");
		char one[512];

		snprintf(one, sizeof(one), "%.*s", (int)length, sql);
		assert_int_equal(store_each_row(store, one, NULL, NULL), 0);
		sql += length + (sql[length] == ';');
	}
}

/* What an older raidctl did not write reads as not known, and the file stays as it is. */
static void older_version(void **state)
{
	struct stat before, after;
	struct rt_counters sum;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 2), 0);
	run(store, "ALTER TABLE flow DROP COLUMN splits");
	run(store, "DROP TABLE output");
	store_close(store);
	patch(60, "\0\0\0\1", 4);
	stat(path, &before);

	assert_int_equal(store_open(path, &store), 0);
	assert_int_equal(store_sum(store, 0, 1, &sum), 0);
	assert_int_equal(sum.flow[READ].issued, 2);
	assert_int_equal(sum.unknown, RT_COUNTER_BIT(SPLITS));
	rt_counters_free(&sum);
	assert_int_equal(number(store, "SELECT count(*) FROM output"), 0);
	assert_int_equal(number(store, "SELECT count(text) FROM output"), 0);
	store_close(store);
	stat(path, &after);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void damaged(void **state)
{
	struct store *store;
	struct stat st;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	for (uint32_t n = 1; n < 100; n++)
		assert_int_equal(put_sample(store, n), 0);
	store_close(store);
	stat(path, &st);
	/* A page that is none: opening alone would not look at it. */
	patch(st.st_size - 4096, "\377", 1);
	refused(-EINVAL, "damaged or cut short");
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	refused(-EINVAL, "damaged or cut short");
}

static void damaged_histograms(void **state)
{
	static const char *const texts[] = {
		"", "{", "{}}", "[]", "{\"read\"}", "{\"read\":{}", "{\"read\":{\"size\":{}}", "{\"read\":{\"size\":{8:1}}}",
		"{\"read\":{\"size\":{\"8\":}}}", "{\"read\":{\"size\":{\"\":1}}}", "{\"read\":{\"size\":{\"8\":1,}}}",
		"{\"another\":{\"size\":{\"8\":1}}}", "{\"read\":{\"another\":{\"8\":1}}}", "{\"read\":{\"size\":{\"99999\":1}}}",
		"{\"read\":{\"size\":{\"8\":9223372036854775808}}}", "{\"read\":{\"size\":{\"8\":1}}} ",
	};
	struct rt_counters sum;
	struct store *store;
	char sql[160];

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_start(store), 0);
	assert_int_equal(put_sample(store, 1), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(sql, sizeof(sql), "UPDATE sample SET histograms='%s'", texts[i]);
		assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
		if (store_sum(store, 0, 1, &sum) != -EINVAL || strcmp(store_error(store), "the file is damaged or cut short"))
			fail_msg("%s: %s", texts[i], store_error(store));
	}
	store_each_row(store, "UPDATE sample SET histograms='{\"read\":{\"size\":{\"8\":9223372036854775807}}}'", NULL, NULL);
	assert_int_equal(store_sum(store, 0, 1, &sum), 0);
	assert_true(rt_histogram_sum(&sum.histogram[READ][SIZE]) == INT64_MAX);
	rt_counters_free(&sum);
	run(store, "UPDATE flow SET direction='another'");
	assert_int_equal(store_sum(store, 0, 1, &sum), -EINVAL);
	store_close(store);
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

/* Two phases of a disk with 32 tags, of which one is in use at the end of either. */
static int put_balanced(struct store *store)
{
	static const struct rt_target target = {
		.disk = "sda", .nr_tags = 32, .nr_hw_queues = 1,
		.groups = RAIDTRACE_GROUP_FLOW,
	};
	struct rt_counters c = { .groups = RAIDTRACE_GROUP_FLOW };
	int err = store_begin(store);

	if (!err)
		err = store_put_target(store, 1, &target);
	for (uint32_t n = 1; n <= 2 && !err; n++) {
		c.since_ns = n * 100;
		c.now_ns = n * 100 + 100;
		c.flow[READ].completed = 100;
		c.flow[READ].issued = n == 1 ? 101 : 100;
		c.flow[READ].in_flight = 1;
		c.flow[RAIDTRACE_DIRECTION_ALL].in_flight = 1;
		err = store_begin_phase(store, n, n == 1 ? "a" : "b", n * 100);
		if (!err)
			err = store_put_sample(store, 1, n, &c);
	}
	return err ? err : store_commit(store);
}

/* @word: what its recorder wrote of that, NULL for nothing: it was killed */
static void is_judged_beside(const char *word, const char *sql, const char *expected)
{
	struct recording recording;
	struct store *store;

	/* Not through SQL of ours alone: as anybody changes a file. */
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(put_balanced(store), 0);
	if (word)
		assert_int_equal(store_put_meta(store, "invariants", word), 0);
	run(store, sql);
	store_close(store);
	assert_int_equal(store_open(path, &store), 0);
	assert_int_equal(recording_load(store, NULL, &recording), 0);
	if (!strstr(recording_meta(&recording, "invariants"), expected))
		fail_msg("%s: \"%s\" does not say \"%s\"", sql,
			 recording_meta(&recording, "invariants"), expected);
	recording_free(&recording);
	store_close(store);
	unlink(path);
}

static void is_judged(const char *sql, const char *expected)
{
	is_judged_beside("hold", sql, expected);
}

/* What was stored about that is a word; what is said is computed. */
static void numbers_agree(void **state)
{
	(void)state;
	is_judged("DELETE FROM note", "hold");
	/* A disk of bios alone has no depth, also where it had no bio; another one has. */
	is_judged("UPDATE target SET groups='flow depth', bio_based=1; DELETE FROM flow", "hold");
	is_judged("UPDATE target SET groups='flow depth'; DELETE FROM flow", "depth_time histogram sums to 0");
	is_judged("UPDATE flow SET completed=-5 WHERE sample=2", "a counter of sample 2 is negative");
	is_judged("UPDATE flow SET completed=completed+1, issued=issued-1 WHERE sample=2", "sda: read: ");
	is_judged("UPDATE flow SET in_flight=3 WHERE sample=1 AND direction IN ('read', 'all')", "sda: read: ");
	is_judged("UPDATE flow SET issued=issued+100 WHERE sample=1", "requests were issued");
	is_judged("UPDATE sample SET end_ns=start_ns-1 WHERE sample=1", "negative");
	/* 32 tags are all in use, or one more. */
	is_judged("UPDATE flow SET in_flight=32, completed=completed-iif(direction='read', 31, 0)"
		  " WHERE sample=2 AND direction IN ('read', 'all')", "hold");
	is_judged("UPDATE flow SET in_flight=33, completed=completed-iif(direction='read', 32, 0)"
		  " WHERE sample=2 AND direction IN ('read', 'all')", "33 requests are in flight, and the disk has 32 tags");
	/* Requests without an issue: as many as were in flight at attach, or one more; of an older recorder, what its tags allow. */
	is_judged("UPDATE flow SET unmatched=32 WHERE sample=1 AND direction='read'", "hold");
	is_judged("UPDATE flow SET unmatched=33 WHERE sample=1 AND direction='read'",
		  "sda: the issue of 33 of 233 reads and writes was not counted (at most 32 were in flight when counting began)");
	is_judged("UPDATE flow SET unmatched=1 WHERE sample=2 AND direction='read';"
		  "UPDATE sample SET start_ns=start_ns+1000000000, end_ns=end_ns+1000000000 WHERE sample=2",
		  "sda: the issue of 1 of 201 reads and writes was not counted (at most 0 were");
	is_judged("INSERT INTO setting VALUES(5, 1, 'in_flight_at_attach', '3');"
		  "UPDATE flow SET unmatched=3 WHERE sample=1 AND direction='read'", "hold");
	is_judged("INSERT INTO setting VALUES(5, 1, 'in_flight_at_attach', '3');"
		  "UPDATE flow SET unmatched=4 WHERE sample=1 AND direction='read'", "the issue of 4 of 204 reads");
	is_judged_beside("not known, reset", "DELETE FROM note", "not known, reset");
	is_judged_beside(NULL, "DELETE FROM note", "hold");
	is_judged_beside(NULL, "UPDATE flow SET completed=-5 WHERE sample=2", "a counter of sample 2 is negative");
}

/* Counters without a direction: summed, levels of the last sample, processes apart. */
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
	struct rt_counters sum;
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
	assert_int_equal(store_sum(store, 0, 1, &sum), 0);
	assert_int_equal(sum.groups, target.groups);
	assert_int_equal(sum.disk.plugs, 10);
	assert_int_equal(sum.disk.streams_alive, 2);
	assert_int_equal(sum.disk.unknown, RT_DISK_BIT(TAG_WAITS));
	assert_int_equal(sum.origin[RAIDTRACE_CLASS_JOURNAL].seeks, 3);
	assert_int_equal(sum.nr_submitters, 2);
	assert_string_equal(sum.submitters[0].comm, "dd");
	assert_int_equal(sum.submitters[0].queued, 6);
	assert_true(sum.submitters[1].rest);
	assert_int_equal(sum.submitters[1].seeks_queued, 18);
	rt_counters_free(&sum);
	store_close(store);
}

/* The dictionary of export and the tables are the same, but for the text that is exported as histogram. */
static void dictionary(void **state)
{
	static const char *const tables[] = { "meta", "target", "setting", "phase",
					      "sample", "flow", "origin",
					      "submitter", "output", "bin" };
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		long in_order = 0, nr;
		char sql[160];

		for (size_t i = 0; i < nr_columns; i++) {
			if (strcmp(columns[i].table, tables[t]))
				continue;
			snprintf(sql, sizeof(sql),
				 "SELECT count(*) FROM pragma_table_info('%s') WHERE cid=%ld AND name='%s'",
				 tables[t], in_order++, columns[i].name);
			if (number(store, sql) != 1)
				fail_msg("%s.%s", tables[t], columns[i].name);
		}
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pragma_table_info('%s') WHERE name!='histograms'",
			 tables[t]);
		nr = number(store, sql);
		assert_int_equal(nr, in_order);
	}
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(round_trip, remove_file),
		cmocka_unit_test_teardown(unknown_is_null, remove_file),
		cmocka_unit_test_teardown(existing_file, remove_file),
		cmocka_unit_test_teardown(not_a_recording, remove_file),
		cmocka_unit_test_teardown(other_version, remove_file),
		cmocka_unit_test_teardown(older_version, remove_file),
		cmocka_unit_test_teardown(damaged, remove_file),
		cmocka_unit_test_teardown(capacity, remove_file),
		cmocka_unit_test_teardown(damaged_histograms, remove_file),
		cmocka_unit_test_teardown(refers_to_what_is_there, remove_file),
		cmocka_unit_test_teardown(numbers_agree, remove_file),
		cmocka_unit_test_teardown(groups_round_trip, remove_file),
		cmocka_unit_test_teardown(dictionary, remove_file),
	};

	return cmocka_run_group_tests_name("store", tests, make_directory,
					   remove_directory);
}
