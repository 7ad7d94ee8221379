// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of readahead, which no event tells of: while there are targets they
 * are looked at once a second, by a timer that wakes no idle processor.
 */
#include "target-readahead.h"
#include "target.h"

#include <linux/workqueue.h>

static void look_at_all(struct work_struct *work);
static DECLARE_DEFERRABLE_WORK(look_again, look_at_all);
static void (*tell_changed)(struct raidtrace_target *target);

static u64 readahead_of(struct raidtrace_target *target)
{
	struct raidtrace_limits limits;

	raidtrace_target_limits(target, &limits);
	return limits.state == RAIDTRACE_STATE_GONE ? target->readahead_sectors :
						      limits.readahead_sectors;
}

static void look_at_all(struct work_struct *work)
{
	struct raidtrace_target *target = NULL;

	raidtrace_targets_lock();
	while ((target = raidtrace_target_next(target ? target->id : 0))) {
		u64 sectors = readahead_of(target);

		if (sectors == target->readahead_sectors)
			continue;
		target->readahead_sectors = sectors;
		tell_changed(target);
	}
	if (raidtrace_targets_count())
		schedule_delayed_work(&look_again, HZ);
	raidtrace_targets_unlock();
}

/**
 * raidtrace_readahead_watch() - be ready to look
 * @changed: called with raidtrace_targets_lock() when a target's readahead is another
 */
void raidtrace_readahead_watch(void (*changed)(struct raidtrace_target *target))
{
	tell_changed = changed;
}

/**
 * raidtrace_readahead_look() - look at a target from now on
 * @target: just added; raidtrace_targets_lock() is held
 */
void raidtrace_readahead_look(struct raidtrace_target *target)
{
	target->readahead_sectors = readahead_of(target);
	schedule_delayed_work(&look_again, HZ);
}

/**
 * raidtrace_readahead_exit() - look no more
 *
 * Context: at unload, without raidtrace_targets_lock().
 */
void raidtrace_readahead_exit(void)
{
	cancel_delayed_work_sync(&look_again);
}
