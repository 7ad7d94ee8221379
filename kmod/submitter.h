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
 * @cgroup: whose bios they are, which is not the thread's when it writes back; 0 for nobody's
 * @pid: the process (thread group), 0 for an interrupt
 */
struct raidtrace_task {
	u64 comm[RAIDTRACE_COMM_WORDS];
	u64 cgroup;
	u32 pid;
};

static inline bool raidtrace_is_task(const struct raidtrace_task *one,
				     const struct raidtrace_task *other)
{
	return one->pid == other->pid && one->cgroup == other->cgroup &&
	       one->comm[0] == other->comm[0] && one->comm[1] == other->comm[1];
}

/**
 * struct raidtrace_submitters - the rows; one that finds none free takes that of another
 * @task: found by the process
 * @queued_ns: when its last bio was queued, 0 for a free row
 * @replaced: a bit for each row that has another process than it had
 */
struct raidtrace_submitters {
	struct raidtrace_task task[RAIDTRACE_SUBMITTERS];
	u64 queued_ns[RAIDTRACE_SUBMITTERS];
	u64 replaced;
};

/*
 * Row of a task; another name or another cgroup has one of its own. When none is free it
 * is that of the process that queued nothing for longest: then its bit is set in replaced,
 * and what was counted there is another's.
 */
static inline u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters,
					  const struct raidtrace_task *task)
{
	u32 first = ((task->pid ^ (u32)task->cgroup) * 0x61c88647U) >> 26, oldest = first;
	unsigned int i;

	for (i = 0; i < RAIDTRACE_SUBMITTER_TRIES; i++) {
		u32 index = (first + i) % RAIDTRACE_SUBMITTERS;
		struct raidtrace_task *row = &submitters->task[index];

		if (!submitters->queued_ns[index]) {
			*row = *task;
			return index;
		}
		if (raidtrace_is_task(row, task))
			return index;
		if (submitters->queued_ns[index] < submitters->queued_ns[oldest])
			oldest = index;
	}
	submitters->task[oldest] = *task;
	submitters->replaced |= 1ULL << oldest;
	return oldest;
}

#endif /* RAIDTRACE_SUBMITTER_H */
