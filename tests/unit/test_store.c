// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: what goes in comes out, and a write that fails harms nothing. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "columns.h"
#include "store.h"
#include "writer.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define SIZE	RAIDTRACE_HISTOGRAM_KIND_SIZE

static char directory[] = "/tmp/raidtrace-store-XXXXXX";
static char path[64], journal[80];

/* Writes until one fails with ENOSPC, -1 for never; the rest fail too. */
static long writes_left = -1;

/* SQLite's write(2): this definition comes before that of the C library. */
ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t at)
{
	if (!writes_left) {
		errno = ENOSPC;
		return -1;
	}
	if (writes_left > 0)
		writes_left--;
	return syscall(SYS_pwrite64, fd, buffer, size, at);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.rtdb", directory);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

static int remove_file(void **state)
{
	(void)state;
	writes_left = -1;
	unlink(path);
	unlink(journal);
	return 0;
}

static void fill(struct rt_counters *c, uint64_t n)
{
	memset(c, 0, sizeof(*c));
	c->since_ns = n * 100;
	c->now_ns = n * 100 + 100;
	c->flow[READ].issued = n;
	c->flow[READ].d2c_sum_ns = UINT64_C(1) << 55;
	c->flow[READ].in_flight = (uint32_t)n;
	rt_histogram_count(&c->histogram[READ][SIZE], 256, n);
	rt_histogram_count(&c->histogram[READ][SIZE], 8, 1);
}

/* One transaction with a target, a phase and a sample. */
static int put_sample(struct store *store, uint32_t n)
{
	struct rt_counters c;
	int err = store_begin(store);

	fill(&c, n);
	if (!err)
		err = store_put_sample(store, 1, 0, &c);
	if (!err)
		err = store_put_output(store, n, "stdout", "some text", 9);
	rt_counters_free(&c);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

static int put_start(struct store *store)
{
	static const struct rt_target target = { .disk = "sda", .max_sectors = 256 };
	int err = store_begin(store);

	if (!err)
		err = store_put_target(store, 1, &target);
	if (!err)
		err = store_put_setting(store, 5, 1, "scheduler", "none");
	if (!err)
		err = store_put_meta(store, "end", "running");
	if (!err)
		err = store_begin_phase(store, 0, "run", 0);
	if (!err)
		return store_commit(store);
	store_rollback(store);
	return err;
}

static int take_number(void *data, int nr, const char *const *values)
{
	assert_int_equal(nr, 1);
	*(long *)data = values[0] ? atol(values[0]) : -1;
	return 0;
}

static long number(struct store *store, const char *sql)
{
	long value = -1;

	assert_int_equal(store_each_row(store, sql, take_number, &value), 0);
	return value;
}

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
	assert_int_equal(store_create("/proc/nowhere/a.rtdb", &store), -ENOENT);
	assert_string_equal(store_error(NULL), "No such file or directory");
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
	refused(-EINVAL, "not a recording");
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

static void run(struct store *store, const char *sql)
{
	assert_int_equal(store_each_row(store, sql, NULL, NULL), 0);
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
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	refused(-EINVAL, "damaged or cut short");
}

/* One run of a recorder; how many samples it took to be stored. */
static long record(int *err)
{
	struct store *store;
	long stored = 0;

	*err = store_create(path, &store);
	if (*err)
		return -1;
	*err = put_start(store);
	for (uint32_t n = 1; n <= 5 && !*err; n++) {
		*err = put_sample(store, n);
		stored += !*err;
	}
	store_close(store);
	return stored;
}

/*
 * Let the N-th write be the one for which there is no space, for every N: the
 * failure is told as ENOSPC, and afterwards the file holds exactly the samples
 * that were said to be stored, or was never made.
 */
static void no_space_left(void **state)
{
	long n, stored;
	int err = -1;

	(void)state;
	for (n = 0; err; n++) {
		struct store *store;

		writes_left = n;
		stored = record(&err);
		writes_left = -1;
		if (err)
			assert_int_equal(err, -ENOSPC);
		if (stored < 0) {
			assert_int_equal(access(path, F_OK), -1);
			continue;
		}
		assert_int_equal(store_open(path, &store), 0);
		assert_int_equal(number(store, "SELECT count(*) FROM sample"),
				 stored);
		assert_int_equal(number(store, "SELECT count(*) FROM output"),
				 stored);
		store_close(store);
		unlink(path);
		unlink(journal);
		assert_true(n < 1000);
	}
	/* Something was really tried. */
	assert_true(n > 20);
	assert_int_equal(stored, 5);
}

/* Hand over a start and samples; each commit may tell an earlier failure. */
static int write_samples(struct writer *writer, uint32_t nr)
{
	static const struct rt_target target = { .disk = "sda" };
	int err = writer_put_target(writer, 1, &target);

	if (!err)
		err = writer_begin_phase(writer, 0, "run", 0);
	if (!err)
		err = writer_commit(writer);
	for (uint32_t n = 1; n <= nr && !err; n++) {
		struct rt_counters c;

		fill(&c, n);
		err = writer_put_sample(writer, 1, 0, &c);
		rt_counters_free(&c);
		if (!err)
			err = writer_put_output(writer, n, "stderr", "x", 1);
		if (!err)
			err = writer_commit(writer);
	}
	return err;
}

static void writer_in_order(void **state)
{
	struct writer *writer;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	assert_int_equal(write_samples(writer, 50), 0);
	assert_int_equal(writer_flush(writer), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 50);
	assert_int_equal(number(store, "SELECT count(*) FROM sample WHERE start_ns != sample * 100"), 0);
	/* What is not committed is not stored. */
	assert_int_equal(writer_put_meta(writer, "end", "complete"), 0);
	writer_drop(writer);
	/* Stopping stores what was handed over. */
	assert_int_equal(writer_put_meta(writer, "key", "value"), 0);
	assert_int_equal(writer_commit(writer), 0);
	writer_stop(writer);
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='key'"), 1);
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='end'"), 0);
	store_close(store);
}

static void writer_without_space(void **state)
{
	struct writer *writer;
	struct store *store;
	eventfd_t told = 0;
	long stored;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	assert_int_equal(write_samples(writer, 3), 0);
	assert_int_equal(writer_flush(writer), 0);
	assert_int_equal(eventfd_read(writer_failed_fd(writer), &told), -1);
	writes_left = 0;
	assert_int_equal(writer_put_meta(writer, "a", "b"), 0);
	writer_commit(writer);
	assert_int_equal(writer_flush(writer), -ENOSPC);
	assert_int_equal(eventfd_read(writer_failed_fd(writer), &told), 0);
	/* Space that comes back later does not make a gap in the recording. */
	writes_left = -1;
	assert_int_equal(writer_put_meta(writer, "c", "d"), 0);
	assert_int_equal(writer_commit(writer), -ENOSPC);
	assert_string_equal(store_error(store),
			    "no space left where it is written");
	writer_stop(writer);
	stored = number(store, "SELECT count(*) FROM sample");
	assert_int_equal(stored, 3);
	assert_int_equal(number(store, "SELECT count(*) FROM meta"), 0);
	store_close(store);
}

/* The dictionary of export and the tables are the same. */
static void dictionary(void **state)
{
	static const char *const tables[] = { "meta", "target", "setting", "phase",
					      "sample", "flow", "output" };
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
			 "SELECT count(*) FROM pragma_table_info('%s')",
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
		cmocka_unit_test_teardown(no_space_left, remove_file),
		cmocka_unit_test_teardown(writer_in_order, remove_file),
		cmocka_unit_test_teardown(writer_without_space, remove_file),
		cmocka_unit_test_teardown(dictionary, remove_file),
	};

	return cmocka_run_group_tests_name("store", tests, make_directory,
					   remove_directory);
}
