// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of an NVMe drive, and rules that tie several of them together. */
#include "model.h"
#include "media/media.h"

#define NV_NUMBER(...)	RL_NUMBER(struct nv_config, __VA_ARGS__)
#define NV_WIDE(...)	RL_WIDE(struct nv_config, __VA_ARGS__)
#define NV_TEXT(...)	RL_TEXT(struct nv_config, __VA_ARGS__)
#define NV_AT_COMMAND(name, kind) RL_AT_COMMAND(struct nv_config, name, fault.trigger[kind])
#define NV_AT_MS(name, kind)	RL_AT_MS(struct nv_config, name, fault.trigger[kind])
#define NV_AT_LBA(name, kind)	RL_AT_LBA(struct nv_config, name, fault.trigger[kind])

#define NV_MAX_FLASH_NS		100000000U
#define NV_MAX_BLOCKS		65536U	/* in a field that holds their number less one */

/* A limit that is not set is 0, which nobody can set: a limit of nothing is a mistake. */
static const struct rl_key nv_key[] = {
	NV_TEXT("name", base.name, "unnamed"),
	NV_NUMBER("count", base.count, 1, NV_MAX_DRIVES, 1),
	NV_NUMBER("store_mib", base.store_mib, 4, 1 << 20, 64),
	NV_NUMBER("log_entries", base.log_entries, 1, 1 << 30, 2000000),
	NV_WIDE("drive.sectors", sectors, 1 << 16, 1ULL << 36, 33554432),
	NV_TEXT("nvme.model", controller.model, "simulated NVMe drive"),
	NV_TEXT("nvme.serial", controller.serial, ""),
	NV_NUMBER("nvme.queues", controller.queues, 1, NV_MAX_QUEUES, NV_MAX_QUEUES),
	NV_NUMBER("nvme.lba_bytes", controller.lba_bytes, 512, 4096, 512),
	NV_NUMBER("nvme.max_transfer_kib", controller.max_transfer_kib, 0, 1 << 18, 512),
	NV_NUMBER("nvme.optimal_write_kib", controller.optimal_write_kib, 0, 1 << 18, 0),
	NV_NUMBER("nvme.write_cache", controller.write_cache, 0, 1, 1),
	NV_NUMBER("nvme.command_ns", controller.command_ns, 0, 1000000000, 1000),
	NV_NUMBER("queue.io_opt_kib", io_opt_kib, 0, 1 << 18, 0),
	NV_NUMBER("queue.rotational", rotational, 0, 1, 0),
	NV_NUMBER("flash.channels", flash.channels, 1, RL_MAX_CHANNELS, 32),
	NV_NUMBER("flash.page_kib", flash.page_kib, 4, 65536, 16),
	NV_NUMBER("flash.read_ns", flash.read_ns, 0, NV_MAX_FLASH_NS, 60000),
	NV_NUMBER("flash.program_ns", flash.program_ns, 0, NV_MAX_FLASH_NS, 400000),
	NV_NUMBER("cache.kib", flash.cache_kib, 0, 1 << 30, 65536),
	NV_NUMBER("link.latency_ns", link.latency_ns, 0, 1000000000, 5000),
	NV_WIDE("link.bytes_s", link.bytes_s, 1 << 20, RL_MAX_RATE, 3500000000ULL),
	NV_WIDE("limit.iops", limit.iops, 1, RL_MAX_RATE, 0),
	NV_WIDE("limit.bytes_s", limit.bytes_s, 1024, RL_MAX_RATE, 0),
	NV_WIDE("limit.burst_ios", limit.burst_ios, 0, RL_MAX_BURST, 0),
	NV_WIDE("limit.burst_bytes", limit.burst_bytes, 0, RL_MAX_BURST, 0),
	NV_NUMBER("fault.drive", fault.drive, 0, NV_MAX_DRIVES - 1, 0),
	NV_AT_COMMAND("lose", NV_FAULT_LOSE),
	NV_AT_MS("lose", NV_FAULT_LOSE),
	NV_AT_LBA("lose", NV_FAULT_LOSE),
	NV_AT_COMMAND("medium", NV_FAULT_MEDIUM),
	NV_AT_MS("medium", NV_FAULT_MEDIUM),
	NV_WIDE("fault.medium_lba", fault.medium_lba, 0, 1ULL << 40, 0),
	NV_NUMBER("fault.medium_sectors", fault.medium_sectors, 1, 1 << 30, 1),
	NV_AT_COMMAND("slow", NV_FAULT_SLOW),
	NV_AT_MS("slow", NV_FAULT_SLOW),
	NV_AT_LBA("slow", NV_FAULT_SLOW),
	NV_NUMBER("fault.slow_factor", fault.slow_factor, 1, 1000, 10),
	NV_AT_COMMAND("reset", NV_FAULT_RESET),
	NV_AT_MS("reset", NV_FAULT_RESET),
	NV_AT_LBA("reset", NV_FAULT_RESET),
	NV_AT_COMMAND("gone", NV_FAULT_GONE),
	NV_AT_MS("gone", NV_FAULT_GONE),
	NV_AT_LBA("gone", NV_FAULT_GONE),
};

