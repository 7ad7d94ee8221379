// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into fio in a guest of the lab, where processor time is free: PROCESSOR_WRITE_US is what a processor would have
 * taken for each MiB written, PROCESSOR_REWRITE_US for each written again, and each large pwrite(2) sleeps for its part of it
 * first. fio's own thinktime looks at the clock until the time has come; the lab's stands still while somebody looks at it.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "write-back.h"

#define MIB	(1 << 20)
#define RECORD	(64 << 10)	/* what is smaller is none of the benchmark's */

static void work(const char *name, size_t bytes)
{
	const char *text = getenv(name);
	long long ns = text ? atoll(text) * 1000 * (long long)bytes / MIB : 0;
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	if (ns)
		nanosleep(&time, NULL);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	static int begun;	/* how often the file was: one file, one thread at a time */
	bool again = (begun += bytes >= RECORD && at == 0) > 1;
	size_t done = 0;

	if (bytes < RECORD)
		return syscall(SYS_pwrite64, fd, from, bytes, at);
	while (done < bytes) {
		size_t part = write_back_part(bytes - done);
		ssize_t wrote;

		work(again ? "PROCESSOR_REWRITE_US" : "PROCESSOR_WRITE_US", part);
		wrote = syscall(SYS_pwrite64, fd, (const char *)from + done, part, at + (off_t)done);
		if (wrote <= 0)
			return done ? (ssize_t)done : wrote;
		done += (size_t)wrote;
		write_back(fd, at + (off_t)done, (size_t)wrote);
	}
	return (ssize_t)done;
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off_t at) __attribute__((alias("pwrite")));
