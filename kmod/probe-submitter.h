/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that queue bios, each with a row of its own as far as they go. */
#ifndef RAIDTRACE_PROBE_SUBMITTER_H
#define RAIDTRACE_PROBE_SUBMITTER_H

#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "account.h"

/* Rows that are looked at for one process, so that the way is short when the table is full. */
#define RAIDTRACE_SUBMITTER_TRIES 16

/**
 * struct raidtrace_submitter - a row
 * @used: it has a process
 * @pid: the process (thread group), 0 for an interrupt
 * @comm: name of the thread that was seen first
 */
struct raidtrace_submitter {
	bool used;
	u32 pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct raidtrace_submitters - the rows; a row keeps its process until the table is cleared
 * @row: found by the process
 */
struct raidtrace_submitters {
	struct raidtrace_submitter row[RAIDTRACE_SUBMITTERS];
};

/*
 * Row of the present process; RAIDTRACE_SUBMITTER_REST when none is free. Threads
 * of a process that have another name have a row of their own. A bio that an
 * interrupt queues has nothing to do with the task that it interrupts. The
 * probe's arrival lock is held.
 */
static inline u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters)
{
	static const char interrupt[TASK_COMM_LEN] = "(interrupt)";
	bool task = in_task();
	const char *comm = task ? current->comm : interrupt;
	u32 pid = task ? current->tgid : 0;
	u32 first = hash_32(pid, ilog2(RAIDTRACE_SUBMITTERS));
	unsigned int i;

	for (i = 0; i < RAIDTRACE_SUBMITTER_TRIES; i++) {
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

#endif /* RAIDTRACE_PROBE_SUBMITTER_H */
