/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What processes, disks and interrupts have done so far, from /proc; two of
 * these give what happened between them.
 */

#ifndef CHECK_ACTIVITY_H
#define CHECK_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/check.h"
#include "machine/interrupts.h"
#include "machine/process.h"

/**
 * struct activity - everything at one time
 * @time_ns: CLOCK_MONOTONIC
 * @swapped_pages: to and from swap, FACT_UNKNOWN when not told
 * @processes_known: /proc/PID of all users is visible
 * @io_accounted: the kernel knows the I/O of processes
 * @nr_processes: length of @processes
 * @processes: all of this machine
 * @disks_known: /proc/diskstats was read
 * @nr_disks: length of @disks
 * @disks: block devices, partitions too
 * @interrupts_known: /proc/interrupts was read
 * @interrupts: each line
 */
struct activity {
	uint64_t time_ns;
	int64_t swapped_pages;
	bool processes_known;
	bool io_accounted;
	size_t nr_processes;
	struct process *processes;
	bool disks_known;
	size_t nr_disks;
	struct disk_use *disks;
	bool interrupts_known;
	struct interrupt_table interrupts;
};

/**
 * activity_read - take a look
 * @ret: to be given to activity_free(), also after a failure
 *
 * Return: 0 or -ENOMEM; what cannot be read is marked as not known.
 */
int activity_read(struct activity *ret);
void activity_free(struct activity *activity);

/**
 * activity_between - what happened between two looks; pure
 * @before: the first
 * @after: the second
 * @self: process that is left out
 * @ticks_per_second: of struct process
 * @facts: gets seconds, processes, disk uses and swapped pages; to be given
 *	to facts_free()
 *
 * What a process did that ended meanwhile counts for the one that waited for
 * it: the kernel adds it there.
 *
 * Return: 0 or -ENOMEM.
 */
int activity_between(const struct activity *before,
		     const struct activity *after, int self,
		     double ticks_per_second, struct facts *facts);

/* activity_interrupts - of one line between two looks, 0 for a new one; @shared is set if it is */
uint64_t activity_interrupts(const struct activity *before,
			     const struct activity *after, unsigned int number,
			     bool *shared);

/* Modules that nothing uses and whose devices interrupt all the same. */

/**
 * drivers_read - modules with use count 0, and interrupts of their devices
 * @before: a look
 * @after: a later one
 * @disks: whose drivers are needed
 * @nr_disks: how many
 * @facts: gets modules
 *
 * Only PCI devices are looked at: of these sysfs tells the interrupt lines.
 * A driver that is not a module cannot be unloaded and is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int drivers_read(const struct activity *before, const struct activity *after,
		 const struct disk *disks, size_t nr_disks,
		 struct facts *facts);

#endif
