/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware queues of one disk: the requests in flight on each, and the CPU where each of
 * them was issued. Plain C, as account.h.
 *
 * Times are those of account-events.h. The caller has the queue's row: the number of the
 * queue, or RAIDTRACE_HWQ_REST for all queues from that number on.
 */
#ifndef RAIDTRACE_ACCOUNT_HWQ_H
#define RAIDTRACE_ACCOUNT_HWQ_H

#include "account.h"

/**
 * struct raidtrace_cpu - a CPU
 * @number: its number
 * @node: its NUMA node
 */
struct raidtrace_cpu {
	u32 number;
	unsigned short node;
};

/**
 * struct raidtrace_hwq_depth - requests in flight on the queues of one row
 * @changed_ns: until when @in_flight is in the account's depth_sum_ns
 * @in_flight: issued and not yet ended
 * @in_flight_max: highest @in_flight since attach or reset
 */
struct raidtrace_hwq_depth {
	u64 changed_ns;
	u32 in_flight;
	u32 in_flight_max;
};

/**
 * struct raidtrace_hwq_issue - where a request in flight was issued
 * @cpu: number of the CPU
 * @node: its NUMA node
 * @row: of the hardware queue
 */
struct raidtrace_hwq_issue {
	u32 cpu;
	unsigned short node;
	unsigned short row;
};

/**
 * struct raidtrace_hwqs - the hardware queues of a disk
 * @rows: one more than the highest row that had a request
 * @depth: by row
 * @issue: of the request in each place of the engine's table; of one in flight alone
 */
struct raidtrace_hwqs {
	unsigned int rows;
	struct raidtrace_hwq_depth depth[RAIDTRACE_HWQ_ROWS];
	struct raidtrace_hwq_issue issue[];
};

/* Count the time that a row spent at the depth that it has until now. */
static inline void raidtrace_hwq_spend(struct raidtrace_hwq_depth *depth,
				       struct raidtrace_hwq *hwq, u64 now_ns)
{
	hwq->depth_sum_ns += depth->in_flight * (now_ns - depth->changed_ns);
	depth->changed_ns = now_ns;
}

/* A request is issued on a CPU; @issue is that of its place. */
static inline void raidtrace_hwq_count_issue(struct raidtrace_hwqs *hwqs,
					     struct raidtrace_account *account, u64 now_ns,
					     u32 row, const struct raidtrace_cpu *cpu,
					     struct raidtrace_hwq_issue *issue)
{
	struct raidtrace_hwq_depth *depth = &hwqs->depth[row];
	struct raidtrace_hwq *hwq = &account->hwq[row];

	*issue = (struct raidtrace_hwq_issue){
		.cpu = cpu->number, .node = cpu->node, .row = row,
	};
	if (row >= hwqs->rows)
		hwqs->rows = row + 1;
	raidtrace_hwq_spend(depth, hwq, now_ns);
	hwq->issued++;
	if (++depth->in_flight > depth->in_flight_max) {
		depth->in_flight_max++;
		hwq->depth_rises++;
	}
}

/* A request that was issued ends on a CPU, or its issue is undone: then @cpu is NULL. */
static inline void raidtrace_hwq_count_end(struct raidtrace_hwqs *hwqs,
					   struct raidtrace_account *account, u64 now_ns,
					   const struct raidtrace_cpu *cpu,
					   const struct raidtrace_hwq_issue *issue)
{
	struct raidtrace_hwq_depth *depth = &hwqs->depth[issue->row];
	struct raidtrace_hwq *hwq = &account->hwq[issue->row];

	raidtrace_hwq_spend(depth, hwq, now_ns);
	depth->in_flight--;
	if (!cpu)
		hwq->returned++;
	else if (cpu->number == issue->cpu)
		hwq->completed_same_cpu++;
	else if (cpu->node == issue->node)
		hwq->completed_other_cpu++;
	else
		hwq->completed_other_node++;
}

/* Count the time spent at the present depths up to now. */
static inline void raidtrace_hwqs_advance(struct raidtrace_hwqs *hwqs,
					  struct raidtrace_account *account, u64 now_ns)
{
	unsigned int row;

	for (row = 0; row < hwqs->rows; row++)
		raidtrace_hwq_spend(&hwqs->depth[row], &account->hwq[row], now_ns);
}

/* Begin anew, just advanced, in an account of zeroes; what is in flight stays known. */
static inline void raidtrace_hwqs_reset(struct raidtrace_hwqs *hwqs,
					struct raidtrace_account *account)
{
	unsigned int row;

	for (row = 0; row < hwqs->rows; row++) {
		struct raidtrace_hwq_depth *depth = &hwqs->depth[row];

		depth->in_flight_max = depth->in_flight;
		account->hwq[row].carried = depth->in_flight;
	}
}

#endif /* RAIDTRACE_ACCOUNT_HWQ_H */
