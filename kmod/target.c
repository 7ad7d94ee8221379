// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets: the disks that are counted.
 *
 * A target holds no reference on its disk, the queue or the driver. With one, the disk could
 * outlive its driver's module, and an open file would keep that module loaded. A class interface of
 * the block class calls disk_removed() while the device of a disk is deleted;
 * Documentation/design.rst has the whole argument.
 */
#include "target.h"
#include "compat.h"

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

/* See target.h. */
DEFINE_MUTEX(raidtrace_targets_mutex);

/*
 * Protects the list, and the disk and state of a target: the disk of an active target exists. Nests
 * inside targets_mutex and the mutex of the block class.
 */
static DEFINE_SPINLOCK(targets_spinlock);

/* Protects tracepoints, chains of probes and @removals. Nests inside the lock of a target. */
static DEFINE_MUTEX(probes_mutex);

static LIST_HEAD(targets);
static unsigned int nr_targets;
static u32 last_id;
static unsigned int generation = 1;

unsigned int raidtrace_targets_count(void)
{
	return READ_ONCE(nr_targets);
}

/* A number, never 0, that changes with the list. Context: raidtrace_targets_mutex. */
unsigned int raidtrace_targets_generation(void)
{
	lockdep_assert_held(&raidtrace_targets_mutex);
	return generation ?: 1;
}

/* The first target with an id above @after, NULL at the end. Context: raidtrace_targets_mutex. */
struct raidtrace_target *raidtrace_target_next(u32 after)
{
	struct raidtrace_target *target;

	lockdep_assert_held(&raidtrace_targets_mutex);
	list_for_each_entry(target, &targets, list) {
		if (target->id > after)
			return target;
	}
	return NULL;
}

/* Free a target that nobody uses. Context: may sleep; waits for handlers. */
static void free_target(struct raidtrace_target *target)
{
	mutex_lock(&probes_mutex);
	raidtrace_probe_detach(&target->probe);
	mutex_unlock(&probes_mutex);
	raidtrace_probe_free(&target->probe);
	raidtrace_counters_free(target);
	kfree(target);
}

/* Release a target of raidtrace_target_get(), with its lock. Context: may sleep. */
void raidtrace_target_put(struct raidtrace_target *target)
{
	bool last;

	mutex_unlock(&target->lock);
	mutex_lock(&raidtrace_targets_mutex);
	last = !--target->users;
	mutex_unlock(&raidtrace_targets_mutex);
	if (last)
		free_target(target);
}

/*
 * The target of an id with its lock held, NULL for none; raidtrace_target_put() follows. Context: may
 * sleep.
 */
struct raidtrace_target *raidtrace_target_get(u32 id)
{
	struct raidtrace_target *target;

	mutex_lock(&raidtrace_targets_mutex);
	target = raidtrace_target_next(id - 1);
	if (!id || !target || target->id != id) {
		mutex_unlock(&raidtrace_targets_mutex);
		return NULL;
	}
	target->users++;
	mutex_unlock(&raidtrace_targets_mutex);
	mutex_lock(&target->lock);
	if (!list_empty(&target->list))
		return target;
	/* It was deleted meanwhile. */
	raidtrace_target_put(target);
	return NULL;
}

/*
 * The device of a disk or partition is deleted; after the return its disk may be freed. Context:
 * process, the block class's mutex.
 */
static void disk_removed(struct device *dev)
{
	struct raidtrace_target *target;

	spin_lock(&targets_spinlock);
	list_for_each_entry(target, &targets, list) {
		if (!target->disk || disk_to_dev(target->disk) != dev)
			continue;
		raidtrace_probe_stop(&target->probe);
		target->state = RAIDTRACE_STATE_GONE;
		target->disk = NULL;
	}
	spin_unlock(&targets_spinlock);
}

static void __maybe_unused disk_removed_of(struct device *dev, struct class_interface *interface)
{
	disk_removed(dev);
}

static struct class_interface removals = {
	.remove_dev = RAIDTRACE_REMOVE_DEV(disk_removed, disk_removed_of),
};

