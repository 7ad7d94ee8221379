// SPDX-License-Identifier: GPL-2.0-only
/* Counters of targets: what they add up to, snapshots, reset. */
#include "target.h"

#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

/*
 * An account of zeroes to count in next. raidtrace_targets_mutex protects it: one
 * target is read at a time, so one will do for all of them.
 */
static struct raidtrace_account *spare;

#define CHANGES_SIZE	(RAIDTRACE_LOTS * sizeof(u64))

/*
 * Memory for a target's counters. Returns 0 or -ENOMEM; then raidtrace_counters_free() is
 * to be called.
 */
int raidtrace_counters_alloc(struct raidtrace_target *target)
{
	lockdep_assert_held(&raidtrace_targets_mutex);
	if (!spare)
		spare = raidtrace_pages_alloc(sizeof(*spare), NUMA_NO_NODE);
	target->total = raidtrace_pages_alloc(sizeof(*target->total), NUMA_NO_NODE);
	target->changes = raidtrace_pages_alloc(CHANGES_SIZE, NUMA_NO_NODE);
	return spare && target->total && target->changes ? 0 : -ENOMEM;
}

/* Undo raidtrace_counters_alloc(), also in part. */
void raidtrace_counters_free(struct raidtrace_target *target)
{
	raidtrace_pages_free(target->changes, CHANGES_SIZE);
	raidtrace_pages_free(target->total, sizeof(*target->total));
}

/* Give back what all targets shared. */
void raidtrace_counters_exit(void)
{
	raidtrace_pages_free(spare, sizeof(*spare));
	spare = NULL;
}

/* Both rows change; each of them lies in one lot or two. */
static void release_row(struct raidtrace_target *target, unsigned int row)
{
	const u64 *total = (const u64 *)target->total;
	const unsigned int changed[] = { row, RAIDTRACE_SUBMITTER_REST };
	unsigned int i;

	raidtrace_account_release(target->total, row);
	for (i = 0; i < ARRAY_SIZE(changed); i++) {
		const u64 *first = (const u64 *)&target->total->submitted[changed[i]];
		const u64 *last = (const u64 *)&target->total->submitted[changed[i] + 1] - 1;

		target->changes[(first - total) / RAIDTRACE_LOT] = target->snapshot;
		target->changes[(last - total) / RAIDTRACE_LOT] = target->snapshot;
	}
}

/* Add the counts since the last time to the totals; with @reset forget them and begin anew. */
static void collect(struct raidtrace_target *target, bool reset)
{
	struct raidtrace_probe_state *state = &target->at_snapshot;
	unsigned int row;

	lockdep_assert_held(&raidtrace_targets_mutex);
	target->snapshot++;
	target->collected_ns = ktime_get_ns();
	spare = raidtrace_probe_snapshot(&target->probe, spare, reset, state);
	for (row = 0; row < RAIDTRACE_SUBMITTERS; row++) {
		if (state->submitters.replaced & BIT_ULL(row))
			release_row(target, row);
	}
	raidtrace_account_move(reset ? NULL : target->total, spare, target->changes,
			       target->snapshot);
}

/*
 * Take a snapshot of a target, unless the last one is younger than @age_ns; 0 takes one in any
 * case. Context: process, raidtrace_targets_mutex.
 */
void raidtrace_target_collect(struct raidtrace_target *target, u64 age_ns)
{
	if (!target->snapshot || ktime_get_ns() - target->collected_ns >= age_ns)
		collect(target, false);
}

/*
 * The number of the snapshot that a reader has if its counters can be told from there on, else
 * 0; any number does no harm. Context: raidtrace_targets_mutex.
 */
u64 raidtrace_target_base(const struct raidtrace_target *target, u64 base)
{
	return base > target->reset_snapshot && base <= target->snapshot ? base : 0;
}

/*
 * In which snapshots the lots of counters from @counter on changed last; @offset: how many
 * lie before it in its lot. Context: raidtrace_targets_mutex.
 */
const u64 *raidtrace_target_stamps(const struct raidtrace_target *target, const u64 *counter,
				   unsigned int *offset)
{
	size_t at = counter - (const u64 *)target->total;

	*offset = at % RAIDTRACE_LOT;
	return target->changes + at / RAIDTRACE_LOT;
}

/*
 * Whether any of the counters that a structure is made of moved since the snapshot @base, 0
 * for none. Context: raidtrace_targets_mutex.
 */
bool raidtrace_target_changed(const struct raidtrace_target *target, u64 base,
			      const void *counters, size_t size)
{
	unsigned int offset, lots;
	const u64 *stamp = raidtrace_target_stamps(target, counters, &offset);

	for (lots = DIV_ROUND_UP(offset + size / sizeof(u64), RAIDTRACE_LOT); lots--; stamp++) {
		if (!base || *stamp > base)
			return true;
	}
	return false;
}

/* Set the counters to zero. Context: process, raidtrace_targets_mutex. */
void raidtrace_target_reset(struct raidtrace_target *target)
{
	collect(target, true);
	memset(target->total, 0, sizeof(*target->total));
	target->reset_snapshot = target->snapshot;
	target->resets++;
	/* The state is of before the reset: the next reader takes another. */
	target->collected_ns = 0;
}
