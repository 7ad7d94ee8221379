// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Preloaded into raidctl: let one call fail, or die in it.
 *
 * FAULT_AT    the N-th call from 1 on; none without it
 * FAULT_DO    kill: SIGKILL before the call is made; enospc, eio: the call fails
 *             with that errno, if it changes a recording or its journal; enomem:
 *             the N-th allocation gives NULL
 * FAULT_MARK  a file that is made when it happened
 *
 * Counted is what the process that began with FAULT_AT does, not its children:
 * for kill every call below, for enospc and eio those that change a recording,
 * for enomem allocations.
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
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long left;
static pid_t process;
static int fault;		/* errno, 0 for kill */
static const char *mark;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_DO");

	mark = getenv("FAULT_MARK");
	if (!at || !what)
		return;
	fault = !strcmp(what, "enospc") ? ENOSPC : !strcmp(what, "eio") ? EIO :
		!strcmp(what, "enomem") ? ENOMEM : 0;
	process = getpid();
	atomic_store(&left, atol(at));
	/* What raidctl starts is not meant. */
	unsetenv("FAULT_AT");
	unsetenv("LD_PRELOAD");
}

static bool is_now(void)
{
	if (!process || atomic_load(&left) <= 0 || getpid() != process)
		return false;
	if (atomic_fetch_sub(&left, 1) != 1)
		return false;
	if (mark) {
		int fd = (int)syscall(SYS_openat, AT_FDCWD, mark,
				      O_WRONLY | O_CREAT, 0666);

		syscall(SYS_close, fd);
	}
	return true;
}

static bool is_recording(const char *path)
{
	return strstr(path, ".rtdb") != NULL;
}

static bool is_recording_fd(int fd)
{
	char link[64], path[512];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = syscall(SYS_readlink, link, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	return is_recording(path);
}

/* Returns whether the call is to fail; errno is set then. */
static bool fails(bool recording)
{
	if (!process || fault == ENOMEM)
		return false;
	if (!fault) {
		if (is_now())
			syscall(SYS_kill, process, SIGKILL);
		return false;
	}
	if (!recording || !is_now())
		return false;
	errno = fault;
	return true;
}

static bool fails_fd(int fd)
{
	return fails(fault && fault != ENOMEM && is_recording_fd(fd));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size)
{
	return fails_fd(fd) ? -1 : syscall(SYS_write, fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	return fails_fd(fd) ? -1 : syscall(SYS_pwrite64, fd, data, size, at);
}

int ftruncate64(int fd, off64_t size)
{
	return fails_fd(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int fdatasync(int fd)
{
	return fails_fd(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	return fails_fd(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int unlink(const char *path)
{
	return fails(is_recording(path)) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	fails(false);
	return REAL(sendmsg)(fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	fails(false);
	return REAL(recvmsg)(fd, message, flags);
}

int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	fails(false);
	return REAL(poll)(fds, nr, timeout);
}

static bool no_memory(void)
{
	if (fault != ENOMEM || !is_now())
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
