// SPDX-License-Identifier: GPL-2.0-or-later
/* The configuration parser: the values that it accepts, and messages that name the refused key. */
#include <stdlib.h>
#include <string.h>

#include "ahci/ahci.h"
#include "host.h"
#include "virtio-blk/virtio.h"

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

/* The keys of each kind of device, a text that the parser refuses, and the beginning of its message. */
struct refusal {
	const char *text;
	const char *message;
};

static const struct refusal tw_refusals[] = {
	{ "array.drivs=4", "array.drivs: unknown key" },
	{ "array.drives", "array.drives: not key=value" },
	{ "array.drives=", "array.drives=: not a number" },
	{ "array.drives=4x", "array.drives=4x: not a number" },
	{ "array.drives=-1", "array.drives=-1: not a number" },
	{ "array.drives=0x", "array.drives=0x: not a number" },
	{ "array.drives=99999999999999999999", "array.drives=99999999999999999999: not a number" },
	{ "array.drives=33", "array.drives=33: out of range, allowed are 1 to 32" },
	{ "array.drives=4294967300", "array.drives=4294967300: out of range, allowed are 1 to 32" },
	{ "array.level=raid6", "array.level=raid6: not one of" },
	{ "array.level=raid", "array.level=raid: not one of single, raid0, raid1, raid5, raid10" },
	{ "array.level=raid1", "array.drives: must be 2" },
	{ "array.level=raid10,array.drives=5", "array.drives: must be even and at least 4 for raid10" },
	{ "array.level=raid5,array.drives=2", "array.drives: must be at least 3 for raid5" },
	{ "array.level=single", "array.drives: must be 1 for level single" },
	{ "array.drives=1", "array.drives: must be at least 2 for raid0" },
	{ "array.units=3", "array.drives: times array.units is more than 32" },
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
	{ "controller.count=0", "controller.count=0: out of range, allowed are 1 to 4" },
	{ "array.level=single,array.drives=1,array.units=17", "array.units: is more than 16" },
	{ "array.units=33", "array.units=33: out of range, allowed are 1 to 32" },
	{ "array.verify=1", "array.level: has nothing" },
	{ "array.level=raid5,array.verify=1,array.initialize=1", "array.verify: comes after" },
	{ "controller.revision=12345", "controller.revision=12345: text too long" },
	{ "drive.sectors=131073,array.drives=2,fault.medium_lba=262144", "fault.medium_lba: is beyond the last sector" },
	{ "drive.sectors=131072,array.level=raid5,array.drives=4,fault.lose_lba=393216", "fault.lose_lba: is beyond" },
	{ "drive.sectors=131072,array.level=raid10,array.drives=4,fault.lose_lba=262144", "fault.lose_lba: is beyond" },
	{ "drive.sectors=131072,array.level=raid1,array.drives=2,fault.lose_lba=131072", "fault.lose_lba: is beyond" },
	{ "store_mib=64,", ",: nothing after the last comma" },
	{ "store_mib=64,,log_entries=5", ",: nothing before it" },
	{ "=5", ": unknown key" },
};

static const struct refusal nv_refusals[] = {
	{ "array.level=raid5", "array.level: unknown key" },
	{ "limit.iops=0", "limit.iops=0: out of range, allowed are 1 to" },
	{ "limit.bytes_s=0", "limit.bytes_s=0: out of range, allowed are 1024 to" },
	{ "limit.burst_ios=4", "limit.burst_ios: goes with limit.iops" },
	{ "limit.burst_bytes=4", "limit.burst_bytes: goes with limit.bytes_s" },
	{ "count=17", "count=17: out of range, allowed are 1 to 16" },
	{ "count=0", "count=0: out of range, allowed are 1 to 16" },
	{ "nvme.queues=17", "nvme.queues=17: out of range, allowed are 1 to 16" },
	{ "nvme.lba_bytes=1024", "nvme.lba_bytes: must be 512 or 4096" },
	{ "nvme.lba_bytes=4096,drive.sectors=100001", "drive.sectors: must be a multiple of 8" },
	{ "nvme.max_transfer_kib=4", "nvme.max_transfer_kib: must be a power of two of at least 8" },
	{ "nvme.max_transfer_kib=96", "nvme.max_transfer_kib: must be a power of two" },
	{ "nvme.optimal_write_kib=32769", "nvme.optimal_write_kib: is more than 65536 blocks" },
	{ "nvme.lba_bytes=4096,nvme.optimal_write_kib=6", "nvme.optimal_write_kib: must be whole blocks" },
	{ "flash.channels=1025", "flash.channels=1025: out of range, allowed are 1 to 1024" },
	{ "flash.page_kib=24", "flash.page_kib: must be a power of two" },
	{ "cache.kib=17", "cache.kib: must be a multiple of flash.page_kib" },
	{ "cache.kib=1048592", "cache.kib: is more than 65536 pages" },
	{ "fault.drive=1", "fault.drive: there are not so many drives" },
	{ "fault.medium_sectors=0", "fault.medium_sectors=0: out of range, allowed are 1 to 1073741824" },
	{ "fault.medium_lba=33554432", "fault.medium_lba: is beyond the last sector of the disk" },
	{ "drive.sectors=65536,fault.slow_lba=65536", "fault.slow_lba: is beyond" },
	{ "queue.io_opt_kib=64,nvme.optimal_write_kib=32", "queue.io_opt_kib: is nvme.optimal_write_kib, which is set" },
	{ "queue.io_opt_kib=32769", "queue.io_opt_kib: is more than 65536 blocks" },
	{ "queue.rotational=2", "queue.rotational=2: out of range, allowed are 0 to 1" },
};

