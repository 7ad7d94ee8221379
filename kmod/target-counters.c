// SPDX-License-Identifier: GPL-2.0-only
/* Sums of targets, snapshots, reset. */
#include "target.h"

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

/*
 * The account of zeroes to count in next, and the lock for it. Its holder does not wait for memory.
 * Nests inside the lock of a target.
 */
static struct raidtrace_account *spare;
static DEFINE_MUTEX(spare_mutex);

/*
 * Allocate a target's counters. Returns 0 or -ENOMEM; raidtrace_counters_free() follows in both
 * cases.
 */
int raidtrace_counters_alloc(struct raidtrace_target *target)
{
	struct raidtrace_account *first = NULL;

	if (!READ_ONCE(spare)) {
		first = raidtrace_pages_alloc(sizeof(*first), NUMA_NO_NODE);
		if (!first)
			return -ENOMEM;
	}
	mutex_lock(&spare_mutex);
	if (!spare)
		swap(spare, first);
	mutex_unlock(&spare_mutex);
	raidtrace_pages_free(first, sizeof(*first));
	target->total = raidtrace_pages_alloc(sizeof(*target->total), NUMA_NO_NODE);
	target->changes = raidtrace_pages_alloc(sizeof(*target->changes), NUMA_NO_NODE);
	return target->total && target->changes ? 0 : -ENOMEM;
}

void raidtrace_counters_free(struct raidtrace_target *target)
{
	raidtrace_pages_free(target->changes, sizeof(*target->changes));
	raidtrace_pages_free(target->total, sizeof(*target->total));
}

void raidtrace_counters_exit(void)
{
	raidtrace_pages_free(spare, sizeof(*spare));
	spare = NULL;
}

/* Move a row to that of the rest, and note that both change. */
static void release_row(struct raidtrace_target *target, unsigned int row)
{
	const u64 *total = (const u64 *)target->total;
	const unsigned int changed[] = { row, RAIDTRACE_SUBMITTER_REST };
	unsigned int i;

	raidtrace_account_release(target->total, row);
	for (i = 0; i < ARRAY_SIZE(changed); i++) {
		const u64 *first = (const u64 *)&target->total->submitted[changed[i]];
		const u64 *last = (const u64 *)&target->total->submitted[changed[i] + 1] - 1;

		raidtrace_changes_note(target->changes, first - total, target->snapshot);
		raidtrace_changes_note(target->changes, last - total, target->snapshot);
	}
}

/* Add the counters since the last snapshot to the totals; with @reset drop them. */
static void collect(struct raidtrace_target *target, bool reset)
{
	struct raidtrace_probe_state *state = &target->at_snapshot;
	unsigned int row;

	lockdep_assert_held(&target->lock);
	mutex_lock(&spare_mutex);
	target->snapshot++;
	target->collected_ns = ktime_get_ns();
	spare = raidtrace_probe_snapshot(&target->probe, spare, reset, state);
	for (row = 0; row < RAIDTRACE_SUBMITTERS; row++) {
		if (state->submitters.replaced & BIT_ULL(row))
			release_row(target, row);
	}
	raidtrace_account_move(reset ? NULL : target->total, spare, target->changes,
			       target->snapshot);
	mutex_unlock(&spare_mutex);
}

/* Take a snapshot, unless the last one is younger than @age_ns. Context: process, target's lock. */
void raidtrace_target_collect(struct raidtrace_target *target, u64 age_ns)
{
	if (!target->snapshot || ktime_get_ns() - target->collected_ns >= age_ns)
		collect(target, false);
}

/*
 * The snapshot from which a reader can be updated, or 0. @base: the one that it has, any number.
 * Context: target's lock.
 */
u64 raidtrace_target_base(const struct raidtrace_target *target, u64 base)
{
	return base > target->reset_snapshot && base <= target->snapshot ? base : 0;
}

/*
 * Whether any counter of a structure changed since the snapshot @base, 0 for none. Context: target's
 * lock.
 */
bool raidtrace_target_changed(const struct raidtrace_target *target, u64 base,
			      const void *counters, size_t size)
{
	unsigned int first = (const u64 *)counters - (const u64 *)target->total;
	unsigned int end = DIV_ROUND_UP(first + size / sizeof(u64), RAIDTRACE_LOT);

	return !base || raidtrace_changes_next(target->changes, base, first / RAIDTRACE_LOT, end) < end;
}

void raidtrace_target_reset(struct raidtrace_target *target)
{
	collect(target, true);
	memset(target->total, 0, sizeof(*target->total));
	target->reset_snapshot = target->snapshot;
	target->resets++;
	/* The state is older than the reset: the next reader takes a snapshot. */
	target->collected_ns = 0;
}
