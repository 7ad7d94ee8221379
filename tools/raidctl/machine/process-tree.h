/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a process and all its descendants have used, living and ended.
 *
 * The kernel adds what a child used to its parent's account when the parent
 * waits for it, so the sum over the living never shrinks.  What is lost: a
 * child that ends unwaited-for, because its parent ignores SIGCHLD.
 */

#ifndef MACHINE_PROCESS_TREE_H
#define MACHINE_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/proc.h"

/**
 * struct tree_use - of all of them together
 * @ticks: processor time
 * @major_faults: pages of mapped files that were not in memory when touched
 * @io: as each process has it
 * @io_known: the kernel accounts it
 * @nr: processes that live
 */
struct tree_use {
	uint64_t ticks;
	uint64_t major_faults;
	struct proc_io io;
	bool io_known;
	unsigned int nr;
};

/**
 * tree_read - all descendants of a process, without itself
 * @root: the process
 * @ended: what those used that it has waited for
 * @ret: the sum
 *
 * A child that is waited for while this runs is missing until the next call.
 */
void tree_read(int root, const struct tree_use *ended, struct tree_use *ret);

/* tree_add_ended - add one that has ended and is not waited for yet */
void tree_add_ended(int pid, struct tree_use *ended);

#endif
