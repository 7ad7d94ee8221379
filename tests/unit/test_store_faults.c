// SPDX-License-Identifier: GPL-2.0-or-later

/* Recordings: a write that fails, and a recorder that is killed, harm nothing. */

#include "store_disk.h"

#include <fcntl.h>
#include <sys/wait.h>

/* One run of a recorder. Return: the number of samples that are stored by its reports; each is a byte to @reports. */
static long record(int *err, int reports)
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
		if (!*err && reports >= 0)
			assert_int_equal(write(reports, "", 1), 1);
	}
	store_close(store);
	return stored;
}

/* How many samples the file holds; it has to be sound. */
static long stored_samples(void)
{
	struct store *store = open_again();
	long samples = number(store, "SELECT count(*) FROM sample");
	assert_int_equal(number(store, "SELECT count(*) FROM output"), samples);
	assert_int_equal(number(store, "SELECT ifnull(max(sample), 0) FROM sample"), samples);
	store_close(store);
	return samples;
}

/*
 * Let the N-th call that changes the file fail, for every N: the failure is
 * reports, and afterwards the file holds exactly the samples that were reported to be
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
			assert_int_equal(stored_samples(), stored);
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
	char reports[16];
	long reported, samples;
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
	reported = read(ends[0], reports, sizeof(reports));
	close(ends[0]);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : !status);
	if (access(path, F_OK)) {
		assert_int_equal(reported, 0);
		return WIFSIGNALED(status);
	}
	samples = stored_samples();
	/* The last one may be stored already and not reported yet. */
	assert_true(samples == reported || samples == reported + 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(no_space_left, heal),
		cmocka_unit_test_teardown(bad_disk, heal),
		cmocka_unit_test_teardown(killed_everywhere, heal),
		cmocka_unit_test_teardown(old_journal, heal),
	};

	return cmocka_run_group_tests_name("store_faults", tests,
					   make_directory, remove_directory);
}
