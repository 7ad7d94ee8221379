// SPDX-License-Identifier: GPL-2.0-or-later

/* Readings of the machine during a recording. */

#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/machine.h"
#include "store/store.h"

static unsigned int nr_globs;

/* Instead of libc's: the search of a device's interrupts begins with it. */
int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *ret)
{
	(void)pattern;
	(void)flags;
	(void)failed;
	(void)ret;
	nr_globs++;
	return GLOB_NOMATCH;
}

static int put_nothing(struct rows *to, const char *sql, const struct cell *cells, int nr)
{
	(void)to;
	(void)sql;
	(void)cells;
	(void)nr;
	return 0;
}

/* Interrupts that did not occur have no row, so no device is searched for them. */
TEST(search_of_changed_interrupts)
{
	static struct disk disk = { .above.pci = "0000:ff:1f.7" };
	struct rows rows = { .put = put_nothing };
	struct interrupt_table before = { 0 };
	unsigned int changed = 0;
	struct host host;
	const char *text;

	assert_int_equal(host_begin(&host, &disk, 1, 1), 0);
	text = proc_read(&host.interrupts);
	if (!text || !host.lines.nr) {
		host_end(&host);
		skip();
	}
	/* host_look() compares with the reading of host_begin(). */
	interrupts_free(&host.lines);
	assert_int_equal(interrupts_parse(text, &host.lines), 0);
	assert_int_equal(interrupts_parse(text, &before), 0);
	nr_globs = 0;
	assert_int_equal(host_look(&host, 2, &rows), 0);
	for (size_t i = 0; i < host.lines.nr; i++) {
		const uint64_t *then = interrupts_of(&before, host.lines.lines[i].number);

		changed += then && memcmp(then, &host.lines.counts[host.lines.lines[i].first],
					  host.lines.nr_processors * sizeof(*then));
	}
	assert_int_equal(nr_globs, changed);
	interrupts_free(&before);
	host_end(&host);
}

/* Make a child wait for one thing. */
static void wait_in(enum command_look look, const int *ends)
{
	struct flock all = { .l_type = F_WRLCK };
	pid_t child;
	char byte;

	switch (look) {
	case LOOK_RUNNING:
		for (;;)
			;
	case LOOK_STOPPED:
		raise(SIGSTOP);
		break;
	case LOOK_LOCK:
		fcntl(ends[4], F_SETLKW, &all);
		break;
	case LOOK_SOCKET:
		read(ends[2], &byte, 1);
		break;
	case LOOK_POLL:
		poll(&(struct pollfd){ .fd = ends[2], .events = POLLIN }, 1, -1);
		break;
	case LOOK_PIPE:
		read(ends[0], &byte, 1);
		break;
	case LOOK_CHILD:
		child = fork();
		if (child)
			waitpid(child, NULL, 0);
		else
			sleep(100);
		break;
	default:
		sleep(100);
	}
	_exit(1);
}

/* Look at children, each of which waits for one thing, until a look found @expected, and no other thing. */
static bool look_at(const enum command_look *children, size_t nr, enum command_look expected, const int *ends)
{
	pid_t pids[4];
	bool found = false;

	for (size_t i = 0; i < nr; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			setpgid(0, 0);
			wait_in(children[i], ends);
		}
		setpgid(pids[i], pids[i]);
	}
	for (int tries = 0; tries < 500 && !found; tries++) {
		struct looks looks = { 0 };

		usleep(20000);
		looks_take(&looks, getpid());
		found = looks.all == 1 && looks.nr[expected] == 1;
		for (int i = 0; i < NR_LOOKS; i++)
			found = found && (i == (int)expected || !looks.nr[i]);
	}
	for (size_t i = 0; i < nr; i++)
		kill(-pids[i], SIGKILL);
	for (size_t i = 0; i < nr; i++)
		waitpid(pids[i], NULL, 0);
	return found;
}

/* A process that waits for another one of the command is not the reason. */
TEST(looks_at_what_a_command_waits_for)
{
	static const struct {
		enum command_look children[3];
		size_t nr;
		enum command_look expected;
	} cases[] = {
		{ { LOOK_SLEEP }, 1, LOOK_SLEEP }, { { LOOK_STOPPED }, 1, LOOK_STOPPED },
		{ { LOOK_LOCK }, 1, LOOK_LOCK }, { { LOOK_SOCKET }, 1, LOOK_SOCKET },
		{ { LOOK_POLL }, 1, LOOK_POLL }, { { LOOK_PIPE }, 1, LOOK_PIPE },
		{ { LOOK_PIPE, LOOK_PIPE, LOOK_SLEEP }, 3, LOOK_SLEEP }, { { LOOK_CHILD }, 1, LOOK_SLEEP },
		{ { LOOK_PIPE, LOOK_RUNNING, LOOK_SLEEP }, 3, LOOK_RUNNING },
	};
	struct flock all = { .l_type = F_WRLCK };
	char path[] = "/tmp/raidtrace-looks-XXXXXX";
	int ends[5];

	ends[4] = mkstemp(path);
	assert_true(ends[4] >= 0 && !unlink(path) && !pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, &ends[2]));
	assert_int_equal(fcntl(ends[4], F_SETLK, &all), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!look_at(cases[i].children, cases[i].nr, cases[i].expected, ends))
			fail_msg("case %zu was not seen as %s", i, look_name(cases[i].expected));
	for (int i = 0; i < 5; i++)
		close(ends[i]);
}

/* By the call, or by the file that is its first argument. */
TEST(what_a_call_waits_for)
{
	assert_int_equal(look_of_call(SYS_io_uring_enter, "anon_inode:[io_uring]"), LOOK_REQUESTS);
	assert_int_equal(look_of_call(SYS_futex, "pipe:[1]"), LOOK_LOCK);
	assert_int_equal(look_of_call(SYS_read, "pipe:[1]"), LOOK_PIPE);
	assert_int_equal(look_of_call(SYS_sendto, "socket:[1]"), LOOK_SOCKET);
	assert_int_equal(look_of_call(SYS_read, "anon_inode:[timerfd]"), LOOK_POLL);
	assert_int_equal(look_of_call(SYS_read, "/dev/tty"), LOOK_OTHER);
}

/* Two children that compute on one processor: each waits while the other runs. */
TEST(time_without_a_processor)
{
	const struct tree_use ended = { 0 };
	struct tree_use use = { 0 };
	pid_t children[2];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i]) {
			sched_setaffinity(0, sizeof(one), &one);
			for (;;)
				;
		}
	}
	for (int i = 0; i < 100 && use.waited_ns < 20000000; i++) {
		usleep(100000);
		tree_read(getpid(), &ended, &use);
		if (!use.waited_known)
			break;
	}
	for (int i = 0; i < 2; i++)
		kill(children[i], SIGKILL);
	for (int i = 0; i < 2; i++)
		waitpid(children[i], NULL, 0);
	assert_true(!use.waited_known || use.waited_ns >= 20000000);
}
