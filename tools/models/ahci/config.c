// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of a SATA disk behind an AHCI controller, and rules that tie several of them together. */
#include "ahci.h"

#define AH_MAX_COUNT	8
#define AH_MAX_FLASH_NS	100000000U

#define AH_NUMBER(...)	RL_NUMBER(struct ah_config, __VA_ARGS__)
#define AH_WIDE(...)	RL_WIDE(struct ah_config, __VA_ARGS__)
#define AH_AT_COMMAND(name, kind) \
	RL_AT_COMMAND(struct ah_config, name, fault.trigger[kind])
#define AH_AT_MS(name, kind) \
	RL_AT_MS(struct ah_config, name, fault.trigger[kind])
#define AH_AT_LBA(name, kind) \
	RL_AT_LBA(struct ah_config, name, fault.trigger[kind])

static const char *const ah_media[] = { [AH_PLATTERS] = "platters", [AH_FLASH] = "flash", NULL };

static const struct rl_key ah_key[] = {
	RL_TEXT(struct ah_config, "name", base.name, "unnamed"),
	AH_NUMBER("store_mib", base.store_mib, 4, 1 << 20, 64),
	AH_NUMBER("log_entries", base.log_entries, 1, 1 << 30, 1000000),
	AH_NUMBER("count", base.count, 1, AH_MAX_COUNT, 1),
	RL_TEXT(struct ah_config, "ata.model", model, "raidtrace simulated SATA disk"),
	RL_CHOICE(struct ah_config, "ata.media", media, ah_media, AH_PLATTERS),
	AH_NUMBER("ata.queue_depth", queue_depth, 1, AH_SLOTS, AH_SLOTS),
	AH_NUMBER("ata.physical_bytes", physical_bytes, 512, 4096, 4096),
	AH_NUMBER("ata.write_cache_kib", write_cache_kib, 0, 1 << 20, 16384),
	AH_WIDE("drive.sectors", drive.sectors, 1 << 16, 1ULL << 36, 1953525168),
	AH_NUMBER("drive.rpm", drive.rpm, 1000, 30000, 7200),
	AH_NUMBER("drive.seek_track_us", drive.seek_track_us, 0, 50000, 1000),
	AH_NUMBER("drive.seek_average_us", drive.seek_average_us, 0, 100000, 8500),
	AH_NUMBER("drive.seek_full_us", drive.seek_full_us, 0, 200000, 18000),
	AH_NUMBER("drive.write_settle_us", drive.write_settle_us, 0, 50000, 1000),
	AH_NUMBER("drive.media_outer_kib_s", drive.media_outer_kib_s, 1024, 10000000, 195312),
	AH_NUMBER("drive.media_inner_kib_s", drive.media_inner_kib_s, 1024, 10000000, 92773),
	AH_NUMBER("drive.interface_kib_s", drive.interface_kib_s, 1024, 10000000, 537109),
	AH_NUMBER("drive.command_us", drive.command_us, 0, 100000, 50),
	AH_NUMBER("drive.cache_kib", drive.cache_kib, 64, 1 << 20, 65536),
	AH_NUMBER("drive.segments", drive.segments, 1, RL_MAX_SEGMENTS, RL_MAX_SEGMENTS),
	AH_NUMBER("drive.read_ahead", drive.read_ahead, 0, 1, 1),
	AH_NUMBER("flash.channels", flash.channels, 1, RL_MAX_CHANNELS, 32),
	AH_NUMBER("flash.page_kib", flash.page_kib, 4, 65536, 16),
	AH_NUMBER("flash.read_ns", flash.read_ns, 0, AH_MAX_FLASH_NS, 60000),
	AH_NUMBER("flash.program_ns", flash.program_ns, 0, AH_MAX_FLASH_NS, 400000),
	AH_NUMBER("link.latency_ns", latency_ns, 0, 1000000000, 5000),
	AH_NUMBER("queue.io_opt_kib", io_opt_kib, 0, 1 << 20, 0),
	AH_NUMBER("queue.rotational", rotational, 0, 1, 1),
	AH_AT_COMMAND("lose", AH_FAULT_LOSE),
	AH_AT_MS("lose", AH_FAULT_LOSE),
	AH_AT_LBA("lose", AH_FAULT_LOSE),
	AH_AT_COMMAND("medium", AH_FAULT_MEDIUM),
	AH_AT_MS("medium", AH_FAULT_MEDIUM),
	AH_WIDE("fault.medium_lba", fault.medium_lba, 0, 1ULL << 40, 0),
	AH_NUMBER("fault.medium_sectors", fault.medium_sectors, 1, 1 << 30, 1),
	AH_AT_COMMAND("slow", AH_FAULT_SLOW),
	AH_AT_MS("slow", AH_FAULT_SLOW),
	AH_AT_LBA("slow", AH_FAULT_SLOW),
	AH_NUMBER("fault.slow_factor", fault.slow_factor, 1, 1000, 10),
	AH_AT_COMMAND("reset", AH_FAULT_RESET),
	AH_AT_MS("reset", AH_FAULT_RESET),
	AH_AT_LBA("reset", AH_FAULT_RESET),
	AH_AT_COMMAND("gone", AH_FAULT_GONE),
	AH_AT_MS("gone", AH_FAULT_GONE),
	AH_AT_LBA("gone", AH_FAULT_GONE),
};

