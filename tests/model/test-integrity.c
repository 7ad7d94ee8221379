// SPDX-License-Identifier: GPL-2.0-or-later
/* Property: on every level, with every stripe, sound or degraded, what is read is what was written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

#define SPAN	8192U

/* @faults strike with the 60th of 200 random commands. */
static void survives(const char *level, u32 drives, u32 stripe, const char *more, u64 seed)
{
	char shape[300];
	u8 *truth = calloc(SPAN, RL_SECTOR_BYTES);
	struct host *host;
	u32 i;

	snprintf(shape, sizeof(shape), "store_mib=20,log_entries=999,drive.sectors=65536,array.level=%s,array.drives=%u,"
		 "array.stripe_kib=%u,", level, drives, stripe);
	host = probed(shape, more);
	for (i = 0; i < 200; i++)
		random_command(host, truth, &seed, SPAN);
	everything_reads_back(host, truth, SPAN);
	host_destroy(host);
	free(truth);
}

static const struct { const char *level; u32 drives; bool redundant; } shapes[] = {
	{ "single", 1, false }, { "raid0", 2, false }, { "raid0", 7, false }, { "raid1", 2, true }, { "raid5", 3, true },
	{ "raid5", 8, true }, { "raid10", 4, true }, { "raid10", 8, true },
};

static void every_level_and_stripe_keeps_data(void **state)
{
	static const char *const caches[] = { "controller.cache_mib=0", "controller.cache_mib=1",
					      /* Held member by member, as for a power cut that never comes. */
					      "controller.cache_mib=1,controller.battery=0,fault.power_command=999999" };
	u32 stripe;
	size_t i, j;

	(void)state;
	for (i = 0; i < RL_COUNT(shapes); i++)
		for (stripe = 16; stripe <= 256; stripe *= 2)
			for (j = 0; j < RL_COUNT(caches); j++)
				survives(shapes[i].level, shapes[i].drives, stripe, caches[j], i * 100 + stripe + j);
}

static void degraded_levels_keep_data(void **state)
{
	u32 stripe, member;
	size_t i;

	(void)state;
	for (i = 0; i < RL_COUNT(shapes); i++)
		for (stripe = 16; shapes[i].redundant && stripe <= 256; stripe *= 4)
			for (member = 1; member <= shapes[i].drives; member++) {
				char more[100];

				snprintf(more, sizeof(more), "fault.remove_member=%u,fault.remove_command=60", member);
				survives(shapes[i].level, shapes[i].drives, stripe, more, i * 100 + stripe + member);
			}
}

int integrity_suite(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_and_stripe_keeps_data),
		cmocka_unit_test(degraded_levels_keep_data),
	};

	return cmocka_run_group_tests_name("integrity", tests, NULL, NULL);
}
