// SPDX-License-Identifier: GPL-2.0-or-later
/* Equal records in chunks of memory. */
#include "base.h"

bool rl_arena_create(struct rl_arena *arena, u32 record_bytes, u64 nr_records,
		     rl_alloc_chunk_fn alloc, void *host)
{
	u64 nr_chunks;
	u32 i;

	arena->record_bytes = record_bytes;
	arena->per_chunk = RL_CHUNK_BYTES / record_bytes;
	nr_chunks = (nr_records + arena->per_chunk - 1) / arena->per_chunk;
	if (nr_chunks > RL_CHUNK_BYTES / sizeof(arena->chunks[0]))
		return false;
	arena->chunks = alloc(host);
	if (!arena->chunks)
		return false;
	for (i = 0; i < nr_chunks; i++) {
		arena->chunks[i] = alloc(host);
		if (!arena->chunks[i])
			return false;
	}
	arena->nr_chunks = (u32)nr_chunks;
	return true;
}