/* The block class is not exported; the device of any disk leads to it. */
static int watch_removals(struct gendisk *disk)
{
	int err = 0;

	mutex_lock(&probes_mutex);
	if (!removals.class) {
		removals.class = disk_to_dev(disk)->class;
		err = class_interface_register(&removals);
		if (err)
			removals.class = NULL;
	}
	mutex_unlock(&probes_mutex);
	return err;
}

/*
 * Add a target to the list, unless disk_removed() may have been called for its disk. Removal marks
 * the disk dead first: disk_removed() finds the target of a disk that is not marked.
 */
static bool publish(struct raidtrace_target *target, struct gendisk *disk)
{
	bool dead;

	spin_lock(&targets_spinlock);
	dead = test_bit(GD_DEAD, &disk->state);
	if (!dead) {
		target->id = ++last_id;
		target->disk = disk;
		target->users = 2;
		list_add_tail(&target->list, &targets);
		WRITE_ONCE(nr_targets, nr_targets + 1);
		generation++;
		raidtrace_probe_start(&target->probe, disk, &target->options);
		target->attached_ns = target->probe.engine.queue.since_ns;
	}
	spin_unlock(&targets_spinlock);
	return !dead;
}

/* A target that nobody knows yet, with its lock held, or ERR_PTR(-ENOMEM). Context: may sleep. */
static struct raidtrace_target *alloc_target(struct gendisk *disk,
					     const struct raidtrace_options *options,
					     struct netlink_ext_ack *extack)
{
	struct raidtrace_target *target;

	target = kzalloc(sizeof(*target), GFP_KERNEL);
	if (!target)
		goto no_memory;
	mutex_init(&target->lock);
	INIT_LIST_HEAD(&target->list);
	target->dev = disk_devt(disk);
	target->options = *options;
	target->bio_based = !queue_is_mq(disk->queue);
	strscpy(target->name, disk->disk_name, sizeof(target->name));
	if (!raidtrace_counters_alloc(target)) {
		mutex_lock(&target->lock);
		return target;
	}
	raidtrace_counters_free(target);
	kfree(target);
no_memory:
	return ERR_PTR(raidtrace_refuse(-ENOMEM, extack, "not enough memory for the counters"));
}

/*
 * The requests that a disk's queue can hold now, its scheduler's among them; 0 for a disk that is
 * being removed. Hardware queues may share their tags. The tag set may be freed as soon as the device
 * of the disk is deleted (null_blk, by configfs), even with the file open: as in publish(), a disk
 * that is not marked dead has disk_removed() still to come, which waits for the lock.
 */
static u64 requests_of(const struct gendisk *disk)
{
	const struct request_queue *queue = disk->queue;
	u64 depth = 0;

	spin_lock(&targets_spinlock);
	if (queue_is_mq(disk->queue) && !test_bit(GD_DEAD, &disk->state)) {
		depth = max_t(u64, queue->tag_set->queue_depth, queue->nr_requests);
		if (!(queue->tag_set->flags & BLK_MQ_F_TAG_HCTX_SHARED))
			depth *= queue->nr_hw_queues;
	}
	spin_unlock(&targets_spinlock);
	return depth;
}

/* Whether a disk can become a target now. Returns 0 or -errno. Context: raidtrace_targets_mutex. */
static int check_disk(struct block_device *bdev, struct netlink_ext_ack *extack)
{
	struct raidtrace_target *target;
	struct gendisk *disk = bdev->bd_disk;

	if (nr_targets >= RAIDTRACE_MAX_TARGETS)
		return raidtrace_refuse(-ENOSPC, extack,
					"%u targets exist already, which is the maximum",
					nr_targets);
	if (bdev_is_partition(bdev))
		return raidtrace_refuse(-EINVAL, extack, "%pg is a partition of %s; attach %s", bdev,
					disk->disk_name, disk->disk_name);
	list_for_each_entry(target, &targets, list) {
		/* The disk is compared, not dereferenced. */
		if (READ_ONCE(target->disk) == disk)
			return raidtrace_refuse(-EEXIST, extack, "%s is already target %u",
						disk->disk_name, target->id);
	}
	return 0;
}

