// SPDX-License-Identifier: GPL-2.0-or-later
/* The stripe map as properties: every sector has one place, and no two the same. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const struct tw_array_config shapes[] = {
	{ TW_LEVEL_SINGLE, 1, 64, 1 }, { TW_LEVEL_RAID0, 2, 16, 1 }, { TW_LEVEL_RAID0, 12, 64, 1 },
	{ TW_LEVEL_RAID1, 2, 64, 1 }, { TW_LEVEL_RAID5, 3, 16, 1 }, { TW_LEVEL_RAID5, 12, 64, 1 },
	{ TW_LEVEL_RAID10, 4, 16, 1 }, { TW_LEVEL_RAID10, 8, 32, 1 },
};

static u8 *taken;
static u64 used;

static void take(const struct tw_array *array, u32 member, u64 lba, u8 with)
{
	u8 *place = &taken[member * array->drive_sectors + lba];

	assert_true(member < array->drives && lba < array->drive_sectors);
	/* Parity of several data sectors is the same sector; a data sector is nothing else. */
	if (*place && !(with == 2 && *place == 2))
		fail_msg("level %u, %u drives, stripe %u: sector %llu of member %u is taken twice", array->level,
			 array->drives, array->stripe, lba, member);
	used += !*place;
	*place = with;
}

/* Bijection: each sector of the unit, each copy and each row's parity has a place of its own, and no place is left. */
static void places_are_a_bijection(const struct tw_array_config *config)
{
	struct tw_array array;
	u64 lba;

	/* Three rows and a bit, so that every shape is walked to its end; rotation needs a row for each drive. */
	tw_array_create(&array, config, config->stripe_kib * 2ULL *
			(config->stripe_kib == 16 ? config->drives + 1 : 3) + 7);
	taken = calloc(array.drives, array.drive_sectors);
	used = 0;
	assert_true(array.sectors > 0);
	for (lba = 0; lba < array.sectors; lba++) {
		struct tw_extent extent = tw_array_map(&array, lba, 1);

		take(&array, extent.drive, extent.lba, 1);
		if (extent.mirror != extent.drive)
			take(&array, extent.mirror, extent.lba, 1);
		if (extent.parity != extent.drive)
			take(&array, extent.parity, extent.lba, 2);
	}
	if (used != array.drives * array.drive_sectors)
		fail_msg("level %u, %u drives, stripe %u: %llu places are left", array.level, array.drives, array.stripe,
			 array.drives * array.drive_sectors - used);
	free(taken);
}

TEST(every_level_and_stripe_is_a_bijection)
{
	static const struct { u32 level, least, step, most; } kinds[] = {
		{ TW_LEVEL_SINGLE, 1, 1, 1 }, { TW_LEVEL_RAID0, 2, 1, 32 }, { TW_LEVEL_RAID1, 2, 1, 2 },
		{ TW_LEVEL_RAID5, 3, 1, 32 }, { TW_LEVEL_RAID10, 4, 2, 32 },
	};
	struct tw_array_config config = { .units = 1 };
	size_t i;

	for (i = 0; i < RL_COUNT(kinds); i++)
		for (config.stripe_kib = 16; config.stripe_kib <= 256; config.stripe_kib *= 2)
			for (config.drives = kinds[i].least; config.drives <= kinds[i].most;
			     config.drives += config.stripe_kib == 16 ? kinds[i].step : 5 * kinds[i].step) {
				config.level = kinds[i].level;
				places_are_a_bijection(&config);
			}
}

TEST(extents_end_with_the_stripe_and_add_up)
{
	u64 seed = 3;
	size_t i;
	u32 n;

	for (i = 0; i < RL_COUNT(shapes); i++) {
		struct tw_array array;

		tw_array_create(&array, &shapes[i], 1 << 20);
		for (n = 0; n < 2000; n++) {
			u32 sectors = 1 + random_number(&seed) % 700;
			u64 lba = random_number(&seed) % (array.sectors - sectors);

			while (sectors) {
				struct tw_extent whole = tw_array_map(&array, lba, sectors);
				struct tw_extent last = tw_array_map(&array, lba + whole.sectors - 1, 1);

				assert_in_range(whole.sectors, 1, array.stripe);
				assert_true(whole.lba / array.stripe == (whole.lba + whole.sectors - 1) / array.stripe);
				assert_int_equal(last.drive, whole.drive);
				assert_int_equal(last.lba, whole.lba + whole.sectors - 1);
				lba += whole.sectors;
				sectors -= whole.sectors;
			}
		}
	}
}

TEST(raid0_is_round_robin)
{
	struct tw_array array;
	struct tw_extent extent;

	tw_array_create(&array, &shapes[2], 1 << 20);
	assert_int_equal(array.sectors, 12ULL << 20);
	extent = tw_array_map(&array, 128 * 13 + 5, 256);
	assert_int_equal(extent.drive, 1);
	assert_int_equal(extent.lba, 128 + 5);
	assert_int_equal(extent.sectors, 123);
}

TEST(raid5_parity_visits_every_member)
{
	struct tw_array array;
	u32 row, seen = 0;

	tw_array_create(&array, &shapes[5], 1 << 20);
	for (row = 0; row < 12; row++)
		seen |= 1U << tw_array_map(&array, row * 11ULL * 128, 1).parity;
	assert_int_equal(seen, 0xfff);
	assert_int_equal(array.sectors, 11ULL << 20);
}
