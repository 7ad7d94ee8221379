// SPDX-License-Identifier: GPL-2.0-or-later

/* The thread that stores: in order, all of it or nothing, and it says when it cannot. */

#include "store_disk.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include "full.h"
#include "store/store.h"

/* Hand over a start and samples; each commit may tell an earlier failure. */
static int write_samples(struct writer *writer, uint32_t nr)
{
	static const struct rt_target target = { .disk = "sda" };
	int err = store_put_target(writer_rows(writer), 1, &target);

	if (!err)
		err = store_begin_phase(writer_rows(writer), 0, "run", 0);
	if (!err)
		err = writer_commit(writer);
	for (uint32_t n = 1; n <= nr && !err; n++) {
		struct rt_counters c;

		fill(&c, n);
		err = writer_put_sample(writer, 1, 0, &c);
		rt_counters_free(&c);
		if (!err)
			err = store_put_output(writer_rows(writer), n, "stderr", "x", 1);
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
	assert_int_equal(store_put_meta(writer_rows(writer), "end", "complete"), 0);
	writer_drop(writer);
	/* A commit of nothing is none. */
	assert_int_equal(writer_commit(writer), 0);
	/* Stopping stores what was handed over. */
	assert_int_equal(store_put_meta(writer_rows(writer), "key", "value"), 0);
	assert_int_equal(writer_commit(writer), 0);
	writer_stop(writer);
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='key'"), 1);
	assert_int_equal(number(store, "SELECT count(*) FROM meta WHERE key='end'"), 0);
	store_close(store);
}

/* What came while the disk was busy goes into one transaction, not into one for each sample. */
static void writer_behind(void **state)
{
	struct writer *writer;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	pthread_mutex_lock(&slow);
	syncs = 0;
	assert_int_equal(write_samples(writer, 50), 0);
	pthread_mutex_unlock(&slow);
	assert_int_equal(writer_flush(writer), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 50);
	assert_true(syncs < 20);
	writer_stop(writer);
	store_close(store);
}

static void writer_without_space(void **state)
{
	struct writer *writer;
	struct store *store;
	eventfd_t failures = 0;
	long stored;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	assert_int_equal(write_samples(writer, 3), 0);
	assert_int_equal(writer_flush(writer), 0);
	assert_int_equal(eventfd_read(writer_failed_fd(writer), &failures), -1);
	writes_left = 0;
	assert_int_equal(store_put_meta(writer_rows(writer), "a", "b"), 0);
	writer_commit(writer);
	assert_int_equal(writer_flush(writer), -ENOSPC);
	assert_int_equal(eventfd_read(writer_failed_fd(writer), &failures), 0);
	/* Space that comes back later does not make a gap in the recording. */
	writes_left = -1;
	assert_int_equal(store_put_meta(writer_rows(writer), "c", "d"), 0);
	assert_int_equal(writer_commit(writer), -ENOSPC);
	assert_string_equal(store_error(store),
			    "no space left where it is written");
	writer_stop(writer);
	stored = number(store, "SELECT count(*) FROM sample");
	assert_int_equal(stored, 3);
	assert_int_equal(number(store, "SELECT count(*) FROM meta"), 0);
	store_close(store);
}

/* Each kind of row comes with all of its columns, a sample with its bins and submitters. */
static void writer_of_everything(void **state)
{
	static const struct rt_target target = { .disk = "sda", .groups = 0x1fff, .streams = 7, .place_sectors = 11 };
	struct rt_submitter submitters[FULL_SUBMITTERS];
	struct rt_counters c = { .since_ns = 1, .now_ns = 2, .groups = 0x1fff };
	struct writer *writer;
	struct store *store;
	uint64_t seed = 3, c_other_node, c_most;

	(void)state;
	full_counters(&c, submitters, &seed);
	c_other_node = c.hwq[RT_HWQS - 1].completed_other_node;
	c_most = c.hwq[3].in_flight_max;
	c.submitters = memcpy(malloc(sizeof(submitters)), submitters, sizeof(submitters));
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	assert_int_equal(store_put_target(writer_rows(writer), 3, &target), 0);
	assert_int_equal(store_begin_phase(writer_rows(writer), 4, "read", 5), 0);
	assert_int_equal(store_put_setting(writer_rows(writer), 6, 3, "scheduler", "none"), 0);
	assert_int_equal(store_put_meta(writer_rows(writer), "no", "UTF-8\xff"), 0);
	assert_int_equal(store_put_output(writer_rows(writer), 7, "stderr", "a\nb", 3), 0);
	assert_int_equal(writer_put_sample(writer, 3, 4, &c), 0);
	assert_int_equal(store_end_phase(writer_rows(writer), 4, 9), 0);
	assert_int_equal(writer_commit(writer), 0);
	assert_int_equal(writer_flush(writer), 0);
	writer_stop(writer);
	assert_int_equal(number(store, "SELECT target=3 AND streams=7 AND place_sectors=11 FROM target"), 1);
	assert_int_equal(number(store, "SELECT phase=4 AND name='read' AND start_ns=5 AND end_ns=9 FROM phase"), 1);
	assert_int_equal(number(store, "SELECT time_ns=6 AND target=3 AND name='scheduler' AND value='none' FROM setting"), 1);
	assert_int_equal(number(store, "SELECT hex(value)='5554462D38EFBFBD' FROM meta WHERE key='no'"), 1);
	assert_int_equal(number(store, "SELECT time_ns=7 AND stream='stderr' AND text='a'||char(10)||'b' FROM output"), 1);
	assert_int_equal(number(store, "SELECT count(*) FROM submitter JOIN sample USING(sample) WHERE target=3 AND phase=4"), FULL_SUBMITTERS);
	assert_int_equal(number(store, "SELECT count(*) FROM hwq JOIN sample USING(sample) WHERE target=3 AND phase=4"), 4);
	assert_int_equal(number(store, "SELECT group_concat(hwq, '') = '013128' FROM hwq"), 1);
	assert_int_equal(number(store, "SELECT completed_other_node FROM hwq WHERE hwq=128"), (int)c_other_node);
	assert_int_equal(number(store, "SELECT in_flight_max FROM hwq WHERE hwq=3"), (int)c_most);
	assert_int_equal(number(store, "SELECT count(*) FROM hwq WHERE in_flight BETWEEN 1 AND 5"), 4);
	assert_true(number(store, "SELECT count(*) FROM bin JOIN sample USING(sample) WHERE target=3 AND phase=4") > 100);
	store_close(store);
}

/* Half of what is written may be taken, as often as the kernel likes. */
static void short_writes(void **state)
{
	struct writer *writer;
	struct store *store;

	(void)state;
	halves = true;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(writer_start(store, &writer), 0);
	assert_int_equal(write_samples(writer, 5), 0);
	assert_int_equal(writer_flush(writer), 0);
	writer_stop(writer);
	store_close(store);
	store = open_again();
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 5);
	store_close(store);
}

/* Without a descriptor it is not begun, and what it needed is let go. */
static void no_descriptor(void **state)
{
	struct writer *writer = NULL;
	struct rlimit before, none;
	struct store *store;

	(void)state;
	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(writer_start(store, &writer), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(writer);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(writer_in_order, heal),
		cmocka_unit_test_teardown(writer_behind, heal),
		cmocka_unit_test_teardown(writer_without_space, heal),
		cmocka_unit_test_teardown(writer_of_everything, heal),
		cmocka_unit_test_teardown(short_writes, heal),
		cmocka_unit_test_teardown(no_descriptor, heal),
	};

	return cmocka_run_group_tests_name("writer", tests, make_directory, remove_directory);
}
