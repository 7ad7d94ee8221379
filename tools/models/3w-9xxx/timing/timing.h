/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a command completes. */
#ifndef TW_TIMING_H
#define TW_TIMING_H

#include "3w-9xxx/wire/wire.h"
#include "media/media.h"

/* Where a unit's sectors lie on its member drives: the stripe map. */

/**
 * struct tw_array - the shape of one unit
 * @level: an enum tw_level
 * @drives: member drives
 * @stripe: sectors on one drive before the next drive's turn
 * @drive_sectors: sectors used of each member, whole stripes
 * @sectors: capacity of the unit
 */
struct tw_array {
	u32 level;
	u32 drives;
	u32 stripe;
	u64 drive_sectors;
	u64 sectors;
};

/**
 * struct tw_extent - consecutive sectors on one member
 * @drive: member, from 0
 * @mirror: the member with the other copy, or @drive itself
 * @parity: the member with this row's parity, or @drive itself
 * @sectors: length; never crosses a stripe's end
 * @lba: first sector on @drive, and on @mirror and @parity as well
 */
struct tw_extent {
	u32 drive;
	u32 mirror;
	u32 parity;
	u32 sectors;
	u64 lba;
};

void tw_array_create(struct tw_array *array, const struct tw_array_config *config,
		     u64 drive_sectors);

/**
 * tw_array_map() - the first extent of a range
 * @array: the unit
 * @lba: first sector of the range, within the unit
 * @sectors: length of the range, at least 1
 *
 * Return: the extent; the caller continues behind its length.
 */
struct tw_extent tw_array_map(const struct tw_array *array, u64 lba, u32 sectors);

/* Return: members that hold data of one row (parity and mirrors not counted). */
u32 tw_array_data_drives(const struct tw_array *array);

/* RAID 5 only. Return: the member with this row's parity, and the one with a data column. */
u32 tw_array_parity(const struct tw_array *array, u64 row);
u32 tw_array_member(const struct tw_array *array, u64 row, u32 column);

#define TW_NO_MEMBER		(~0U)

/**
 * struct tw_health - what of a unit can be used
 * @missing: the member that was removed, or TW_NO_MEMBER
 * @also: another one, of another pair of RAID 10, or TW_NO_MEMBER
 * @rebuilt: sectors of its replacement that hold what they should, whole stripes
 */
struct tw_health {
	u32 missing;
	u32 also;
	u64 rebuilt;
};

/* Return: the member that cannot be used for sectors from @lba on, or TW_NO_MEMBER. */
static inline u32 tw_missing_at(const struct tw_health *health, u64 lba)
{
	return lba < health->rebuilt ? TW_NO_MEMBER : health->missing;
}

/* Return: whether @member cannot be used for sectors from @lba on. */
static inline bool tw_is_missing(const struct tw_health *health, u32 member, u64 lba)
{
	return member == health->also || member == tw_missing_at(health, lba);
}

/* RAID 5: what the cache holds of a row, and what the drives must do to write it. */

/**
 * struct tw_row - what is dirty in one row of stripes
 * @row: its number in the unit
 * @unit: the unit
 * @ready_ns: when its newest data was in the cache
 * @charged: sectors of the cache that it takes up
 * @from: by data column, first dirty sector of the stripe
 * @end: behind the last one; equal to @from if none is
 */
struct tw_row {
	u64 row;
	u32 unit;
	u64 ready_ns;
	u32 charged;
	u32 from[TW_MAX_DRIVES];
	u32 end[TW_MAX_DRIVES];
};

enum tw_parity_method {
	TW_FULL_ROW,		/* all of the parity follows from what is in the cache */
	TW_READ_MODIFY,		/* old data and old parity are read */
	TW_RECONSTRUCT,		/* the data that is not in the cache is read */
	TW_READ_ALL,		/* a part of a missing member is written: all else is read */
	TW_NO_PARITY,		/* the parity's member is missing */
};

/* Sectors [from, end) of the row's stripe on one member; empty if equal. */
struct tw_span {
	u32 from;
	u32 end;
};

/**
 * struct tw_plan - the drive operations that write one row
 * @method: how the parity is computed
 * @operations: reads and writes, counted
 * @xor_sectors: sectors that go through the parity engine
 * @read: by member; before the write if there is one
 * @write: by member
 */
