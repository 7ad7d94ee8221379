// SPDX-License-Identifier: GPL-2.0-only
/* Counters of targets: what they add up to, snapshots, reset. */
#include "target-counters.h"
#include "target.h"

#include <linux/ktime.h>
#include <linux/mm.h>

/*
 * A bank of zeroes to swap in. raidtrace_targets_lock() protects it: one target
 * is read at a time, so one will do for all of them.
 */
static struct raidtrace_bank *spare;

/**
 * raidtrace_counters_alloc() - memory for a target's counters
 * @target: of a disk with requests
 *
 * Return: 0 or -ENOMEM.
 */
int raidtrace_counters_alloc(struct raidtrace_target *target)
{
	raidtrace_targets_assert_locked();
	if (!spare)
		spare = raidtrace_bank_alloc();
	if (!spare)
		return -ENOMEM;
	target->total = kvzalloc(sizeof(*target->total), GFP_KERNEL);
	return target->total ? 0 : -ENOMEM;
}

/**
 * raidtrace_counters_free() - undo raidtrace_counters_alloc()
 * @target: also one that has no counters
 */
void raidtrace_counters_free(struct raidtrace_target *target)
{
	kvfree(target->total);
}

/**
 * raidtrace_counters_exit() - give back what all targets shared
 */
void raidtrace_counters_exit(void)
{
	raidtrace_bank_free(spare);
	spare = NULL;
}

/* Sum the bank counted in so far into the totals, leave zeroes. */
static void fold(struct raidtrace_target *target, struct raidtrace_bank *bank, bool forget)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!forget)
			raidtrace_account_add(target->total, bank->cpu[cpu]);
		memset(bank->cpu[cpu], 0, sizeof(*bank->cpu[cpu]));
	}
}

static void collect(struct raidtrace_target *target, bool reset, struct raidtrace_settled *settled,
		    struct raidtrace_queue *state)
{
	raidtrace_targets_assert_locked();
	spare = raidtrace_probe_swap(&target->probe, spare, reset, settled, state);
	fold(target, spare, reset);
}

/**
 * raidtrace_target_snapshot() - what a target counted until now
 * @target: in the list
 * @snapshot: filled in
 *
 * Context: process, holds raidtrace_targets_lock().
 */
void raidtrace_target_snapshot(struct raidtrace_target *target,
			       struct raidtrace_snapshot *snapshot)
{
	struct raidtrace_settled settled = {};
	u64 *queued = &snapshot->queued.count[0][0];
	unsigned int i;

	memset(snapshot, 0, sizeof(*snapshot));
	if (target->bio_based) {
		snapshot->since_ns = target->probe.state.since_ns;
		snapshot->now_ns = target->probe.stopped_ns ?: ktime_get_ns();
	} else {
		collect(target, false, &settled, &snapshot->state);
		raidtrace_account_settle(target->total, &settled);
		snapshot->since_ns = snapshot->state.since_ns;
		snapshot->now_ns = settled.now_ns;
		snapshot->account = target->total;
	}
	raidtrace_probe_queue_counters(&target->probe, &snapshot->queued);
	for (i = 0; i < RAIDTRACE_DIRECTIONS * RAIDTRACE_QUEUE_COUNTERS; i++)
		queued[i] -= (&target->queue_base.count[0][0])[i];
}

/**
 * raidtrace_target_reset() - set the counters to zero
 * @target: in the list
 *
 * Context: process, holds raidtrace_targets_lock().
 */
void raidtrace_target_reset(struct raidtrace_target *target)
{
	struct raidtrace_queue state;
	struct raidtrace_settled settled;

	if (target->bio_based) {
		target->probe.state.since_ns = target->probe.stopped_ns ?: ktime_get_ns();
	} else {
		collect(target, true, &settled, &state);
		memset(target->total, 0, sizeof(*target->total));
	}
	raidtrace_probe_queue_counters(&target->probe, &target->queue_base);
	target->resets++;
}
