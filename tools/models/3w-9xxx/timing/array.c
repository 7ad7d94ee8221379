// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stripe maps. RAID 10 stripes over pairs (0,1), (2,3), ...; RAID 5 rotates
 * parity from the last member down, data beginning behind it (left-symmetric).
 */
#include "timing.h"

u32 tw_array_data_drives(const struct tw_array *array)
{
	switch (array->level) {
	case TW_LEVEL_RAID0:
		return array->drives;
	case TW_LEVEL_RAID5:
		return array->drives - 1;
	case TW_LEVEL_RAID10:
		return array->drives / 2;
	}
	return 1;
}

void tw_array_create(struct tw_array *array, const struct tw_array_config *config,
		     u64 drive_sectors)
{
	array->level = config->level;
	array->drives = config->drives;
	array->stripe = config->stripe_kib * 1024 / RL_SECTOR_BYTES;
	array->drive_sectors = drive_sectors - drive_sectors % array->stripe;
	array->sectors = array->drive_sectors * tw_array_data_drives(array);
}

u32 tw_array_parity(const struct tw_array *array, u64 row)
{
	return (u32)(array->drives - 1 - row % array->drives);
}

u32 tw_array_member(const struct tw_array *array, u64 row, u32 column)
{
	return (tw_array_parity(array, row) + 1 + column) % array->drives;
}

struct tw_extent tw_array_map(const struct tw_array *array, u64 lba, u32 sectors)
{
	u64 chunk = lba / array->stripe;
	u32 within = (u32)(lba % array->stripe);
	u32 data_drives = tw_array_data_drives(array);
	u64 row = chunk / data_drives;
	u32 column = (u32)(chunk % data_drives);
	struct tw_extent extent;

	extent.sectors = (u32)rl_min(sectors, array->stripe - within);
	extent.lba = row * array->stripe + within;
	extent.drive = column;
	extent.mirror = column;
	extent.parity = column;
	switch (array->level) {
	case TW_LEVEL_RAID1:
	case TW_LEVEL_RAID10:
		/* Alternate rows are read from the other half, so that both halves work. */
		extent.drive = column * 2 + row % 2;
		extent.mirror = column * 2 + 1 - row % 2;
		extent.parity = extent.drive;
		break;
	case TW_LEVEL_RAID5:
		extent.parity = tw_array_parity(array, row);
		extent.drive = tw_array_member(array, row, column);
		extent.mirror = extent.drive;
		break;
	}
	return extent;
}
