// SPDX-License-Identifier: GPL-2.0-or-later
/* The keys of a virtio block device, and rules that tie several of them together. */
#include "virtio.h"

#define VB_MAX_COUNT	16

#define VB_NUMBER(...)	RL_NUMBER(struct vb_config, __VA_ARGS__)
#define VB_WIDE(...)	RL_WIDE(struct vb_config, __VA_ARGS__)
#define VB_AT_COMMAND(name, kind) RL_AT_COMMAND(struct vb_config, name, fault.trigger[kind])
#define VB_AT_MS(name, kind)	RL_AT_MS(struct vb_config, name, fault.trigger[kind])
#define VB_AT_LBA(name, kind)	RL_AT_LBA(struct vb_config, name, fault.trigger[kind])

/* A limit that is not set is 0, which nobody can set: a limit of nothing is a mistake. */
static const struct rl_key vb_key[] = {
	RL_TEXT(struct vb_config, "name", base.name, "unnamed"),
	VB_NUMBER("store_mib", base.store_mib, 4, 1 << 20, 64),
	VB_NUMBER("log_entries", base.log_entries, 1, 1 << 30, 1000000),
	VB_NUMBER("count", base.count, 1, VB_MAX_COUNT, 1),
	VB_WIDE("drive.sectors", sectors, 1 << 16, 1ULL << 36, 268435456),
	VB_NUMBER("queue.size", queue_size, 4, VB_MAX_QUEUE, 256),
	VB_NUMBER("queue.segments", segments, 1, VB_MAX_SEGMENTS, 254),
	VB_NUMBER("queue.io_opt_kib", io_opt_kib, 0, 1 << 20, 0),
	VB_NUMBER("queue.rotational", rotational, 0, 1, 1),
	VB_NUMBER("volume.write_cache", write_cache, 0, 1, 1),
	VB_NUMBER("volume.discard", discard, 0, 1, 1),
	VB_NUMBER("volume.flush_ns", flush_ns, 0, 1000000000, 0),
	VB_NUMBER("link.latency_ns", latency_ns, 0, 1000000000, 100000),
	VB_WIDE("link.bytes_s", bytes_s, 1 << 20, RL_MAX_RATE, 10000000000ULL),
	VB_WIDE("limit.iops", iops, 1, RL_MAX_RATE, 0),
	VB_WIDE("limit.bytes_s", limit_bytes_s, 1024, RL_MAX_RATE, 0),
	VB_WIDE("limit.burst_ios", burst_ios, 0, RL_MAX_BURST, 0),
	VB_WIDE("limit.burst_bytes", burst_bytes, 0, RL_MAX_BURST, 0),
	VB_AT_COMMAND("lose", VB_FAULT_LOSE),
	VB_AT_MS("lose", VB_FAULT_LOSE),
	VB_AT_LBA("lose", VB_FAULT_LOSE),
	VB_AT_COMMAND("medium", VB_FAULT_MEDIUM),
	VB_AT_MS("medium", VB_FAULT_MEDIUM),
	VB_WIDE("fault.medium_lba", fault.medium_lba, 0, 1ULL << 40, 0),
	VB_NUMBER("fault.medium_sectors", fault.medium_sectors, 1, 1 << 30, 1),
	VB_AT_COMMAND("slow", VB_FAULT_SLOW),
	VB_AT_MS("slow", VB_FAULT_SLOW),
	VB_AT_LBA("slow", VB_FAULT_SLOW),
	VB_NUMBER("fault.slow_factor", fault.slow_factor, 1, 1000, 10),
};

static const char *vb_conflict(const struct rl_config *base, const char **key)
{
	const struct vb_config *config = (const struct vb_config *)base;

	*key = "queue.size";
	if (config->queue_size & (config->queue_size - 1))
		return "must be a power of two";
	*key = "queue.rotational";
	if (!config->rotational)
		return "a virtio disk cannot report it, and Linux takes each for one that rotates; nvme and ahci can";
	*key = "limit.burst_ios";
	if (config->burst_ios && !config->iops)
		return "goes with limit.iops";
	*key = "limit.burst_bytes";
	if (config->burst_bytes && !config->limit_bytes_s)
		return "goes with limit.bytes_s";
	*key = rl_keys_beyond(&vb_keys, base, config->sectors);
	return *key ? RL_BEYOND : NULL;
}

/* Faults belong to the first device. */
static void vb_select(struct rl_config *base, u32 number)
{
	struct vb_config *config = (struct vb_config *)base;

	if (number)
		rl_fill(&config->fault, 0, sizeof(config->fault));
}

const struct rl_keys vb_keys = {
	.driver = "virtio-blk",
	.key = vb_key,
	.nr = RL_COUNT(vb_key),
	.bytes = sizeof(struct vb_config),
	.conflict = vb_conflict,
	.select = vb_select,
};
