// SPDX-License-Identifier: GPL-2.0-or-later
/* Ground truth. */
#include "base.h"

/* The lab reckons the guest's memory with it; another size divides by zero. */
enum { RL_CHECK_LOG_ENTRY = 1 / (sizeof(struct rl_log_entry) == 40) };

bool rl_log_create(struct rl_log *log, u32 capacity, rl_alloc_chunk_fn alloc, void *host)
{
	log->capacity = capacity;
	log->count = 0;
	log->lost = 0;
	return rl_arena_create(&log->entries, sizeof(struct rl_log_entry), capacity, alloc, host);
}

u32 rl_log_add(struct rl_log *log, const struct rl_log_entry *entry)
{
	if (log->count == log->capacity) {
		log->lost++;
		return RL_LOG_NONE;
	}
	rl_copy(rl_arena_at(&log->entries, log->count), entry, sizeof(*entry));
	return log->count++;
}

void rl_log_finish(struct rl_log *log, u32 index, enum rl_log_status status, u64 now)
{
	struct rl_log_entry *entry;

	if (index == RL_LOG_NONE)
		return;
	entry = rl_arena_at(&log->entries, index);
	entry->status = (u8)status;
	entry->completion_ns = now;
}

const char *rl_log_status_name(u8 status)
{
	static const char *const names[] = {
		[RL_LOG_RUNNING] = "running", [RL_LOG_GOOD] = "good", [RL_LOG_FAILED] = "failed",
		[RL_LOG_LOST] = "lost", [RL_LOG_RESET] = "reset",
	};

	return status < RL_COUNT(names) ? names[status] : "unknown";
}
