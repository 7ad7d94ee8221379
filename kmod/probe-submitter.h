/* SPDX-License-Identifier: GPL-2.0-only */
/* The processes that queue bios, each with a row of its own as far as they go. */
#ifndef RAIDTRACE_PROBE_SUBMITTER_H
#define RAIDTRACE_PROBE_SUBMITTER_H

#include <linux/sched.h>

#include "account.h"

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

u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters);

#endif /* RAIDTRACE_PROBE_SUBMITTER_H */
