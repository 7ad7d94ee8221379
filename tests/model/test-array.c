// SPDX-License-Identifier: GPL-2.0-or-later
/* The stripe map as properties: every sector has one place, and no two the same. */
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "suites.h"

static const struct tw_array_config shapes[] = {
	{ TW_LEVEL_SINGLE, 1, 64, 1 }, { TW_LEVEL_RAID0, 2, 16, 1 }, { TW_LEVEL_RAID0, 12, 64, 1 },
	{ TW_LEVEL_RAID1, 2, 64, 1 }, { TW_LEVEL_RAID5, 3, 16, 1 }, { TW_LEVEL_RAID5, 12, 64, 1 },
	{ TW_LEVEL_RAID10, 4, 16, 1 }, { TW_LEVEL_RAID10, 8, 32, 1 },
};

/* Small members, so that every sector of an array can be visited; not whole stripes. */
#define MEMBER_SECTORS 1000

static void every_sector_has_its_own_place(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < TW_COUNT(shapes); i++) {
		u8 *taken = calloc(shapes[i].drives, MEMBER_SECTORS);
		struct tw_array array;
		u64 lba, used = 0;
		u32 at;

		tw_array_create(&array, &shapes[i], MEMBER_SECTORS);
		assert_true(array.sectors > 0);
		for (lba = 0; lba < array.sectors; lba++) {
			struct tw_extent extent = tw_array_map(&array, lba, 1);
			u32 copies[2] = { extent.drive, extent.mirror }, copy;

			assert_int_equal(extent.sectors, 1);
			assert_true(extent.lba < array.drive_sectors);
			for (copy = 0; copy < 1 + (copies[0] != copies[1]); copy++) {
				assert_true(copies[copy] < array.drives);
				at = copies[copy] * MEMBER_SECTORS + (u32)extent.lba;
				assert_int_equal(taken[at], 0);
				taken[at] = 1;
				used++;
			}
		}
		/* What is left of each row is parity. */
		for (lba = 0; lba < array.sectors; lba++) {
			struct tw_extent extent = tw_array_map(&array, lba, 1);

			if (extent.parity == extent.drive)
				continue;
			at = extent.parity * MEMBER_SECTORS + (u32)extent.lba;
			assert_int_not_equal(taken[at], 1);
			used += !taken[at];
			taken[at] = 2;
		}
		assert_int_equal(used, array.drives * array.drive_sectors);
		free(taken);
	}
}

static void extents_end_with_the_stripe_and_add_up(void **state)
{
	u64 seed = 3;
	size_t i;
	u32 n;

	(void)state;
	for (i = 0; i < TW_COUNT(shapes); i++) {
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

static void raid0_is_round_robin(void **state)
{
	struct tw_array array;
	struct tw_extent extent;

	(void)state;
	tw_array_create(&array, &shapes[2], 1 << 20);
	assert_int_equal(array.sectors, 12ULL << 20);
	extent = tw_array_map(&array, 128 * 13 + 5, 256);
	assert_int_equal(extent.drive, 1);
	assert_int_equal(extent.lba, 128 + 5);
	assert_int_equal(extent.sectors, 123);
}

static void raid5_parity_visits_every_member(void **state)
{
	struct tw_array array;
	u32 row, seen = 0;

	(void)state;
	tw_array_create(&array, &shapes[5], 1 << 20);
	for (row = 0; row < 12; row++)
		seen |= 1U << tw_array_map(&array, row * 11ULL * 128, 1).parity;
	assert_int_equal(seen, 0xfff);
	assert_int_equal(array.sectors, 11ULL << 20);
}

int array_suite(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sector_has_its_own_place),
		cmocka_unit_test(extents_end_with_the_stripe_and_add_up),
		cmocka_unit_test(raid0_is_round_robin),
		cmocka_unit_test(raid5_parity_visits_every_member),
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
