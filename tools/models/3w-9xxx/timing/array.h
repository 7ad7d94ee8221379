/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a unit's sectors lie on its member drives: the stripe map. */
#ifndef TW_ARRAY_H
#define TW_ARRAY_H

#include "3w-9xxx/wire/config.h"

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

#endif
