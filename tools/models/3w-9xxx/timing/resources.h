/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands wait for: the firmware and its path to the host, the cache, the drives. */
#ifndef TW_RESOURCES_H
#define TW_RESOURCES_H

#include "backlog.h"
#include "parity.h"

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

#endif
