/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that queue bios, each with a row of its own as far as they go. Plain C, as account.h. */
#ifndef RAIDTRACE_SUBMITTER_H
#define RAIDTRACE_SUBMITTER_H

#include "account.h"

/* Words of a task's name, TASK_COMM_LEN bytes. */
#define RAIDTRACE_COMM_WORDS	2

/* Rows that are looked at for one process, so that the way is short when the table is full. */
#define RAIDTRACE_SUBMITTER_TRIES 16

/**
 * struct raidtrace_task - who queues bios
 * @comm: name of the thread, as its bytes lie in memory
 * @pid: the process (thread group), 0 for an interrupt
 */
struct raidtrace_task {
	u64 comm[RAIDTRACE_COMM_WORDS];
	u32 pid;
};

/**
 * struct raidtrace_submitters - the rows; a row keeps its process until the table is cleared
 * @task: found by the process
 * @used: the row has a process
 */
struct raidtrace_submitters {
	struct raidtrace_task task[RAIDTRACE_SUBMITTERS];
	bool used[RAIDTRACE_SUBMITTERS];
};

/**
 * raidtrace_submitter_row() - row of a task
 * @submitters: the table
 * @task: the task; threads of a process that have another name have a row of their own
 *
 * Return: the row; RAIDTRACE_SUBMITTER_REST when none is free.
 */
static inline u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters,
					  const struct raidtrace_task *task)
{
	u32 first = (task->pid * 0x61c88647U) >> 26;
	unsigned int i;

	for (i = 0; i < RAIDTRACE_SUBMITTER_TRIES; i++) {
		u32 index = (first + i) % RAIDTRACE_SUBMITTERS;
		struct raidtrace_task *row = &submitters->task[index];

		if (!submitters->used[index]) {
			submitters->used[index] = true;
			*row = *task;
			return index;
		}
		if (row->pid == task->pid && row->comm[0] == task->comm[0] &&
		    row->comm[1] == task->comm[1])
			return index;
	}
	return RAIDTRACE_SUBMITTER_REST;
}

#endif /* RAIDTRACE_SUBMITTER_H */
