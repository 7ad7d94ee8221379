/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Processor time of the kernel's threads that compute for disks: dm-crypt, md. */

#ifndef MACHINE_KERNEL_THREADS_H
#define MACHINE_KERNEL_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"

/* enum kernel_work - what a thread computes */
enum kernel_work { WORK_CRYPT, WORK_MD, NR_KERNEL_WORKS };

/**
 * struct kernel_threads - the last look
 * @needed: a recorded disk has dm or md above it, or is one
 * @begun: a look was taken
 * @nr: length of @threads
 * @threads: all threads of the kernel, with their time at that look
 * @ticks: time by work since the first look
 */
struct kernel_threads {
	bool needed;
	bool begun;
	size_t nr;
	struct kernel_thread *threads;
	uint64_t ticks[NR_KERNEL_WORKS];
};

/* kernel_threads_begin - without dm and md nothing is read at any look */
void kernel_threads_begin(struct kernel_threads *all, const struct disk *disks,
			  size_t nr);

/**
 * kernel_threads_look - add the time since the last look
 * @all: begun; keeps its last look when memory is short
 *
 * A worker of a workqueue counts as what it worked on last.
 */
void kernel_threads_look(struct kernel_threads *all);
void kernel_threads_end(struct kernel_threads *all);

/* kernel_work_name - as the recording has it: "kcryptd", "md" */
const char *kernel_work_name(enum kernel_work work);

/**
 * kernel_work_of - what a thread of this name computes; pure
 * @name: from /proc/PID/stat, for example "kworker/0:1-kcryptd/253:0"
 *
 * Return: NR_KERNEL_WORKS when it is none of them.
 */
enum kernel_work kernel_work_of(const char *name);

#endif
