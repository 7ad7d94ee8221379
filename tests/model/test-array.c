// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stripe map: every sector has one place, and no two the same. RAID 5: which drive operations write a row, whole, in
 * part, and with a member missing.
 */
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
	u32 row, members = 0;

	tw_array_create(&array, &shapes[5], 1 << 20);
	for (row = 0; row < 12; row++)
		members |= 1U << tw_array_map(&array, row * 11ULL * 128, 1).parity;
	assert_int_equal(members, 0xfff);
	assert_int_equal(array.sectors, 11ULL << 20);
}

static const struct tw_array_config shape = { TW_LEVEL_RAID5, 5, 64, 1 };

/* Row 0: parity on member 4, data columns on 0, 1, 2, 3. */
static const struct {
	const char *what;
	struct tw_span dirty[4];
	u32 missing;
	enum tw_parity_method method;
	u32 reads, writes, xor_sectors;
} cases[] = {
	{ "whole row", { { 0, 128 }, { 0, 128 }, { 0, 128 }, { 0, 128 } }, TW_NO_MEMBER, TW_FULL_ROW, 0, 5, 512 },
	{ "the same part of all", { { 8, 16 }, { 8, 16 }, { 8, 16 }, { 8, 16 } }, TW_NO_MEMBER, TW_FULL_ROW, 0, 5, 32 },
	{ "one place", { { 8, 16 } }, TW_NO_MEMBER, TW_READ_MODIFY, 2, 2, 24 },
	{ "one stripe", { { 0, 128 } }, TW_NO_MEMBER, TW_READ_MODIFY, 2, 2, 384 },
	{ "two stripes: reconstruct reads 2, modify 3", { { 0, 128 }, { 0, 128 } }, TW_NO_MEMBER, TW_RECONSTRUCT, 2, 3, 512 },
	{ "three stripes", { { 0, 128 }, { 0, 128 }, { 0, 128 } }, TW_NO_MEMBER, TW_RECONSTRUCT, 1, 4, 512 },
	{ "end and start: hull is the stripe", { { 120, 128 }, { 0, 8 } }, TW_NO_MEMBER, TW_READ_MODIFY, 3, 3, 640 },
	{ "parity missing", { { 8, 16 } }, 4, TW_NO_PARITY, 0, 1, 0 },
	{ "another missing: not to be read", { { 0, 128 }, { 0, 128 }, { 0, 128 } }, 3, TW_READ_MODIFY, 4, 4, 896 },
	{ "what is written is missing", { { 8, 16 } }, 0, TW_RECONSTRUCT, 3, 1, 32 },
	{ "a part of it is in the cache", { { 8, 16 }, { 0, 128 } }, 0, TW_READ_ALL, 4, 2, 512 },
	{ "whole row, one missing", { { 0, 128 }, { 0, 128 }, { 0, 128 }, { 0, 128 } }, 2, TW_FULL_ROW, 0, 4, 512 },
};

TEST(the_cheapest_way_is_chosen)
{
	struct tw_array array;
	size_t i;
	u32 j;

	tw_array_create(&array, &shape, 1 << 20);
	for (i = 0; i < RL_COUNT(cases); i++) {
		struct tw_row row = { 0 };
		struct tw_plan plan;
		u32 reads = 0, writes = 0;

		for (j = 0; j < 4; j++)
			if (cases[i].dirty[j].end)
				assert_true(tw_row_add(&row, j, cases[i].dirty[j].from, cases[i].dirty[j].end));
		tw_parity_plan(&array, &row, cases[i].missing, &plan);
		for (j = 0; j < TW_MAX_DRIVES; j++) {
			reads += plan.read[j].from < plan.read[j].end;
			writes += plan.write[j].from < plan.write[j].end;
		}
		if (plan.method != cases[i].method || reads != cases[i].reads || writes != cases[i].writes ||
		    plan.xor_sectors != cases[i].xor_sectors || plan.operations != reads + writes)
			fail_msg("%s: method %u, %u reads, %u writes, %u sectors", cases[i].what, plan.method, reads, writes,
				 plan.xor_sectors);
		if (cases[i].missing != TW_NO_MEMBER) {
			assert_int_equal(plan.read[cases[i].missing].end, 0);
			assert_int_equal(plan.write[cases[i].missing].end, 0);
		}
	}
}

/* For a sound row, the model chooses the method with fewer operations. */
TEST(no_other_way_is_cheaper)
{
	struct tw_array array;
	u64 seed = 17;
	u32 round, i;

	tw_array_create(&array, &shape, 1 << 20);
	for (round = 0; round < 2000; round++) {
		u32 dirty = 0, partial = 0, low = 128, high = 0, modify, reconstruct;
		struct tw_row row = { .row = random_number(&seed) % 1000 };
		struct tw_plan plan;

		for (i = 0; i < 4; i++) {
			u32 from = random_number(&seed) % 16 * 8, end = from + 8 + random_number(&seed) % 16 * 8;

			if (i && random_number(&seed) % 2)
				continue;
			end = end > 128 ? 128 : end;
			tw_row_add(&row, i, from, end);
			low = from < low ? from : low;
			high = end > high ? end : high;
		}
		for (i = 0; i < 4; i++) {
			dirty += row.from[i] < row.end[i];
			partial += row.from[i] > low || row.end[i] < high;
		}
		modify = 2 * (dirty + 1);
		reconstruct = partial + dirty + 1;
		tw_parity_plan(&array, &row, TW_NO_MEMBER, &plan);
		assert_int_equal(plan.operations, modify < reconstruct ? modify : reconstruct);
	}
}

TEST(a_row_takes_in_what_touches_it)
{
	struct tw_array array;
	struct tw_row row = { 0 };

	tw_array_create(&array, &shape, 1 << 20);
	assert_true(tw_row_add(&row, 1, 16, 24));
	assert_false(tw_row_add(&row, 1, 0, 8));
	assert_int_equal(row.charged, 8);
	assert_true(tw_row_add(&row, 1, 8, 16));
	assert_true(tw_row_add(&row, 1, 20, 32));
	assert_int_equal(row.from[1], 8);
	assert_int_equal(row.end[1], 32);
	assert_int_equal(row.charged, 24);
	assert_true(tw_row_add(&row, 3, 100, 128));
	assert_int_equal(row.charged, 52);
	assert_false(tw_row_is_full(&array, &row));
}
