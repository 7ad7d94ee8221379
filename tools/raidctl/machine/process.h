/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What lines of /proc tell of a process or a disk. */

#ifndef MACHINE_PROCESS_H
#define MACHINE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/disk.h"

/* Value of a number that this machine does not tell. */
#define FACT_UNKNOWN	(-1)

#define FACT_NAME	64

/**
 * struct disk_use - what a disk did meanwhile
 * @name: without /dev/
 * @requests: completed, of any kind
 * @bytes: read, written and discarded
 */
struct disk_use {
	char name[DISK_NAME];
	uint64_t requests;
	uint64_t bytes;
};

/**
 * struct process - one process since it began
 * @pid: its number
 * @parent: of the one that made it
 * @start: when, in ticks; tells two processes of one number apart
 * @name: as the kernel has it
 * @ticks: processor time of it and of children that it waited for
 * @major_faults: pages that were not in memory when touched, of the same
 */
struct process {
	int pid;
	int parent;
	uint64_t start;
	char name[FACT_NAME];
	uint64_t ticks;
	uint64_t major_faults;
};

/**
 * parse_process - /proc/PID/stat; pure
 * @text: its line; a name may hold blanks and parentheses
 * @ret: all but the I/O
 *
 * Return: 0 or -EINVAL.
 */
int parse_process(const char *text, struct process *ret);

/**
 * parse_disk_use - a line of /proc/diskstats; pure
 * @text: the line
 * @ret: since the disk is there
 *
 * Return: 0 or -EINVAL.
 */
int parse_disk_use(const char *text, struct disk_use *ret);

#endif
