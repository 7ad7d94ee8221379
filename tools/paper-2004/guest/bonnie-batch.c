// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into bonnie++ in a guest of the lab: what its first thread reads and writes of its files in calls of 8 KiB
 * goes to the kernel 1 MiB at a time. A call, and the two looks at the clock that bonnie++ takes around it, cost the
 * host 50 us and the guest no simulated time: a file of 20 GiB is 10 million calls. The threads that seek are left alone.
 *
 * The clock is read again only after the kernel was called: between two calls no simulated time passes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#define WINDOW	(1 << 20)

/* The state of one file, the one opened last. */
static int file = -1;
static char window[WINDOW];	/* what is at window_at */
static off_t window_at;
static size_t window_bytes;
static bool dirty;		/* the window is newer than the file */
static off_t position;		/* of the next read or write */
static bool clock_stale = true;

static bool first_thread(void)
{
	static __thread pid_t thread;
	static pid_t process;

	if (!thread)
		thread = (pid_t)syscall(SYS_gettid);
	if (!process)
		process = getpid();
	return thread == process;
}

static bool is_ours(int fd)
{
	return fd >= 0 && fd == file && first_thread();
}

static int write_window(void)
{
	size_t done = 0;

	while (dirty && done < window_bytes) {
		ssize_t wrote = syscall(SYS_pwrite64, file, window + done, window_bytes - done, window_at + (off_t)done);

		if (wrote <= 0)
			return -1;
		done += (size_t)wrote;
		clock_stale = true;
	}
	dirty = false;
	return 0;
}

static bool window_holds(size_t bytes)
{
	return position >= window_at && position + (off_t)bytes <= window_at + (off_t)window_bytes;
}

int open(const char *path, int flags, ...)
{
	va_list list;
	int mode, fd;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (fd >= 0 && strstr(path, "/Bonnie.") && first_thread()) {
		file = fd;
		position = window_at = 0;
		window_bytes = 0;
		dirty = false;
		clock_stale = true;
	}
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t got;

	if (!is_ours(fd) || bytes > WINDOW)
		return syscall(SYS_read, fd, to, bytes);
	if (!window_holds(bytes)) {
		if (write_window())
			return -1;
		clock_stale = true;
		got = syscall(SYS_pread64, fd, window, WINDOW, position);
		if (got < 0)
			return got;
		window_at = position;
		window_bytes = (size_t)got;
		if (window_bytes < bytes)
			bytes = window_bytes;
	}
	memcpy(to, window + (position - window_at), bytes);
	position += (off_t)bytes;
	return (ssize_t)bytes;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	if (!is_ours(fd) || bytes > WINDOW)
		return syscall(SYS_write, fd, from, bytes);
	if (position < window_at || position > window_at + (off_t)window_bytes ||
	    position + (off_t)bytes > window_at + (off_t)WINDOW) {
		if (write_window())
			return -1;
		window_at = position;
		window_bytes = 0;
	}
	memcpy(window + (position - window_at), from, bytes);
	position += (off_t)bytes;
	if ((off_t)window_bytes < position - window_at)
		window_bytes = (size_t)(position - window_at);
	dirty = true;
	if (position == window_at + (off_t)WINDOW && write_window())
		return -1;
	return (ssize_t)bytes;
}

off_t lseek(int fd, off_t to, int whence)
{
	if (!is_ours(fd) || whence == SEEK_END) {
		if (is_ours(fd) && write_window())
			return -1;
		return syscall(SYS_lseek, fd, to, whence);
	}
	position = whence == SEEK_CUR ? position + to : to;
	return position;
}

off_t lseek64(int fd, off_t to, int whence) __attribute__((alias("lseek")));

int fsync(int fd)
{
	if (fd == file && write_window())
		return -1;
	clock_stale = true;
	return (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
	int failed = fd == file && write_window();

	if (fd == file)
		file = -1;
	clock_stale = true;
	return syscall(SYS_close, fd) || failed ? -1 : 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	static struct timeval last;

	if (file < 0 || !first_thread())
		return (int)syscall(SYS_gettimeofday, now, zone);
	if (clock_stale)
		syscall(SYS_gettimeofday, &last, NULL);
	clock_stale = false;
	*now = last;
	return 0;
}
