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
	target->changes = kvzalloc(sizeof(*target->changes), GFP_KERNEL);
	return target->total && target->changes ? 0 : -ENOMEM;
}

/**
 * raidtrace_counters_free() - undo raidtrace_counters_alloc()
 * @target: also one that has no counters
 */
void raidtrace_counters_free(struct raidtrace_target *target)
{
	kvfree(target->changes);
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
		raidtrace_account_move(forget ? NULL : target->total, bank->cpu[cpu],
				       target->changes->account, target->snapshot);
}

static void collect(struct raidtrace_target *target, bool reset, struct raidtrace_moment *moment)
{
	raidtrace_targets_assert_locked();
	target->snapshot++;
	spare = raidtrace_probe_swap(&target->probe, spare, reset, moment);
	fold(target, spare, reset);
}

/* Time goes on at the present depths whatever else happens. */
static void settle(struct raidtrace_target *target, const struct raidtrace_settled *settled)
{
	const u64 *first = (const u64 *)target->total;
	enum raidtrace_depth_set set;
	const u64 *counter;

	raidtrace_account_settle(target->total, settled);
	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++) {
		counter = &target->total->depth_time[set][raidtrace_depth_bin(settled->depth[set])];
		target->changes->account[(counter - first) / RAIDTRACE_LOT] = target->snapshot;
	}
}

/* Read the counters that need no order, and see which have moved since the last time. */
static void collect_queued(struct raidtrace_target *target, struct raidtrace_snapshot *snapshot)
{
	const unsigned int all = sizeof(snapshot->queued) / sizeof(u64);
	const u64 *base = (const u64 *)&target->queue_base;
	u64 *last = (u64 *)&target->queue_last;
	u64 *now = (u64 *)&snapshot->queued;
	unsigned int lot, i, end;
	u64 moved;

	raidtrace_probe_queue_counters(&target->probe, &snapshot->queued);
	for (lot = 0; lot < ARRAY_SIZE(target->changes->queued); lot++) {
		end = raidtrace_lot_end(lot, all);
		/* What was never counted is as zero as at the last reset. */
		if (end < all && raidtrace_lot_empty(now + lot * RAIDTRACE_LOT))
			continue;
		for (i = lot * RAIDTRACE_LOT, moved = 0; i < end; i++) {
			moved |= now[i] ^ last[i];
			last[i] = now[i];
			now[i] -= base[i];
		}
		if (moved)
			target->changes->queued[lot] = target->snapshot;
	}
}

/**
 * raidtrace_target_snapshot() - what a target counted until now
 * @target: in the list
 * @base: number of a snapshot that the reader has, 0 for none; any other number does no harm
 * @snapshot: filled in
 *
 * Context: process, holds raidtrace_targets_lock().
 */
void raidtrace_target_snapshot(struct raidtrace_target *target, u64 base,
			       struct raidtrace_snapshot *snapshot)
{
	snapshot->base = base > target->reset_snapshot && base <= target->snapshot ? base : 0;
	collect(target, false, &snapshot->moment);
	settle(target, &snapshot->moment.settled);
	snapshot->since_ns = snapshot->moment.queue.since_ns;
	snapshot->now_ns = snapshot->moment.settled.now_ns;
	snapshot->account = target->total;
	snapshot->changes = target->changes;
	snapshot->number = target->snapshot;
	collect_queued(target, snapshot);
}

/**
 * raidtrace_snapshot_stamps() - in which snapshot counters changed last
 * @snapshot: what they belong to
 * @counter: the first, of its account or its queued
 * @offset: set to how many counters lie before it in its lot
 *
 * Return: the number of a snapshot for the lot of @counter; those of the lots behind it
 * follow. Context: raidtrace_targets_lock().
 */
const u64 *raidtrace_snapshot_stamps(const struct raidtrace_snapshot *snapshot,
				     const u64 *counter, unsigned int *offset)
{
	const u64 *queued = (const u64 *)&snapshot->queued;
	const u64 *changed = snapshot->changes->account;
	size_t at = counter - (const u64 *)snapshot->account;

	if (counter >= queued && counter < queued + sizeof(snapshot->queued) / sizeof(u64)) {
		changed = snapshot->changes->queued;
		at = counter - queued;
	}
	*offset = at % RAIDTRACE_LOT;
	return changed + at / RAIDTRACE_LOT;
}

/**
 * raidtrace_snapshot_changed() - did counters move since the snapshot that the reader has?
 * @snapshot: what they belong to
 * @counter: the first, of its account or its queued
 * @counters: how many
 *
 * Return: false only when none of them did. Context: raidtrace_targets_lock().
 */
bool raidtrace_snapshot_changed(const struct raidtrace_snapshot *snapshot, const u64 *counter,
				unsigned int counters)
{
	unsigned int offset, lot, lots;
	const u64 *stamp;

	if (!snapshot->base)
		return true;
	stamp = raidtrace_snapshot_stamps(snapshot, counter, &offset);
	lots = (offset + counters + RAIDTRACE_LOT - 1) / RAIDTRACE_LOT;
	for (lot = 0; lot < lots; lot++) {
		if (stamp[lot] > snapshot->base)
			return true;
	}
	return false;
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
	target->reset_snapshot = target->snapshot;
	target->resets++;
	return 0;
}
