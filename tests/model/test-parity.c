// SPDX-License-Identifier: GPL-2.0-or-later
/* RAID 5: which drive operations write a row, whole, in part, and with a member missing. */
#include <stdlib.h>
#include <string.h>

#include "host.h"

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

/* Of the two ways that a sound row leaves, none with fewer operations was passed over. */
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
