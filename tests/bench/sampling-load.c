// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Load of tests/bench/sampling: so many requests a second of each disk, until it
 * is killed: sampling-load RATE DEVICE...
 *
 * Reads and writes of 4 KiB and, three of ten, of 64 KiB, here and there, direct.
 * One thread per disk, which sleeps to the next absolute time: when one request
 * is late the next is not later for it.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <linux/fs.h>

#define SMALL	4096
#define LARGE	65536

static long period_ns;

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void *work(void *name)
{
	int fd = open(name, O_RDWR | O_DIRECT);
	struct timespec due;
	uint32_t seed = 1;
	uint64_t bytes;
	void *buffer;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &bytes) ||
	    posix_memalign(&buffer, LARGE, LARGE)) {
		perror(name);
		exit(1);
	}
	for (const char *c = name; *c; c++)
		seed = seed * 31 + (unsigned char)*c;
	clock_gettime(CLOCK_MONOTONIC, &due);
	/* Disks do not work all at the same moment. */
	due.tv_nsec += next(&seed) % (uint32_t)period_ns;
	for (;;) {
		size_t size = next(&seed) % 10 < 7 ? SMALL : LARGE;
		off_t at = (off_t)(next(&seed) % (bytes / LARGE)) * LARGE;
		ssize_t done;

		due.tv_nsec += period_ns;
		while (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		done = next(&seed) & 1 ? pread(fd, buffer, size, at) :
					 pwrite(fd, buffer, size, at);
		if (done != (ssize_t)size) {
			perror(name);
			exit(1);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3 || atol(argv[1]) < 1) {
		fputs("Usage: sampling-load RATE DEVICE...\n", stderr);
		return 2;
	}
	period_ns = 1000000000 / atol(argv[1]);
	for (int i = 2; i < argc; i++)
		if (pthread_create(&thread, NULL, work, argv[i]))
			return 1;
	pause();
	return 0;
}
