/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAID 5 in the write-back cache: rows are gathered until they are full, old or block others. */
#ifndef TW_GATHER_H
#define TW_GATHER_H

#include "resources.h"

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

#endif
