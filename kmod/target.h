/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RAIDTRACE_TARGET_H
#define RAIDTRACE_TARGET_H

#include <linux/blkdev.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include "probe.h"

/* The hash of probes has four times as many places. This also limits the memory. */
#define RAIDTRACE_MAX_TARGETS	64

/**
 * struct raidtrace_target - a disk that is counted, or was until it was removed
 * @list: list of targets, in the order of @id
 * @id: unique while the module is loaded
 * @dev: number of the disk
 * @disk: NULL when it is gone. No reference is held; used under the spinlock of target.c
 * @state: active or gone, under the same spinlock
 * @bio_based: the disk has no requests (md, dm)
 * @name: of the disk
 * @attached_ns: when counting began
 * @options: how it is counted
 * @resets: number of resets
 * @total: counters until the last snapshot
 * @changes: the snapshots in which the counters of @total changed last
 * @snapshot: number of the last snapshot or reset
 * @collected_ns: time of that, CLOCK_MONOTONIC
 * @at_snapshot: state of the disk then, or when it went
 * @reset_snapshot: number of the last reset, 0 for none
 * @users: requests that use it, and the list
 * @lock: protects the members from @resets to @reset_snapshot, and keeps it in the list
 * @probe: counts
 */
struct raidtrace_target {
	struct list_head list;
	u32 id;
	dev_t dev;
	struct gendisk *disk;
	enum raidtrace_state state;
	bool bio_based;
	char name[DISK_NAME_LEN];
	u64 attached_ns;
	struct raidtrace_options options;
	u32 resets;
	struct raidtrace_account *total;
	struct raidtrace_changes *changes;
	u64 snapshot;
	u64 collected_ns;
	struct raidtrace_probe_state at_snapshot;
	u64 reset_snapshot;
	unsigned int users;
	struct mutex lock; /* a target's members, see above */
	struct raidtrace_probe probe;
};

/* target-counters.c */
int raidtrace_counters_alloc(struct raidtrace_target *target);
void raidtrace_counters_free(struct raidtrace_target *target);
void raidtrace_counters_exit(void);
void raidtrace_target_reset(struct raidtrace_target *target);
void raidtrace_target_collect(struct raidtrace_target *target, u64 age_ns);
u64 raidtrace_target_base(const struct raidtrace_target *target, u64 base);
bool raidtrace_target_changed(const struct raidtrace_target *target, u64 base,
			      const void *counters, size_t size);

/* target.c */
int raidtrace_targets_init(void);
void raidtrace_targets_exit(void);

/*
 * Protects the list and the users of targets. No holder waits for memory or for a grace period;
 * removal of a disk does not take it.
 */
extern struct mutex raidtrace_targets_mutex;
unsigned int raidtrace_targets_count(void);
unsigned int raidtrace_targets_generation(void);
struct raidtrace_target *raidtrace_target_next(u32 after);
struct raidtrace_target *raidtrace_target_get(u32 id);
void raidtrace_target_put(struct raidtrace_target *target);

struct raidtrace_target *raidtrace_target_add(struct block_device *bdev,
					      struct raidtrace_options *options,
					      struct netlink_ext_ack *extack);
void raidtrace_target_del(struct raidtrace_target *target);
enum raidtrace_state raidtrace_target_state(struct raidtrace_target *target,
					    u64 *readahead_sectors);

#endif /* RAIDTRACE_TARGET_H */
