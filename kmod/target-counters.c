// SPDX-License-Identifier: GPL-2.0-only
/* Counters of targets: what they add up to, snapshots, reset. */
#include "target-counters.h"
#include "target.h"

#include <linux/mm.h>
#include <linux/slab.h>

/*
 * A bank of zeroes to swap in. raidtrace_targets_lock() protects it: one target
 * is read at a time, so one will do for all of them.
 */
static struct raidtrace_bank *spare;

/**
 * raidtrace_counters_alloc() - memory for a target's counters
 * @target: that is being added
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

	for_each_possible_cpu(cpu)
		raidtrace_account_move(forget ? NULL : target->total, bank->cpu[cpu]);
}

static void collect(struct raidtrace_target *target, bool reset, struct raidtrace_moment *moment)
{
	raidtrace_targets_assert_locked();
	spare = raidtrace_probe_swap(&target->probe, spare, reset, moment);
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
	u64 *queued = (u64 *)&snapshot->queued;
	unsigned int i;

	collect(target, false, &snapshot->moment);
	raidtrace_account_settle(target->total, &snapshot->moment.settled);
	snapshot->since_ns = snapshot->moment.queue.since_ns;
	snapshot->now_ns = snapshot->moment.settled.now_ns;
	snapshot->account = target->total;
	raidtrace_probe_queue_counters(&target->probe, &snapshot->queued);
	for (i = 0; i < sizeof(snapshot->queued) / sizeof(*queued); i++)
		queued[i] -= ((const u64 *)&target->queue_base)[i];
}

/**
 * raidtrace_target_reset() - set the counters to zero
 * @target: in the list
 *
 * Return: 0 or -ENOMEM. Context: process, holds raidtrace_targets_lock().
 */
int raidtrace_target_reset(struct raidtrace_target *target)
{
	struct raidtrace_moment *moment = kmalloc(sizeof(*moment), GFP_KERNEL);

	if (!moment)
		return -ENOMEM;
	collect(target, true, moment);
	kfree(moment);
	memset(target->total, 0, sizeof(*target->total));
	raidtrace_probe_queue_counters(&target->probe, &target->queue_base);
	target->resets++;
	return 0;
}