/* Keys that only platters have, and those that only flash has. */
static const char *const ah_of_platters[] = {
	"drive.rpm", "drive.seek_track_us", "drive.seek_average_us", "drive.seek_full_us",
	"drive.write_settle_us", "drive.media_outer_kib_s", "drive.media_inner_kib_s", "drive.cache_kib",
	"drive.segments", "drive.read_ahead", NULL
};

static const char *const ah_of_flash[] = {
	"flash.channels", "flash.page_kib", "flash.read_ns", "flash.program_ns", "link.latency_ns", NULL
};

static const char *ah_check_flash(const struct ah_config *config, const char **key)
{
	struct rl_flash_config flash = config->flash;

	*key = "ata.write_cache_kib";
	flash.cache_kib = config->write_cache_kib;
	return config->media == AH_FLASH ? rl_flash_conflict(&flash, key) : NULL;
}

static const char *ah_check_media(const struct ah_config *config, const char **key)
{
	bool flash = config->media == AH_FLASH;

	*key = rl_keys_changed(&ah_keys, &config->base, flash ? ah_of_platters : ah_of_flash);
	if (*key)
		return flash ? "goes with ata.media=platters" : "goes with ata.media=flash";
	return ah_check_flash(config, key);
}

static const char *ah_conflict(const struct rl_config *base, const char **key)
{
	const struct ah_config *config = (const struct ah_config *)base;
	const char *why = rl_drive_conflict(&config->drive, key);

	if (why)
		return why;
	*key = "ata.physical_bytes";
	if (config->physical_bytes != 512 && config->physical_bytes != 4096)
		return "must be 512 or 4096";
	*key = "queue.io_opt_kib";
	if (config->io_opt_kib)
		return "an ATA disk cannot report it; nvme and virtio-blk can";
	*key = rl_keys_beyond(&ah_keys, base, config->drive.sectors);
	return *key ? RL_BEYOND : ah_check_media(config, key);
}

/* Faults belong to the first disk. */
static void ah_select(struct rl_config *base, u32 number)
{
	struct ah_config *config = (struct ah_config *)base;

	if (number)
		rl_fill(&config->fault, 0, sizeof(config->fault));
}

const struct rl_keys ah_keys = {
	.driver = "ahci",
	.key = ah_key,
	.nr = RL_COUNT(ah_key),
	.bytes = sizeof(struct ah_config),
	.conflict = ah_conflict,
	.select = ah_select,
};
