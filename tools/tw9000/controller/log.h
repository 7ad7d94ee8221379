/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ground truth: every command that the controller was given, in order of arrival. */
#ifndef TW_LOG_H
#define TW_LOG_H

#include "media/store.h"

enum tw_log_status {
	TW_LOG_RUNNING,
	TW_LOG_GOOD,
	TW_LOG_FAILED,
	TW_LOG_LOST,		/* by the fault that loses a command; never completes */
	TW_LOG_RESET,		/* thrown away by a reset; never completes */
};

#define TW_LOG_NONE	(~0U)	/* in place of an entry's index: the log was full */
#define TW_LOG_FIRMWARE	0xff	/* in place of a unit: not a command to a unit */

/**
 * struct tw_log_entry - one command
 * @lba: first sector of a READ or WRITE, else 0
 * @arrival_ns: when it was posted
 * @completion_ns: when its id was put into the response queue; valid for GOOD and FAILED
 * @sectors: of a READ or WRITE, else 0
 * @depth: commands of this unit in the controller at arrival, itself not counted
 * @request_id: the driver's
 * @opcode: SCSI opcode, or the packet's opcode for TW_LOG_FIRMWARE
 * @unit: the unit addressed, which need not exist, or TW_LOG_FIRMWARE
 * @status: an enum tw_log_status
 */
struct tw_log_entry {
	u64 lba;
	u64 arrival_ns;
	u64 completion_ns;
	u32 sectors;
	u16 depth;
	u8 request_id;
	u8 opcode;
	u8 unit;
	u8 status;
};

/**
 * struct tw_log - the log
 * @entries: the arena
 * @capacity: entries it may hold
 * @count: entries it holds
 * @lost: commands that came when it was full
 */
struct tw_log {
	struct tw_arena entries;
	u32 capacity;
	u32 count;
	u64 lost;
};

bool tw_log_create(struct tw_log *log, u32 capacity, tw_alloc_chunk_fn alloc, void *host);

/* Return: index of the new entry, a copy of @entry, or TW_LOG_NONE. */
u32 tw_log_add(struct tw_log *log, const struct tw_log_entry *entry);

void tw_log_finish(struct tw_log *log, u32 index, enum tw_log_status status, u64 now);

static inline const struct tw_log_entry *tw_log_at(const struct tw_log *log, u32 index)
{
	return tw_arena_at(&log->entries, index);
}

/* Return: the command's name. */
const char *tw_log_name(const struct tw_log_entry *entry);

const char *tw_log_status_name(u8 status);

#endif
