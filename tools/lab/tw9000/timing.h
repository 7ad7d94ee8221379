/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a command will be done: the controller's own time, its write-back cache,
 * and its drives. Formulas are in Documentation/tw9000.rst.
 */
#ifndef TW_TIMING_H
#define TW_TIMING_H

#include "array.h"
#include "drive.h"

#define TW_BACKLOG		1024	/* extents waiting for one drive */

/* A write in the controller's cache that its drive has yet to do. */
struct tw_dirty {
	u64 lba;
	u64 ready_ns;
	u32 sectors;
	u32 turns;
};

/**
 * struct tw_backlog - what one drive has yet to write, in no order
 * @count: entries
 * @entry: no two overlap exactly; neighbours are joined
 */
struct tw_backlog {
	u32 count;
	struct tw_dirty entry[TW_BACKLOG];
};

/**
 * struct tw_timing - all that takes time in one controller
 * @config: the profile
 * @array: the shape of every unit
 * @geometry: shared by all drives
 * @free_ns: when the firmware and the path to the host are free again
 * @dirty_sectors: in the write-back cache
 * @drive: those of unit 0, then those of unit 1, ...
 * @backlog: writes that each drive has yet to do
 */
struct tw_timing {
	const struct tw_config *config;
	struct tw_array array;
	struct tw_geometry geometry;
	u64 free_ns;
	u64 dirty_sectors;
	struct tw_drive drive[TW_MAX_DRIVES];
	struct tw_backlog backlog[TW_MAX_DRIVES];
};

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config);

/* Each returns when the command that arrives at @now is done. @now must not go back. */
u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now);
u64 tw_timing_other(struct tw_timing *timing, u64 now);

#endif
