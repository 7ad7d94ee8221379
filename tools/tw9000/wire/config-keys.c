// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of keys. */
#include "config.h"

#define TW_AT(member)		offsetof(struct tw_config, member)
#define TW_NUMBER(key, member, low, high, preset) \
	{ key, TW_AT(member), TW_KEY_U32, low, high, preset, NULL }
#define TW_TEXT(key, member, preset) \
	{ key, TW_AT(member), TW_KEY_TEXT, 0, sizeof(((struct tw_config *)0)->member), 0, preset }

#define TW_WIDE(key, member, low, high, preset) \
	{ key, TW_AT(member), TW_KEY_U64, low, high, preset, NULL }
#define TW_AT_COMMAND(name, kind) \
	TW_NUMBER("fault." name "_command", fault.trigger[kind].command, 0, 0xffffffffU, 0)
#define TW_AT_MS(name, kind) \
	TW_NUMBER("fault." name "_ms", fault.trigger[kind].ms, 0, 0xffffffffU, 0)
#define TW_AT_LBA(name, kind) \
	TW_WIDE("fault." name "_lba", fault.trigger[kind].lba, 0, 1ULL << 40, 0)

const struct tw_key tw_keys[] = {
	TW_TEXT("name", name, "unnamed"),
	TW_NUMBER("store_mib", store_mib, 4, 1 << 20, 64),
	TW_NUMBER("log_entries", log_entries, 1, 1 << 30, 2000000),
	TW_NUMBER("controller.count", controller.count, 1, TW_MAX_CONTROLLERS, 1),
	TW_NUMBER("controller.device_id", controller.device_id, 0x1002, 0x1005, 0x1002),
	TW_NUMBER("controller.ports", controller.ports, 1, 255, 12),
	TW_NUMBER("controller.srl", controller.srl, 24, 35, 24),
	TW_NUMBER("controller.write_cache_reported", controller.write_cache_reported, 0, 1, 0),
	TW_NUMBER("controller.command_us", controller.command_us, 0, 1000000, 20),
	TW_NUMBER("controller.latency_us", controller.latency_us, 0, 1000000, 1000),
	TW_NUMBER("controller.part_us", controller.part_us, 0, 1000000, 0),
	TW_NUMBER("controller.read_kib_s", controller.read_kib_s, 1024, 100000000, 500000),
	TW_NUMBER("controller.write_kib_s", controller.write_kib_s, 1024, 100000000, 250000),
	TW_NUMBER("controller.parity_kib_s", controller.parity_kib_s, 1024, 100000000, 400000),
	TW_NUMBER("controller.gather_ms", controller.gather_ms, 0, 60000, 100),
	TW_NUMBER("controller.gather_rows", controller.gather_rows, 1, TW_ROWS, TW_ROWS),
	TW_NUMBER("controller.gather_reads", controller.gather_reads, 0, 1, 0),
	TW_NUMBER("controller.parity_waits", controller.parity_waits, 0, TW_WAITS_FOR_ROW, 0),
	TW_NUMBER("controller.cache_mib", controller.cache_mib, 0, 4096, 64),
	TW_NUMBER("controller.battery", controller.battery, 0, 1, 1),
	TW_TEXT("controller.firmware", controller.firmware, "FE9X 0.00.00.000"),
	TW_TEXT("controller.bios", controller.bios, "BE9X 0.00.00.000"),
	TW_TEXT("controller.vendor", controller.vendor, "3ware"),
	TW_TEXT("controller.product", controller.product, "Logical Disk"),
	TW_TEXT("controller.revision", controller.revision, "1.00"),
	{ "array.level", TW_AT(array.level), TW_KEY_LEVEL, 0, 0, TW_LEVEL_RAID0, NULL },
	TW_NUMBER("array.drives", array.drives, 1, TW_MAX_DRIVES, 12),
	TW_NUMBER("array.stripe_kib", array.stripe_kib, 4, 1024, 64),
	TW_NUMBER("array.units", array.units, 1, TW_MAX_UNITS, 1),
	TW_NUMBER("array.initialize", background.initialize, 0, 1, 0),
	TW_NUMBER("array.verify", background.verify, 0, 1, 0),
	TW_NUMBER("array.background_kib", background.kib, 4, 65536, 256),
	TW_NUMBER("array.background_pause_us", background.pause_us, 0, 10000000, 10000),
	TW_WIDE("drive.sectors", drive.sectors, 1 << 16, 1ULL << 36, 145226112),
	TW_NUMBER("drive.rpm", drive.rpm, 1000, 30000, 10000),
	TW_NUMBER("drive.seek_track_us", drive.seek_track_us, 0, 50000, 600),
	TW_NUMBER("drive.seek_average_us", drive.seek_average_us, 0, 100000, 4500),
	TW_NUMBER("drive.seek_full_us", drive.seek_full_us, 0, 200000, 10200),
	TW_NUMBER("drive.write_settle_us", drive.write_settle_us, 0, 50000, 1400),
	TW_NUMBER("drive.media_outer_kib_s", drive.media_outer_kib_s, 1024, 10000000, 70312),
	TW_NUMBER("drive.media_inner_kib_s", drive.media_inner_kib_s, 1024, 10000000, 52734),
	TW_NUMBER("drive.interface_kib_s", drive.interface_kib_s, 1024, 10000000, 146484),
	TW_NUMBER("drive.command_us", drive.command_us, 0, 100000, 100),
	TW_NUMBER("drive.cache_kib", drive.cache_kib, 64, 1 << 20, 8192),
	TW_NUMBER("drive.segments", drive.segments, 1, 16, 16),
	TW_NUMBER("drive.read_ahead", drive.read_ahead, 0, 1, 1),
	TW_NUMBER("drive.slow_member", drive.slow_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("drive.slow_factor", drive.slow_factor, 1, 1000, 10),
	TW_NUMBER("fault.controller", fault.controller, 0, TW_MAX_CONTROLLERS - 1, 0),
	TW_NUMBER("fault.unit", fault.unit, 0, TW_MAX_UNITS - 1, 0),
	TW_AT_COMMAND("lose", TW_FAULT_LOSE),
	TW_AT_MS("lose", TW_FAULT_LOSE),
	TW_AT_LBA("lose", TW_FAULT_LOSE),
	TW_AT_COMMAND("medium", TW_FAULT_MEDIUM),
	TW_AT_MS("medium", TW_FAULT_MEDIUM),
	TW_WIDE("fault.medium_lba", fault.medium_lba, 0, 1ULL << 40, 0),
	TW_NUMBER("fault.medium_sectors", fault.medium_sectors, 1, 1 << 30, 1),
	TW_AT_COMMAND("slow", TW_FAULT_SLOW),
	TW_AT_MS("slow", TW_FAULT_SLOW),
	TW_AT_LBA("slow", TW_FAULT_SLOW),
	TW_NUMBER("fault.slow_member", fault.slow_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("fault.slow_factor", fault.slow_factor, 1, 1000, 10),
	TW_AT_COMMAND("remove", TW_FAULT_REMOVE),
	TW_AT_MS("remove", TW_FAULT_REMOVE),
	TW_AT_LBA("remove", TW_FAULT_REMOVE),
	TW_NUMBER("fault.remove_member", fault.remove_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("fault.replace_ms", fault.replace_ms, 0, 0xffffffffU, 0),
	TW_AT_COMMAND("second", TW_FAULT_SECOND),
	TW_AT_MS("second", TW_FAULT_SECOND),
	TW_AT_LBA("second", TW_FAULT_SECOND),
	TW_NUMBER("fault.second_member", fault.second_member, 0, TW_MAX_DRIVES, 0),
	TW_AT_COMMAND("reset", TW_FAULT_RESET),
	TW_AT_MS("reset", TW_FAULT_RESET),
	TW_AT_LBA("reset", TW_FAULT_RESET),
	TW_AT_COMMAND("full", TW_FAULT_FULL),
	TW_AT_MS("full", TW_FAULT_FULL),
	TW_AT_LBA("full", TW_FAULT_FULL),
	TW_NUMBER("fault.full_for_ms", fault.full_for_ms, 1, 1000000, 100),
	TW_AT_COMMAND("gone", TW_FAULT_GONE),
	TW_AT_MS("gone", TW_FAULT_GONE),
	TW_AT_LBA("gone", TW_FAULT_GONE),
	TW_AT_COMMAND("power", TW_FAULT_POWER),
	TW_AT_MS("power", TW_FAULT_POWER),
	TW_AT_LBA("power", TW_FAULT_POWER),
};

const u32 tw_nr_keys = TW_COUNT(tw_keys);
