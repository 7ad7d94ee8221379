// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: a write that fails, and a recorder that is killed, harm nothing. */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "store/writer.h"

/*
 * Calls that change a file, until one fails with write_error, -1 for never; the
 * rest fail too if it is to last.  With die the process is killed instead.
 */
static long writes_left = -1;
static int write_error = ENOSPC;
static bool write_error_lasts = true, fired, die;

static bool fails(void)
{
	if (writes_left) {
		writes_left -= writes_left > 0;
		return false;
	}
	if (die)
		kill(getpid(), SIGKILL);
	fired = true;
	writes_left = write_error_lasts ? 0 : -1;
	errno = write_error;
	return true;
}

/* These definitions come before those of the C library, for SQLite too. */
ssize_t pwrite64(int fd, const void *buffer, size_t size, off64_t at)
{
	return fails() ? -1 : syscall(SYS_pwrite64, fd, buffer, size, at);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t at)
{
	return pwrite64(fd, buffer, size, at);
}

int ftruncate64(int fd, off64_t size)
{
	return fails() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* A disk that answers nothing while it is held, and how often it was asked. */
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static long syncs;

int fdatasync(int fd)
{
	(void)fd;
	pthread_mutex_lock(&slow);
	syncs++;
	pthread_mutex_unlock(&slow);
	return fails() ? -1 : 0; /* nobody cuts the power here */
}

static int heal(void **state)
{
	writes_left = -1;
	write_error = ENOSPC;
	write_error_lasts = true;
	return remove_file(state);
}

/* One run of a recorder; how many samples it was told are stored, which it says to @told. */
static long record(int *err, int told)
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
		if (!*err && told >= 0)
			assert_int_equal(write(told, "", 1), 1);
	}
	store_close(store);
	return stored;
}

/* How many samples the file holds; it has to be sound. */
static long held(void)
{
	struct store *store;
	long samples;

	assert_int_equal(store_open(path, &store), 0);
	samples = number(store, "SELECT count(*) FROM sample");
	assert_int_equal(number(store, "SELECT count(*) FROM output"), samples);
	assert_int_equal(number(store, "SELECT ifnull(max(sample), 0) FROM sample"), samples);
	store_close(store);
	return samples;
}

/*
 * Let the N-th call that changes the file fail, for every N: the failure is
 * told, and afterwards the file holds exactly the samples that were said to be
 * stored, or was never made.
 */
static void fail_everywhere(int error, bool lasts)
{
	long n = 0, stored;
	int err;

	do {
		write_error = error;
		write_error_lasts = lasts;
		fired = false;
		writes_left = n++;
		stored = record(&err, -1);
		writes_left = -1;
		/* SQLite says so of writes, of other calls that something failed. */
		if (err && err != -error)
			assert_int_equal(err, -EIO);
		if (stored < 0)
			assert_int_equal(access(path, F_OK), -1);
		else
			assert_int_equal(held(), stored);
		assert_true(err || stored == 5);
		unlink(path);
		unlink(journal);
		assert_true(n < 1000);
	} while (fired);
	/* Something was really tried. */
	assert_true(n > 20);
}

static void no_space_left(void **state)
{
	(void)state;
	fail_everywhere(ENOSPC, true);
}

static void bad_disk(void **state)
{
	(void)state;
	fail_everywhere(EIO, true);
	fail_everywhere(EIO, false);
}

/* Kill the recorder in the N-th such call; returns whether it lived that long. */
static bool kill_in(long n)
{
	int ends[2], status, err;
	char told[16];
	long said, samples;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		die = true;
		writes_left = n;
		record(&err, ends[1]);
		_exit(err ? 1 : 0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	said = read(ends[0], told, sizeof(told));
	close(ends[0]);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !status);
	if (access(path, F_OK)) {
		assert_int_equal(said, 0);
		return WIFSIGNALED(status);
	}
	samples = held();
	/* The last may be stored already and not told yet. */
	assert_true(samples == said || samples == said + 1);
	unlink(path);
	unlink(journal);
	return WIFSIGNALED(status);
}

static void killed_everywhere(void **state)
{
	long n = 0;

	(void)state;
	while (kill_in(n))
		assert_true(n++ < 1000);
	assert_true(n > 20);
}

/* SQLite would play it back into the new recording. */
static void old_journal(void **state)
{
	struct store *store;
	char text[8] = "";
	int fd;

	(void)state;
	fd = open(journal, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(store_create(path, &store), -ENOTUNIQ);
	assert_non_null(strstr(store_error(NULL), "a.rtdb-journal is there"));
	assert_int_equal(access(path, F_OK), -1);
	fd = open(journal, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	store_remove(path);
	assert_int_equal(store_create(path, &store), 0);
	store_close(store);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(no_space_left, heal),
		cmocka_unit_test_teardown(bad_disk, heal),
		cmocka_unit_test_teardown(killed_everywhere, heal),
		cmocka_unit_test_teardown(old_journal, heal),
		cmocka_unit_test_teardown(writer_in_order, heal),
		cmocka_unit_test_teardown(writer_behind, heal),
		cmocka_unit_test_teardown(writer_without_space, heal),
	};

	return cmocka_run_group_tests_name("store_faults", tests,
					   make_directory, remove_directory);
}
