/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a drive has yet to do for the controller's write-back cache. */
#ifndef TW_BACKLOG_H
#define TW_BACKLOG_H

#include "media/drive.h"

#define TW_BACKLOG		1024	/* entries waiting for one drive */

/**
 * struct tw_dirty - one operation that a drive has yet to do
 * @lba: first sector on the drive
 * @ready_ns: not before this
 * @sectors: how many
 * @turns: rotations between reading the old contents and writing the new, 0 if nothing is read
 * @charged: sectors of the cache that it takes up; parity and reads take none
 * @read: a read that RAID 5 needs for its parity, not a write
 */
struct tw_dirty {
	u64 lba;
	u64 ready_ns;
	u16 sectors;
	u16 charged;
	u8 turns;
	bool read;
};

/**
 * struct tw_landing - who wants to know of what has been written
 * @written: sectors of drive @number have; NULL: nobody
 * @context: passed to it
 */
struct tw_landing {
	void (*written)(void *context, u32 number, u64 lba, u32 sectors);
	void *context;
};

/**
 * struct tw_backlog - what one drive has yet to do, in no order
 * @drive: who does it
 * @number: of the drive, over all units
 * @landing: who wants to know
 * @dirty_sectors: of the whole cache; what is done is taken off
 * @count: entries
 * @entry: no two overlap exactly; neighbours are joined
 */
struct tw_backlog {
	struct rl_drive *drive;
	u32 number;
	const struct tw_landing *landing;
	u64 *dirty_sectors;
	u32 count;
	struct tw_dirty entry[TW_BACKLOG];
};

/* Return: when the drive could begin something of its backlog; RL_NEVER if that is empty. */
u64 tw_backlog_begin_ns(const struct tw_backlog *backlog);

/* Do the one that is next at @begin. Return: when it is done. */
u64 tw_backlog_do_one(struct tw_backlog *backlog, u64 begin);

/* Let the drive do what it would have begun before @now. */
void tw_backlog_catch_up(struct tw_backlog *backlog, u64 now);

/**
 * tw_backlog_add() - one operation more; what it is charged with is in dirty_sectors already
 * @backlog: the drive's
 * @dirty: copied
 *
 * Return: when it is in the cache, which waits while the backlog is full.
 */
u64 tw_backlog_add(struct tw_backlog *backlog, const struct tw_dirty *dirty);

/* Without a cache. Return: when it is done. */
u64 tw_backlog_do_now(struct tw_backlog *backlog, const struct tw_dirty *dirty);

#endif
