/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a command will be done: the controller's own time, its write-back cache,
 * and its drives. Formulas are in Documentation/tw9000.rst.
 */
#ifndef TW_TIMING_H
#define TW_TIMING_H

#include "backlog.h"
#include "parity.h"

#define TW_ROWS			128	/* rows of RAID 5 that the cache gathers at a time */

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
 * @nr_rows: rows that are being gathered
 * @row: the same, oldest first
 * @nr_ways: rows written, by enum tw_parity_way
 */
struct tw_timing {
	const struct tw_config *config;
	struct tw_array array;
	struct tw_geometry geometry;
	u64 free_ns;
	u64 dirty_sectors;
	struct tw_health health[TW_MAX_UNITS];
	struct tw_drive drive[TW_MAX_DRIVES];
	struct tw_backlog backlog[TW_MAX_DRIVES];
	u32 nr_rows;
	struct tw_row row[TW_ROWS];
	u64 nr_ways[TW_NO_PARITY + 1];
};

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config);

/* Each returns when the command that arrives at @now is done. @now must not go back. */
u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now);
u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now);
u64 tw_timing_other(struct tw_timing *timing, u64 now);

/* The member's drive has gone: nothing waits for it any more, and its replacement is a new drive. */
void tw_timing_lose_drive(struct tw_timing *timing, u32 unit, u32 member);

#endif
