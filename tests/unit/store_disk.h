/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For the tests of the store: a disk with writes that fail, write half, or wait. */

#ifndef STORE_DISK_H
#define STORE_DISK_H

#include "store_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

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

#endif
