/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory is allocated once, when a device is created, in large chunks that are
 * not touched until they are used: the host pays for what a device holds, not
 * for what it could hold.
 */
#ifndef RL_ARENA_H
#define RL_ARENA_H

#include "types.h"

#define RL_CHUNK_BYTES		(4U << 20)

/**
 * struct rl_arena - equal records spread over chunks
 * @chunks: the chunks' addresses, kept in a chunk of their own
 * @nr_chunks: how many
 * @record_bytes: size of one record; no record straddles chunks
 * @per_chunk: records in one chunk
 */
struct rl_arena {
	u8 **chunks;
	u32 nr_chunks;
	u32 record_bytes;
	u32 per_chunk;
};

typedef void *(*rl_alloc_chunk_fn)(void *host);

/**
 * rl_arena_create() - take the chunks for at least @nr_records records
 * @arena: filled in
 * @record_bytes: 1 to RL_CHUNK_BYTES
 * @nr_records: at least 1
 * @alloc: gives RL_CHUNK_BYTES of memory, contents undefined, aligned to 4 KiB, or NULL;
 *	the host frees all chunks it gave when it drops the model
 * @host: passed to @alloc
 *
 * Return: false when memory ran out or the size is beyond what one table of chunks can hold.
 */
bool rl_arena_create(struct rl_arena *arena, u32 record_bytes, u64 nr_records,
		     rl_alloc_chunk_fn alloc, void *host);

/* Return: record @index, which the caller knows to be within the arena. */
static inline void *rl_arena_at(const struct rl_arena *arena, u64 index)
{
	return arena->chunks[index / arena->per_chunk] +
	       index % arena->per_chunk * arena->record_bytes;
}

#endif
