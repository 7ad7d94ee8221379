// SPDX-License-Identifier: GPL-2.0-only
/* Which row of the table the process has that queues a bio now. */
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "probe-submitter.h"

/* Rows that are looked at for one process, so that the way is short when the table is full. */
#define TRIES 16

/* A bio that an interrupt queues has nothing to do with the task that it interrupts. */
static const char interrupt[TASK_COMM_LEN] = "(interrupt)";

/**
 * raidtrace_submitter_row() - row of the present process
 * @submitters: the table; the probe's arrival lock is held
 *
 * Threads of a process that have another name have a row of their own.
 *
 * Return: index of the row; RAIDTRACE_SUBMITTER_REST when no row is free.
 */
u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters)
{
	bool task = in_task();
	const char *comm = task ? current->comm : interrupt;
	u32 pid = task ? current->tgid : 0;
	u32 first = hash_32(pid, ilog2(RAIDTRACE_SUBMITTERS));
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		u32 index = (first + i) % RAIDTRACE_SUBMITTERS;
		struct raidtrace_submitter *row = &submitters->row[index];

		if (!row->used) {
			row->used = true;
			row->pid = pid;
			memcpy(row->comm, comm, sizeof(row->comm));
			return index;
		}
		if (row->pid == pid && !memcmp(row->comm, comm, sizeof(row->comm)))
			return index;
	}
	return RAIDTRACE_SUBMITTER_REST;
}
