// SPDX-License-Identifier: GPL-2.0-or-later
/* Ground truth. */
#include "log.h"
#include "wire/scsi.h"
#include "wire/wire.h"

/* The lab reckons the guest's memory with it; another size divides by zero. */
enum { TW_CHECK_LOG_ENTRY = 1 / (sizeof(struct tw_log_entry) == 40) };

bool tw_log_create(struct tw_log *log, u32 capacity, tw_alloc_chunk_fn alloc, void *host)
{
	log->capacity = capacity;
	log->count = 0;
	log->lost = 0;
	return tw_arena_create(&log->entries, sizeof(struct tw_log_entry), capacity, alloc, host);
}

u32 tw_log_add(struct tw_log *log, const struct tw_log_entry *entry)
{
	if (log->count == log->capacity) {
		log->lost++;
		return TW_LOG_NONE;
	}
	tw_copy(tw_arena_at(&log->entries, log->count), entry, sizeof(*entry));
	return log->count++;
}

void tw_log_finish(struct tw_log *log, u32 index, enum tw_log_status status, u64 now)
{
	struct tw_log_entry *entry;

	if (index == TW_LOG_NONE)
		return;
	entry = tw_arena_at(&log->entries, index);
	entry->status = (u8)status;
	entry->completion_ns = now;
}

const char *tw_log_name(const struct tw_log_entry *entry)
{
	if (entry->unit != TW_LOG_FIRMWARE)
		return tw_scsi_name(entry->opcode);
	switch (entry->opcode) {
	case TW_OP_INIT_CONNECTION:
		return "INIT_CONNECTION";
	case TW_OP_EXECUTE_SCSI:
		return "GET_EVENT";
	case TW_OP_GET_PARAM:
		return "GET_PARAM";
	case TW_OP_SET_PARAM:
		return "SET_PARAM";
	}
	return "OTHER";
}

const char *tw_log_status_name(u8 status)
{
	static const char *const names[] = {
		[TW_LOG_RUNNING] = "running", [TW_LOG_GOOD] = "good", [TW_LOG_FAILED] = "failed",
		[TW_LOG_LOST] = "lost", [TW_LOG_RESET] = "reset",
	};

	return status < TW_COUNT(names) ? names[status] : "unknown";
}
