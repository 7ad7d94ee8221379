/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory taken once, at creation, in large chunks that are not touched until
 * used: a simulated array costs the host what it holds, not what it could hold.
 */
#ifndef TW_ARENA_H
#define TW_ARENA_H

#include "wire/types.h"

#define TW_CHUNK_BYTES		(4U << 20)

/**
 * struct tw_arena - equal records spread over chunks
 * @chunks: the chunks' addresses, kept in a chunk of their own
 * @nr_chunks: how many
 * @record_bytes: size of one record; no record straddles chunks
 * @per_chunk: records in one chunk
 */
struct tw_arena {
	u8 **chunks;
	u32 nr_chunks;
	u32 record_bytes;
	u32 per_chunk;
};

typedef void *(*tw_alloc_chunk_fn)(void *host);

/**
 * tw_arena_create() - take the chunks for at least @nr_records records
 * @arena: filled in
 * @record_bytes: 1 to TW_CHUNK_BYTES
 * @nr_records: at least 1
 * @alloc: gives TW_CHUNK_BYTES of memory, contents undefined, aligned to 4 KiB, or NULL;
 *	the host frees all chunks it gave when it drops the model
 * @host: passed to @alloc
 *
 * Return: false when memory ran out or the size is beyond what one table of chunks can hold.
 */
bool tw_arena_create(struct tw_arena *arena, u32 record_bytes, u64 nr_records,
		     tw_alloc_chunk_fn alloc, void *host);

/* Return: record @index, which the caller knows to be within the arena. */
static inline void *tw_arena_at(const struct tw_arena *arena, u64 index)
{
	return arena->chunks[index / arena->per_chunk] +
	       index % arena->per_chunk * arena->record_bytes;
}

#endif