static const char *nv_check_controller(const struct nv_config *config, const char **key)
{
	const struct nv_controller_config *controller = &config->controller;
	u64 optimal = (u64)nv_optimal_kib(config) * 1024;

	*key = "nvme.lba_bytes";
	if (controller->lba_bytes != 512 && controller->lba_bytes != 4096)
		return "must be 512 or 4096";
	*key = "drive.sectors";
	if (config->sectors * RL_SECTOR_BYTES % controller->lba_bytes)
		return "must be a multiple of 8 for nvme.lba_bytes 4096";
	*key = "nvme.max_transfer_kib";
	if (controller->max_transfer_kib &&
	    (controller->max_transfer_kib < 8 ||
	     (controller->max_transfer_kib & (controller->max_transfer_kib - 1))))
		return "must be a power of two of at least 8, two pages, or 0 for no limit";
	*key = "queue.io_opt_kib";
	if (config->io_opt_kib && controller->optimal_write_kib)
		return "is nvme.optimal_write_kib, which is set already";
	*key = config->io_opt_kib ? "queue.io_opt_kib" : "nvme.optimal_write_kib";
	if (optimal % controller->lba_bytes)
		return "must be whole blocks of nvme.lba_bytes";
	if (optimal / controller->lba_bytes > NV_MAX_BLOCKS)
		return "is more than 65536 blocks of nvme.lba_bytes";
	return NULL;
}

static const char *nv_check_flash(const struct nv_config *config, const char **key)
{
	*key = "cache.kib";
	return rl_flash_conflict(&config->flash, key);
}

static const char *nv_check_limit(const struct nv_config *config, const char **key)
{
	*key = "limit.burst_ios";
	if (config->limit.burst_ios && !config->limit.iops)
		return "goes with limit.iops";
	*key = "limit.burst_bytes";
	if (config->limit.burst_bytes && !config->limit.bytes_s)
		return "goes with limit.bytes_s";
	*key = "fault.drive";
	if (config->fault.drive >= config->base.count)
		return "there are not so many drives";
	*key = rl_keys_beyond(&nv_keys, &config->base, config->sectors);
	return *key ? RL_BEYOND : NULL;
}

static const char *nv_conflict(const struct rl_config *base, const char **key)
{
	const struct nv_config *config = (const struct nv_config *)base;
	const char *why = nv_check_controller(config, key);

	if (!why)
		why = nv_check_flash(config, key);
	return why ? why : nv_check_limit(config, key);
}

/* Faults belong to drive fault.drive. */
static void nv_select(struct rl_config *base, u32 number)
{
	struct nv_config *config = (struct nv_config *)base;

	if (number != config->fault.drive)
		rl_fill(&config->fault, 0, sizeof(config->fault));
}

const struct rl_keys nv_keys = {
	.driver = "nvme",
	.key = nv_key,
	.nr = RL_COUNT(nv_key),
	.bytes = sizeof(struct nv_config),
	.conflict = nv_conflict,
	.select = nv_select,
};
