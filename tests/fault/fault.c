// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Preloaded into raidctl: let one call fail, or die in it.
 *
 * FAULT_AT    the N-th call from 1 on; none without it
 * FAULT_DO    kill: SIGKILL before the call is made; short: the N-th write writes
 *             half of what it is given; enomem: the N-th allocation gives NULL
 * FAULT_MARK  a file that is made when it happened
 * FAULT_EACH  a file: one run for each N from FAULT_AT on until one ends without
 *             it. A run is a copy of this process, made when its libraries are
 *             loaded, which takes longer than most runs. Each run is a line in
 *             the file: N, what waitpid() had, whether a journal of FAULT_NEW
 *             was left, and its standard error, line ends as blanks
 * FAULT_NEW   a recording that a run makes; removed before each
 *
 * Counted is what the process that began with FAULT_AT does, not its children:
 * for kill every call below, for short writes of at least two bytes, for enomem
 * allocations.  Calls that fail: inject.py.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long left;
static pid_t process;
static enum { DO_KILL, DO_SHORT, DO_ENOMEM } fault;
static const char *mark;
static atomic_bool *happened;	/* shared by the runs of FAULT_EACH */

#define LONGEST_S	60

static void remove_new(const char *name, char journal[512])
{
	snprintf(journal, 512, "%s-journal", name ? name : "");
	if (!name)
		return;
	syscall(SYS_unlinkat, AT_FDCWD, name, 0);
	syscall(SYS_unlinkat, AT_FDCWD, journal, 0);
}

/* The messages of a run, on one line of the list. */
static void report(int list, long number, int status, bool left_journal, int messages)
{
	char text[512];
	ssize_t len = pread(messages, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	dprintf(list, "%ld %d %d %s\n", number, status, left_journal, text);
}

/* Returns in each run; the process that was started ends here. */
static void run_each(const char *path, const char *new)
{
	int list = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int messages = memfd_create("messages", MFD_CLOEXEC);
	long number = atomic_load(&left);
	char journal[512];

	process = 0;
	happened = mmap(NULL, sizeof(*happened), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	do {
		int status = -1;
		pid_t child;

		remove_new(new, journal);
		if (ftruncate64(messages, 0) || lseek(messages, 0, SEEK_SET))
			_exit(99);
		atomic_store(happened, false);
		child = fork();
		if (!child) {
			process = getpid();
			atomic_store(&left, number);
			dup2(messages, STDERR_FILENO);
			alarm(LONGEST_S);
			return;
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			_exit(99);
		report(list, number, status, !access(journal, F_OK), messages);
		number++;
	} while (atomic_load(happened));
	_exit(0);
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_DO");
	const char *each = getenv("FAULT_EACH");

	mark = getenv("FAULT_MARK");
	if (!at || !what)
		return;
	fault = !strcmp(what, "short") ? DO_SHORT :
		!strcmp(what, "enomem") ? DO_ENOMEM : DO_KILL;
	process = getpid();
	atomic_store(&left, atol(at));
	/* Programs that raidctl starts get no faults. */
	unsetenv("FAULT_AT");
	unsetenv("LD_PRELOAD");
	if (each)
		run_each(each, getenv("FAULT_NEW"));
}

static bool is_now(void)
{
	if (!process || atomic_load(&left) <= 0 || getpid() != process)
		return false;
	if (atomic_fetch_sub(&left, 1) != 1)
		return false;
	if (happened)
		atomic_store(happened, true);
	if (mark) {
		int fd = (int)syscall(SYS_openat, AT_FDCWD, mark,
				      O_WRONLY | O_CREAT, 0666);

		syscall(SYS_close, fd);
	}
	return true;
}

static void perhaps_die(void)
{
	if (fault == DO_KILL && is_now())
		syscall(SYS_kill, process, SIGKILL);
}

/* How much of a write is written. */
static size_t part_of(size_t size)
{
	perhaps_die();
	return fault == DO_SHORT && size > 1 && is_now() ? size / 2 : size;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, part_of(size));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	return syscall(SYS_pwrite64, fd, data, part_of(size), at);
}

int ftruncate64(int fd, off64_t size)
{
	perhaps_die();
	return (int)syscall(SYS_ftruncate, fd, size);
}

int fdatasync(int fd)
{
	perhaps_die();
	return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	perhaps_die();
	return (int)syscall(SYS_fsync, fd);
}

int unlink(const char *path)
{
	perhaps_die();
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	perhaps_die();
	return REAL(sendmsg)(fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	perhaps_die();
	return REAL(recvmsg)(fd, message, flags);
}

int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	perhaps_die();
	return REAL(poll)(fds, nr, timeout);
}

static bool no_memory(void)
{
	if (fault != DO_ENOMEM || !is_now())
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return no_memory() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return no_memory() ? NULL : __libc_realloc(old, size);
}
