// SPDX-License-Identifier: GPL-2.0-or-later
/* The configuration parser: what it takes, and that it says which key it refused. */
#include <string.h>

#include "host.h"

TEST(takes_every_type)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;

	assert_true(rl_keys_parse(&tw_keys, &config.base, "name=some_profile,array.level=raid5,array.drives=7,"
				    "controller.device_id=0x1003,drive.sectors=68719476736", error));
	assert_string_equal(config.base.name, "some profile");
	assert_int_equal(config.array.level, TW_LEVEL_RAID5);
	assert_int_equal(config.array.drives, 7);
	assert_int_equal(config.controller.device_id, 0x1003);
	assert_true(config.drive.sectors == 68719476736ULL);
	assert_string_equal(error, "");
}

TEST(empty_is_the_presets)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;

	assert_true(rl_keys_parse(&tw_keys, &config.base, "", error));
	assert_int_equal(config.base.log_entries, 2000000);
	assert_int_equal(config.array.level, TW_LEVEL_RAID0);
	assert_string_equal(config.controller.vendor, "3ware");
}

TEST(refuses_and_names_the_key)
{
	static const struct { const char *text, *said; } bad[] = {
		{ "array.drivs=4", "array.drivs: unknown key" },
		{ "array.drives", "array.drives: not key=value" },
		{ "array.drives=", "not a number" },
		{ "array.drives=4x", "array.drives=4x: not a number" },
		{ "array.drives=-1", "not a number" },
		{ "array.drives=0x", "not a number" },
		{ "array.drives=99999999999999999999", "not a number" },
		{ "array.drives=33", "array.drives=33: out of range, allowed are 1 to 32" },
		{ "array.drives=4294967300", "out of range" },
		{ "array.level=raid6", "array.level=raid6: not one of" },
		{ "array.level=raid", "not one of" },
		{ "array.level=raid1", "array.drives: must be 2" },
		{ "array.level=raid10,array.drives=5", "must be even" },
		{ "array.level=raid5,array.drives=2", "at least 3" },
		{ "array.level=single", "must be 1" },
		{ "array.drives=1", "at least 2" },
		{ "array.units=3", "more than 32" },
		{ "array.stripe_kib=48", "array.stripe_kib: must be a power of two" },
		{ "drive.seek_track_us=5000", "drive.seek_average_us: must lie between" },
		{ "drive.media_inner_kib_s=90000", "drive.media_inner_kib_s: is more than" },
		{ "drive.slow_member=13", "drive.slow_member: there are not so many" },
		{ "fault.slow_member=13,fault.slow_ms=4", "fault.slow_member: there are not so many" },
		{ "fault.slow_member=3", "fault.slow_member: goes with" },
		{ "fault.remove_ms=3", "fault.remove_member: goes with" },
		{ "fault.remove_ms=3,fault.remove_member=13", "fault.remove_member: there are not" },
		{ "fault.remove_ms=3,fault.remove_member=1,fault.replace_ms=9", "fault.replace_ms: needs" },
		{ "fault.second_ms=3", "fault.second_member: goes with" },
		{ "fault.second_member=13,fault.second_ms=4", "fault.second_member: there are not" },
		{ "fault.second_ms=3,fault.second_member=1,fault.remove_ms=3,fault.remove_member=1",
		  "fault.second_member: is fault.remove_member" },
		{ "fault.unit=1", "fault.unit: there are not" },
		{ "fault.controller=1", "fault.controller: there are not" },
		{ "controller.count=5", "controller.count=5: out of range, allowed are 1 to 4" },
		{ "controller.count=0", "out of range" },
		{ "array.level=single,array.drives=1,array.units=17", "array.units: is more than 16" },
		{ "array.units=33", "array.units=33: out of range, allowed are 1 to 32" },
		{ "array.verify=1", "array.level: has nothing" },
		{ "array.level=raid5,array.verify=1,array.initialize=1", "array.verify: comes after" },
		{ "controller.revision=12345", "controller.revision=12345: text too long" },
		{ "drive.sectors=131073,array.drives=2,fault.medium_lba=262144", "fault.medium_lba: is beyond the last sector" },
		{ "drive.sectors=131072,array.level=raid5,array.drives=4,fault.lose_lba=393216", "fault.lose_lba: is beyond" },
		{ "drive.sectors=131072,array.level=raid10,array.drives=4,fault.lose_lba=262144", "fault.lose_lba: is beyond" },
		{ "drive.sectors=131072,array.level=raid1,array.drives=2,fault.lose_lba=131072", "fault.lose_lba: is beyond" },
		{ "store_mib=64,", "nothing after the last comma" },
		{ "store_mib=64,,log_entries=5", ",: nothing before it" },
		{ "=5", ": unknown key" },
	};
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;
	size_t i;

	for (i = 0; i < RL_COUNT(bad); i++) {
		if (rl_keys_parse(&tw_keys, &config.base, bad[i].text, error))
			fail_msg("%s was accepted", bad[i].text);
		if (!strstr(error, bad[i].said))
			fail_msg("%s: said \"%s\", not \"%s\"", bad[i].text, error, bad[i].said);
	}
}

TEST(a_long_pair_does_not_overrun_the_message)
{
	char text[1000], error[RL_CONFIG_ERROR_BYTES + 1];
	struct tw_config config;

	memset(text, 'k', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error[RL_CONFIG_ERROR_BYTES] = 0x7e;
	assert_false(rl_keys_parse(&tw_keys, &config.base, text, error));
	assert_true(strlen(error) < RL_CONFIG_ERROR_BYTES);
	assert_int_equal(error[RL_CONFIG_ERROR_BYTES], 0x7e);
}

TEST(faults_belong_to_one_controller)
{
	static const char text[] = "controller.count=3,fault.controller=1,fault.lose_command=7,drive.slow_member=2,"
				   "array.level=raid1,array.drives=2,array.verify=1";
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;
	u32 i;

	for (i = 0; i < 3; i++) {
		assert_true(rl_keys_parse(&tw_keys, &config.base, text, error));
		rl_keys_select(&tw_keys, &config.base, i);
		assert_int_equal(config.base.number, i);
		assert_int_equal(config.fault.trigger[TW_FAULT_LOSE].command, i == 1 ? 7 : 0);
		assert_int_equal(config.drive.slow_member, i == 1 ? 2 : 0);
		assert_int_equal(config.background.verify, 1);
	}
}

TEST(thirty_two_units_on_later_controllers)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct tw_config config;

	assert_true(rl_keys_parse(&tw_keys, &config.base, "array.level=single,array.drives=1,array.units=16", error));
	assert_true(rl_keys_parse(&tw_keys, &config.base, "controller.device_id=0x1004,array.level=single,array.drives=1,"
				    "array.units=32", error));
	assert_int_equal(config.array.units, 32);
}