struct tw_plan {
	enum tw_parity_method method;
	u32 operations;
	u32 xor_sectors;
	struct tw_span read[TW_MAX_DRIVES];
	struct tw_span write[TW_MAX_DRIVES];
};

/**
 * tw_row_add() - one more write into the row
 * @row: the row
 * @column: data column
 * @from: first sector of the stripe
 * @end: behind the last one
 *
 * Return: false if it leaves a gap to what is dirty there already; nothing is added then.
 */
bool tw_row_add(struct tw_row *row, u32 column, u32 from, u32 end);

/* Return: whether every sector of every data column is dirty. */
bool tw_row_is_full(const struct tw_array *array, const struct tw_row *row);

/* @missing: the member that cannot be used in this row, or TW_NO_MEMBER. */
void tw_parity_plan(const struct tw_array *array, const struct tw_row *row, u32 missing,
		    struct tw_plan *plan);

/* The pending writes of a drive for the controller's write-back cache. */

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

/*
 * The resources that commands wait for: the firmware and its path to the host, the cache, the
 * drives.
 */

/**
 * struct tw_timing - all that takes time in one controller
 * @config: the profile
 * @array: the shape of every unit
 * @geometry: shared by all drives
 * @free_ns: when the firmware and the path to the host are free again
 * @dirty_sectors: in the write-back cache
 * @health: by unit
 * @drive: those of unit 0, then those of unit 1, ...
 * @backlog: what each drive has yet to do
 * @landing: who wants to know what the drives have written
 * @nr_rows: rows that are being gathered
 * @row: the same, oldest first
 * @nr_methods: rows written, by enum tw_parity_method
 */
struct tw_timing {
	const struct tw_config *config;
	struct tw_array array;
	struct rl_geometry geometry;
	u64 free_ns;
	u64 dirty_sectors;
	struct tw_health health[TW_MAX_UNITS];
	struct rl_drive drive[TW_MAX_DRIVES];
	struct tw_backlog backlog[TW_MAX_DRIVES];
	struct tw_landing landing;
	u32 nr_rows;
	struct tw_row row[TW_ROWS];
	u64 nr_methods[TW_NO_PARITY + 1];
};

/* RAID 5 in the write-back cache: rows are gathered until they are full, old or block others. */

/**
 * tw_gather_write() - one extent of a write
 * @timing: the controller
 * @unit: the unit
 * @extent: from tw_array_map()
 * @now: when its data is in the cache
 *
 * Return: when it is in the cache; without a cache, @now.
 */
u64 tw_gather_write(struct tw_timing *timing, u32 unit, const struct tw_extent *extent, u64 now);

/* Hand over to the drives what has been untouched for long, at the time when it became old. */
void tw_gather_age(struct tw_timing *timing, u64 now);

/* Hand over the oldest row, if there is one. Return: when the host sees that done. */
u64 tw_gather_oldest(struct tw_timing *timing, u64 now);

/* Have all rows of all units written: a read has come between. Return: when they are. */
u64 tw_gather_close(struct tw_timing *timing, u64 now);

/* Hand over all rows of one unit. Return: the same. */
u64 tw_gather_flush(struct tw_timing *timing, u32 unit, u64 now);

/*
 * When a command will be done: the controller's own time, its write-back cache,
 * and its drives. Formulas are in Documentation/devices.rst.
 */

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config);

/* Each returns when the command that arrives at @now is done. @now must not go back. */
u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now);
u64 tw_timing_other(struct tw_timing *timing, u64 now);

/* Let the cache and all drives do what they would have begun before @now. */
void tw_timing_advance(struct tw_timing *timing, u64 now);

/**
 * tw_timing_lose_cache() - what waits in the write-back cache will not be written
 * @timing: the controller, advanced to the moment when that happens
 * @lost: called for all lost sectors, and for whole stripes of parity
 *
 * Return: how many operations and rows were waiting.
 */
u32 tw_timing_lose_cache(struct tw_timing *timing, const struct tw_landing *lost);

/* The drive has gone: nothing waits for it any more, and its replacement is a new one. */
void tw_timing_lose_drive(struct tw_timing *timing, u32 unit, u32 member);

#endif
