// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of a 3ware array, and rules that tie several of them together. */
#include "wire.h"

static const char *const tw_levels[] = {
	[TW_LEVEL_SINGLE] = "single", [TW_LEVEL_RAID0] = "raid0", [TW_LEVEL_RAID1] = "raid1",
	[TW_LEVEL_RAID5] = "raid5", [TW_LEVEL_RAID10] = "raid10", NULL,
};

const char *tw_level_name(u32 level)
{
	return level < RL_COUNT(tw_levels) - 1 ? tw_levels[level] : "unknown";
}

#define TW_NUMBER(...)	RL_NUMBER(struct tw_config, __VA_ARGS__)
#define TW_WIDE(...)	RL_WIDE(struct tw_config, __VA_ARGS__)
#define TW_TEXT(...)	RL_TEXT(struct tw_config, __VA_ARGS__)
#define TW_AT_COMMAND(name, kind) RL_AT_COMMAND(struct tw_config, name, fault.trigger[kind])
#define TW_AT_MS(name, kind)	RL_AT_MS(struct tw_config, name, fault.trigger[kind])
#define TW_AT_LBA(name, kind)	RL_AT_LBA(struct tw_config, name, fault.trigger[kind])

static const struct rl_key tw_key[] = {
	TW_TEXT("name", base.name, "unnamed"),
	TW_NUMBER("store_mib", base.store_mib, 4, 1 << 20, 64),
	TW_NUMBER("log_entries", base.log_entries, 1, 1 << 30, 2000000),
	TW_NUMBER("controller.count", base.count, 1, TW_MAX_CONTROLLERS, 1),
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
	RL_CHOICE(struct tw_config, "array.level", array.level, tw_levels, TW_LEVEL_RAID0),
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

#define TW_MAX_UNITS_9500S	16	/* as many targets does the driver scan, but for the 9650SE and later */

static bool tw_is_redundant(const struct tw_config *config)
{
	return config->array.level != TW_LEVEL_SINGLE && config->array.level != TW_LEVEL_RAID0;
}

static const char *tw_check_drives(const struct tw_config *config, const char **key)
{
	const struct tw_array_config *array = &config->array;

	*key = "array.drives";
	if (array->units * array->drives > TW_MAX_DRIVES)
		return "times array.units is more than 32";
	if (array->level == TW_LEVEL_SINGLE && array->drives != 1)
		return "must be 1 for level single";
	if (array->level == TW_LEVEL_RAID1 && array->drives != 2)
		return "must be 2 for raid1";
	if (array->level == TW_LEVEL_RAID5 && array->drives < 3)
		return "must be at least 3 for raid5";
	if (array->level == TW_LEVEL_RAID10 && (array->drives < 4 || array->drives % 2))
		return "must be even and at least 4 for raid10";
	if (array->level == TW_LEVEL_RAID0 && array->drives < 2)
		return "must be at least 2 for raid0";
	return NULL;
}

static const char *tw_check_array(const struct tw_config *config, const char **key)
{
	const struct tw_array_config *array = &config->array;
	const struct tw_background_config *background = &config->background;

	*key = "array.units";
	if (array->units > TW_MAX_UNITS_9500S && config->controller.device_id < 0x1004)
		return "is more than 16, which only controllers from 0x1004 on have";
	*key = "array.stripe_kib";
	if (array->stripe_kib & (array->stripe_kib - 1))
		return "must be a power of two";
	*key = "array.level";
	if ((background->initialize || background->verify) && !tw_is_redundant(config))
		return "has nothing to initialize or verify";
	*key = "array.verify";
	if (background->initialize && background->verify)
		return "comes after array.initialize, not with it";
	return NULL;
}

static const char *tw_check_drive(const struct tw_config *config, const char **key)
{
	const char *why = rl_drive_conflict(&config->drive, key);

	if (why)
		return why;
	*key = "drive.slow_member";
	if (config->drive.slow_member > config->array.units * config->array.drives)
		return "there are not so many drives";
	return NULL;
}

static bool tw_is_triggered(const struct tw_config *config, enum tw_fault_kind kind)
{
	const struct rl_trigger *trigger = &config->fault.trigger[kind];

	return trigger->command || trigger->ms || trigger->lba;
}

/* A fault with a place needs a time, and a fault with a time needs a place. */
static const char *tw_check_members(const struct tw_config *config, const char **key)
{
	const struct tw_fault_config *fault = &config->fault;
	u32 drives = config->array.units * config->array.drives;

	*key = "fault.slow_member";
	if (fault->slow_member > drives)
		return "there are not so many drives";
	if (!fault->slow_member != !tw_is_triggered(config, TW_FAULT_SLOW))
		return "goes with fault.slow_command, slow_ms or slow_lba";
	*key = "fault.remove_member";
	if (fault->remove_member > drives)
		return "there are not so many drives";
	if (!fault->remove_member != !tw_is_triggered(config, TW_FAULT_REMOVE))
		return "goes with fault.remove_command, remove_ms or remove_lba";
	*key = "fault.second_member";
	if (fault->second_member > drives)
		return "there are not so many drives";
	if (!fault->second_member != !tw_is_triggered(config, TW_FAULT_SECOND))
		return "goes with fault.second_command, second_ms or second_lba";
	if (fault->second_member && fault->second_member == fault->remove_member)
		return "is fault.remove_member, which is removed already";
	*key = "fault.replace_ms";
	if (fault->replace_ms && !(fault->remove_member && tw_is_redundant(config)))
		return "needs fault.remove_member and a level with redundancy";
	return NULL;
}

/* Sectors of a unit, as the array has them. */
static u64 tw_unit_sectors(const struct tw_config *config)
{
	const struct tw_array_config *array = &config->array;
	u64 sectors = config->drive.sectors - config->drive.sectors % (array->stripe_kib * 2);

	switch (array->level) {
	case TW_LEVEL_RAID0:
		return sectors * array->drives;
	case TW_LEVEL_RAID5:
		return sectors * (array->drives - 1);
	case TW_LEVEL_RAID10:
		return sectors * (array->drives / 2);
	}
	return sectors;
}

static const char *tw_check_faults(const struct tw_config *config, const char **key)
{
	*key = rl_keys_beyond(&tw_keys, &config->base, tw_unit_sectors(config));
	if (*key)
		return RL_BEYOND;
	*key = "fault.unit";
	if (config->fault.unit >= config->array.units)
		return "there are not so many units";
	*key = "fault.controller";
	if (config->fault.controller >= config->base.count)
		return "there are not so many controllers";
	return tw_check_members(config, key);
}

static const char *tw_conflict(const struct rl_config *base, const char **key)
{
	const struct tw_config *config = (const struct tw_config *)base;
	static const char *(*const checks[])(const struct tw_config *, const char **) = {
		tw_check_drives, tw_check_array, tw_check_drive, tw_check_faults,
	};
	const char *why = NULL;
	size_t i;

	for (i = 0; i < RL_COUNT(checks) && !why; i++)
		why = checks[i](config, key);
	return why;
}

/* Faults, and a drive that is slow from the start, belong to controller fault.controller. */
static void tw_select(struct rl_config *base, u32 number)
{
	struct tw_config *config = (struct tw_config *)base;

	if (number == config->fault.controller)
		return;
	rl_fill(&config->fault, 0, sizeof(config->fault));
	config->drive.slow_member = 0;
}

const struct rl_keys tw_keys = {
	.driver = "3w-9xxx",
	.key = tw_key,
	.nr = RL_COUNT(tw_key),
	.bytes = sizeof(struct tw_config),
	.conflict = tw_conflict,
	.select = tw_select,
};
