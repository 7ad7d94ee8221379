/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ground truth: every command that a device was given, in order of arrival. */
#ifndef RL_LOG_H
#define RL_LOG_H

#include "arena.h"

enum rl_log_status {
	RL_LOG_RUNNING,
	RL_LOG_GOOD,
	RL_LOG_FAILED,
	RL_LOG_LOST,		/* by the fault that loses a command; never completes */
	RL_LOG_RESET,		/* dropped by a reset or a failed controller; never completes */
};

#define RL_LOG_NONE	(~0U)	/* in place of an entry's index: the log was full */
#define RL_LOG_ADMIN	0xff	/* in place of a unit: a command to the controller itself */

/**
 * struct rl_log_entry - one command
 * @lba: first sector of 512 bytes of a command that has one, else 0
 * @arrival_ns: when it was posted
 * @completion_ns: when it was answered; valid for GOOD and FAILED
 * @sectors: of 512 bytes, else 0
 * @depth: commands of this unit in the device at arrival, itself not counted
 * @request_id: the driver's
 * @opcode: of its command set
 * @unit: the unit addressed, which need not exist, or RL_LOG_ADMIN
 * @status: an enum rl_log_status
 */
struct rl_log_entry {
	u64 lba;
	u64 arrival_ns;
	u64 completion_ns;
	u32 sectors;
	u16 depth;
	u16 request_id;
	u8 opcode;
	u8 unit;
	u8 status;
};

/**
 * struct rl_log - the log
 * @entries: the arena
 * @capacity: entries it may hold
 * @count: entries it holds
 * @lost: commands that came when it was full
 */
struct rl_log {
	struct rl_arena entries;
	u32 capacity;
	u32 count;
	u64 lost;
};

bool rl_log_create(struct rl_log *log, u32 capacity, rl_alloc_chunk_fn alloc, void *host);

/* Return: index of the new entry, a copy of @entry, or RL_LOG_NONE. */
u32 rl_log_add(struct rl_log *log, const struct rl_log_entry *entry);

void rl_log_finish(struct rl_log *log, u32 index, enum rl_log_status status, u64 now);

static inline const struct rl_log_entry *rl_log_at(const struct rl_log *log, u32 index)
{
	return rl_arena_at(&log->entries, index);
}

const char *rl_log_status_name(u8 status);

#endif
