// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings: a write that fails, and a recorder that is killed, harm nothing; the thread that stores does it in order, all
 * of it or nothing, and says when it cannot.
 */

#include "store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "full.h"
#include "store/store.h"

/* A disk with writes that fail, write half, or wait. */

/*
 * Calls that change a file, until one fails with write_error, -1 for never; the
 * rest fail too if it is to last.  With die the process is killed instead.
 */
static long writes_left = -1;
static int write_error = ENOSPC;
static bool write_error_lasts = true, fired, die;
static bool halves;	/* a write of more than a byte writes half of it */

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
	return fails() ? -1 : syscall(SYS_pwrite64, fd, buffer, halves && size > 1 ? size / 2 : size, at);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t at)
{
	return pwrite64(fd, buffer, size, at);
}

int ftruncate64(int fd, off64_t size)
{
	return fails() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* A disk that does not answer while it is blocked, and its number of requests. */
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
	halves = false;
	return remove_file(state);
}

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

/* The number of samples in the file, which has to be consistent. */
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
 * reported, and afterwards the file holds exactly the samples that were reported to be
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

FIXTURE_TEST(no_space_left, NULL, heal)
{
	fail_everywhere(ENOSPC, true);
}

FIXTURE_TEST(bad_disk, NULL, heal)
{
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

FIXTURE_TEST(killed_everywhere, NULL, heal)
{
	long n = 0;

	while (kill_in(n))
		assert_true(n++ < 1000);
	assert_true(n > 20);
}

/* SQLite would play it back into the new recording. */
FIXTURE_TEST(old_journal, NULL, heal)
{
	struct store *store;
	char text[8] = "";
	int fd;

	fd = open(journal, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
	assert_int_equal(store_create(path, &store), -ENOTUNIQ);
	assert_non_null(strstr(store_error(NULL), "a.rtdb-journal; remove it"));
	assert_int_equal(access(path, F_OK), -1);
	fd = open(journal, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	store_remove(path);
	assert_int_equal(store_create(path, &store), 0);
	store_close(store);
}

static struct writer *begin_writer(struct store **store)
{
	struct writer *writer;

	assert_int_equal(store_create(path, store), 0);
	assert_int_equal(writer_start(*store, &writer), 0);
	return writer;
}

/* Hand over a start and samples; each commit may tell an earlier failure. */
static int write_samples(struct writer *writer, uint32_t nr)
{
	static const struct rt_target target = { .disk = "sda" };
	int err = store_put_target(writer_rows(writer), 1, &target) ?:
		  store_begin_phase(writer_rows(writer), 0, "run", 0) ?: writer_commit(writer);

	for (uint32_t n = 1; n <= nr && !err; n++) {
		struct rt_counters c;

		fill(&c, n);
		err = writer_put_sample(writer, 1, 0, &c);
		rt_counters_free(&c);
		err = err ?: store_put_output(writer_rows(writer), n, "stderr", "x", 1) ?: writer_commit(writer);
	}
	return err;
}

FIXTURE_TEST(writer_in_order, NULL, heal)
{
	struct writer *writer;
	struct store *store;

	writer = begin_writer(&store);
	assert_int_equal(write_samples(writer, 50), 0);
	assert_int_equal(writer_flush(writer), 0);
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 50);
	assert_int_equal(number(store, "SELECT count(*) FROM sample WHERE start_ns != sample * 100"), 0);
	/* Rows that are not committed are not stored. */
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

/* Samples that came while the disk was busy are stored in one transaction, not in one for each. */
FIXTURE_TEST(writer_behind, NULL, heal)
{
	struct writer *writer;
	struct store *store;

	writer = begin_writer(&store);
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

FIXTURE_TEST(writer_without_space, NULL, heal)
{
	struct writer *writer;
	struct store *store;
	eventfd_t failures = 0;
	long stored;

	writer = begin_writer(&store);
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
			    "no space left on its file system");
	writer_stop(writer);
	stored = number(store, "SELECT count(*) FROM sample");
	assert_int_equal(stored, 3);
	assert_int_equal(number(store, "SELECT count(*) FROM meta"), 0);
	store_close(store);
}

/* Each kind of row comes with all of its columns, a sample with its bins and submitters. */
FIXTURE_TEST(writer_of_everything, NULL, heal)
{
	static const struct rt_target target = { .disk = "sda", .groups = 0x1fff, .streams = 7, .place_sectors = 11 };
	struct rt_submitter submitters[FULL_SUBMITTERS];
	struct rt_counters c = { .since_ns = 1, .now_ns = 2, .groups = 0x1fff };
	struct writer *writer;
	struct store *store;
	uint64_t c_other_node, c_most, c_second;

	full_counters(&c, submitters);
	c_other_node = c.hwq[RT_HWQS - 1].completed_other_node;
	c_most = c.hwq[3].in_flight_max;
	c_second = c.hwq[1].in_flight;
	c.submitters = memcpy(malloc(sizeof(submitters)), submitters, sizeof(submitters));
	writer = begin_writer(&store);
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
	assert_int_equal(number(store, "SELECT in_flight FROM hwq WHERE hwq=1"), (int)c_second);
	assert_true(number(store, "SELECT count(*) FROM bin JOIN sample USING(sample) WHERE target=3 AND phase=4") > 100);
	store_close(store);
}

/* Half of what is written may be taken, as often as the kernel likes. */
FIXTURE_TEST(short_writes, NULL, heal)
{
	struct writer *writer;
	struct store *store;

	halves = true;
	writer = begin_writer(&store);
	assert_int_equal(write_samples(writer, 5), 0);
	assert_int_equal(writer_flush(writer), 0);
	writer_stop(writer);
	store_close(store);
	store = open_again();
	assert_int_equal(number(store, "SELECT count(*) FROM sample"), 5);
	store_close(store);
}

/* Without a descriptor it is not begun, and what it needed is let go. */
FIXTURE_TEST(no_descriptor, NULL, heal)
{
	struct writer *writer = NULL;
	struct rlimit before, none;
	struct store *store;

	assert_int_equal(store_create(path, &store), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(writer_start(store, &writer), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_null(writer);
	store_close(store);
}

GROUP_FIXTURE(make_directory, remove_directory)