static const struct refusal ah_refusals[] = {
	{ "ata.media=glass", "ata.media=glass: not one of platters, flash" },
	{ "flash.read_ns=5", "flash.read_ns: goes with ata.media=flash" },
	{ "link.latency_ns=5", "link.latency_ns: goes with ata.media=flash" },
	{ "ata.media=flash,drive.rpm=5400", "drive.rpm: goes with ata.media=platters" },
	{ "ata.media=flash,flash.page_kib=12", "flash.page_kib: must be a power of two" },
	{ "ata.media=flash,ata.write_cache_kib=24", "ata.write_cache_kib: must be a multiple of flash.page_kib" },
	{ "ata.media=flash,flash.page_kib=4,ata.write_cache_kib=524288", "ata.write_cache_kib: is more than 65536 pages" },
	{ "queue.rotational=2", "queue.rotational=2: out of range" },
	{ "queue.io_opt_kib=64", "queue.io_opt_kib: an ATA disk cannot report it; nvme and virtio-blk can" },
	{ "drive.sectors=70000,fault.medium_lba=70000", "fault.medium_lba: is beyond the last sector of the disk" },
	{ "fault.gone_lba=1953525168", "fault.gone_lba: is beyond" },
};

static const struct refusal vb_refusals[] = {
	{ "queue.rotational=0", "queue.rotational: a virtio disk cannot report it" },
	{ "queue.size=12", "queue.size: must be a power of two" },
	{ "limit.iops=0", "limit.iops=0: out of range, allowed are 1 to" },
	{ "limit.burst_ios=4", "limit.burst_ios: goes with limit.iops" },
	{ "limit.burst_bytes=4", "limit.burst_bytes: goes with limit.bytes_s" },
	{ "drive.sectors=65536,fault.lose_lba=65536", "fault.lose_lba: is beyond the last sector of the disk" },
	{ "flash.channels=4", "flash.channels: unknown key" },
};

static void expect_refusals(const struct rl_keys *keys, const struct refusal *refusal, size_t count)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct rl_config *config = calloc(1, keys->bytes);
	size_t i;

	for (i = 0; i < count; i++, refusal++) {
		if (rl_keys_parse(keys, config, refusal->text, error))
			fail_msg("%s was accepted", refusal->text);
		if (strncmp(error, refusal->message, strlen(refusal->message)))
			fail_msg("%s: \"%s\", not \"%s\"", refusal->text, error, refusal->message);
	}
	free(config);
}

TEST(refuses_and_names_the_key)
{
	expect_refusals(&tw_keys, tw_refusals, RL_COUNT(tw_refusals));
	expect_refusals(&nv_keys, nv_refusals, RL_COUNT(nv_refusals));
	expect_refusals(&ah_keys, ah_refusals, RL_COUNT(ah_refusals));
	expect_refusals(&vb_keys, vb_refusals, RL_COUNT(vb_refusals));
}

/* At the bounds that the refusals are beyond. */
TEST(takes_the_bounds)
{
	char error[RL_CONFIG_ERROR_BYTES];
	struct ah_config sata;
	struct vb_config volume;
	struct nv_config drive;

	assert_true(rl_keys_parse(&ah_keys, &sata.base, "ata.media=flash,drive.rpm=7200,drive.command_us=9,"
				  "fault.medium_lba=1953525167", error));
	assert_true(rl_keys_parse(&vb_keys, &volume.base, "drive.sectors=65536,fault.lose_lba=65535,queue.rotational=1", error));
	assert_true(rl_keys_parse(&nv_keys, &drive.base, "", error));
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
