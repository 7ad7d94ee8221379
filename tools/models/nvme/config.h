/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An NVMe drive as one flat list of key=value pairs, parsed strictly. */
#ifndef NV_CONFIG_H
#define NV_CONFIG_H

#include "base/trigger.h"
#include "media/flash.h"

#define NV_MAX_DRIVES	16
#define NV_MAX_QUEUES	16	/* pairs for I/O */

/**
 * struct nv_controller_config - profile table "nvme"
 * @model: model name
 * @serial: serial number; empty: the profile's name. The number of the drive is added if there are several
 * @queues: pairs of I/O queues
 * @lba_bytes: size of a logical block, 512 or 4096
 * @max_transfer_kib: largest transfer of a command; 0: no limit
 * @optimal_write_kib: optimal write size that the namespace reports; 0: it reports none
 * @write_cache: 1 if the cache is lost with the power: a flush waits until it has drained
 * @command_ns: serialised controller time of every command
 */
struct nv_controller_config {
	char model[41];
	char serial[21];
	u32 queues;
	u32 lba_bytes;
	u32 max_transfer_kib;
	u32 optimal_write_kib;
	u32 write_cache;
	u32 command_ns;
};

/**
 * struct nv_link_config - profile table "link": from the controller to the host
 * @latency_ns: added to every command; overlaps with other commands
 * @bytes_s: serialised, of each direction
 */
struct nv_link_config {
	u32 latency_ns;
	u64 bytes_s;
};

/**
 * struct nv_limit_config - profile table "limit": the throttle of a cloud volume
 * @iops: reads and writes a second; 0: no limit
 * @bytes_s: bytes a second that they move; 0: no limit
 * @burst_ios: so many reads and writes may start at once after a pause
 * @burst_bytes: the same in bytes
 */
struct nv_limit_config {
	u64 iops;
	u64 bytes_s;
	u64 burst_ios;
	u64 burst_bytes;
};

enum nv_fault_kind {
	NV_FAULT_LOSE,		/* a command is never answered */
	NV_FAULT_MEDIUM,	/* sectors that cannot be read */
	NV_FAULT_SLOW,		/* the flash becomes slow */
	NV_FAULT_RESET,		/* the controller fails and needs a reset */
	NV_FAULT_GONE,		/* the drive is pulled out */
	NV_FAULTS,
};

/**
 * struct nv_fault_config - profile table "fault"
 * @trigger: by an enum nv_fault_kind; no @lba for NV_FAULT_MEDIUM
 * @drive: where all of this happens, from 0
 * @medium_lba: first bad sector of 512 bytes; 0: where the triggering command began
 * @medium_sectors: how many
 * @slow_factor: the flash takes this many times as long from then on
 */
struct nv_fault_config {
	struct rl_trigger trigger[NV_FAULTS];
	u32 drive;
	u64 medium_lba;
	u32 medium_sectors;
	u32 slow_factor;
};

/**
 * struct nv_config - everything that distinguishes one simulated NVMe drive from another
 * @base: name, number, count, memory
 * @sectors: capacity in sectors of 512 bytes
 * @io_opt_kib: optimal I/O size; the same as the controller's @optimal_write_kib
 * @rotational: 1 if the namespace reports that it rotates, which Linux reads since 6.13
 * @controller: see there
 * @flash: see there
 * @link: see there
 * @limit: see there
 * @fault: see there
 */
struct nv_config {
	struct rl_config base;
	u64 sectors;
	u32 io_opt_kib;
	u32 rotational;
	struct nv_controller_config controller;
	struct rl_flash_config flash;
	struct nv_link_config link;
	struct nv_limit_config limit;
	struct nv_fault_config fault;
};

/* The keys of a profile of this device, their rules, and the differences between drives of one profile. */
extern const struct rl_keys nv_keys;

/* Return: the optimal write size, which two keys set. */
static inline u32 nv_optimal_kib(const struct nv_config *config)
{
	return config->io_opt_kib ? config->io_opt_kib : config->controller.optimal_write_kib;
}

#endif