/* Before memory is allocated for a target. */
static int prepare(struct block_device *bdev, struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&raidtrace_targets_mutex);
	err = check_disk(bdev, extack);
	mutex_unlock(&raidtrace_targets_mutex);
	if (err)
		return err;
	err = watch_removals(bdev->bd_disk);
	if (err)
		raidtrace_refuse(err, extack, "cannot watch for the removal of disks: error %d", -err);
	return err;
}

/* Attach a target and add it to the list. Returns 0 or -errno. */
static int attach(struct raidtrace_target *target, struct block_device *bdev,
		  struct raidtrace_options *options, struct netlink_ext_ack *extack)
{
	struct gendisk *disk = bdev->bd_disk;
	int err;

	mutex_lock(&probes_mutex);
	err = raidtrace_probe_attach(&target->probe, disk, requests_of(disk), options, extack);
	mutex_unlock(&probes_mutex);
	if (err)
		return err;
	raidtrace_probe_set_journal(&target->probe, options->journal);
	target->options.journal = NULL;
	options->journal = NULL;
	mutex_lock(&raidtrace_targets_mutex);
	/* Another caller may have added the disk, or the last target. */
	err = check_disk(bdev, extack);
	if (!err && !publish(target, disk))
		err = raidtrace_refuse(-ENODEV, extack, "%s is being removed", target->name);
	mutex_unlock(&raidtrace_targets_mutex);
	return err;
}

/*
 * Count a disk, which stays open meanwhile. The journal is taken over on success. Returns the target
 * with its lock held, as raidtrace_target_get() does, or ERR_PTR(-errno). Context: may sleep.
 */
struct raidtrace_target *raidtrace_target_add(struct block_device *bdev,
					      struct raidtrace_options *options,
					      struct netlink_ext_ack *extack)
{
	int err = prepare(bdev, extack);
	struct raidtrace_target *target;

	if (err)
		return ERR_PTR(err);
	target = alloc_target(bdev->bd_disk, options, extack);
	if (IS_ERR(target))
		return target;
	err = attach(target, bdev, options, extack);
	if (!err)
		return target;
	mutex_unlock(&target->lock);
	free_target(target);
	return ERR_PTR(err);
}

/*
 * Stop counting a disk. Its target is freed when its last user releases it. Context: may sleep,
 * target's lock, of raidtrace_target_get().
 */
void raidtrace_target_del(struct raidtrace_target *target)
{
	lockdep_assert_held(&target->lock);
	mutex_lock(&raidtrace_targets_mutex);
	spin_lock(&targets_spinlock);
	if (target->disk)
		raidtrace_probe_stop(&target->probe);
	target->disk = NULL;
	list_del_init(&target->list);
	spin_unlock(&targets_spinlock);
	WRITE_ONCE(nr_targets, nr_targets - 1);
	generation++;
	target->users--;
	mutex_unlock(&raidtrace_targets_mutex);
}

/* State of a target's disk, and its readahead, 0 for a disk that is gone. */
enum raidtrace_state raidtrace_target_state(struct raidtrace_target *target,
					    u64 *readahead_sectors)
{
	enum raidtrace_state state;

	*readahead_sectors = 0;
	spin_lock(&targets_spinlock);
	state = target->state;
	if (target->disk)
		*readahead_sectors = (u64)target->disk->bdi->ra_pages <<
				     (PAGE_SHIFT - SECTOR_SHIFT);
	spin_unlock(&targets_spinlock);
	return state;
}

/* Prepare for targets. Returns 0 or -ENOMEM. */
int raidtrace_targets_init(void)
{
	raidtrace_probe_find_tracepoints();
	return raidtrace_rings_init();
}

/* Delete all targets and free the memory they shared. Context: at unload, after all requests. */
void raidtrace_targets_exit(void)
{
	struct raidtrace_target *target;

	while (!list_empty(&targets)) {
		target = list_first_entry(&targets, struct raidtrace_target, list);
		mutex_lock(&target->lock);
		raidtrace_target_del(target);
		mutex_unlock(&target->lock);
		free_target(target);
	}
	if (removals.class)
		class_interface_unregister(&removals);
	raidtrace_counters_exit();
	raidtrace_rings_exit();
}
