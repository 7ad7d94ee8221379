/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of devices there are, and what a host says of those that it has. */
#ifndef RL_KINDS_H
#define RL_KINDS_H

#include "base/base.h"

#define RL_MAX_DEVICES		16
#define RL_STATUS_BYTES		4096	/* room for the lines of one device */

/* NULL behind the last. The first is the kind of a configuration that names none. */
extern const struct rl_kind *const rl_kinds[];

/* Return: the kind that the key "device" of "key=value,..." names, NULL if it is none of them. */
const struct rl_kind *rl_kind_of(const char *text);

/**
 * struct rl_sums - what is counted over all devices of a host
 * @devices: how many
 * @commands: posted by drivers
 * @refused: that could not be answered
 * @log_entries: in the logs
 * @log_capacity: room in the logs
 * @log_lost: commands that came when a log was full
 * @store_used: bytes of contents
 * @store_limit: bytes of memory for contents
 * @exhausted: a write found no memory
 */
struct rl_sums {
	u32 devices;
	u64 commands;
	u64 refused;
	u64 log_entries;
	u64 log_capacity;
	u64 log_lost;
	u64 store_used;
	u64 store_limit;
	bool exhausted;
};

/* Context: the caller serialises access to @device. */
void rl_sums_add(struct rl_sums *sums, const struct rl_device *device);

/* The first lines of a status: that devices are simulated, of which profile, and sums. @profile: of all of them. */
void rl_sums_show(const struct rl_sums *sums, const char *profile, struct rl_text *text);

/* The report of one device; @number: its number in the host, from 0. Context: as above. */
void rl_device_show(const struct rl_device *device, u32 number, struct rl_text *text);

#endif
