/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of all sectors of the array, held sparsely.
 *
 * A sector of zeros takes nothing. A sector of the kind that benchmarks write -
 * one byte value up to some place, at most one odd byte there, one byte value
 * after it - is held in its four-byte index entry. Any other sector takes 512
 * bytes. All of it comes from one pool whose size is fixed at creation.
 */
#ifndef TW_STORE_H
#define TW_STORE_H

#include "wire/types.h"

/*
 * Memory taken once, at creation, in large chunks that are not touched until
 * used: a simulated array costs the host what it holds, not what it could hold.
 */

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

/**
 * struct tw_store - see above
 * @pool: pages of 4 KiB: the top table, then index pages and pages of eight sectors
 * @sectors: capacity
 * @top_pages: pages of the top table
 * @nr_pages: pages in the pool
 * @next_page: pages from here on were never used
 * @free_page: head of the list of freed pages, 0 is none
 * @free_slot: head of the list of freed sector slots, 0 is none
 * @index_pages: index pages in use
 * @slots: sector slots in use
 * @exhausted: a write found no memory; stays set
 */
struct tw_store {
	struct tw_arena pool;
	u64 sectors;
	u32 top_pages;
	u32 nr_pages;
	u32 next_page;
	u32 free_page;
	u32 free_slot;
	u32 index_pages;
	u32 slots;
	bool exhausted;
};

bool tw_store_create(struct tw_store *store, u64 sectors, u32 mib, tw_alloc_chunk_fn alloc,
		     void *host);

/**
 * tw_store_zero_run() - how many sectors from @lba on are zero
 * @store: the store
 * @lba: first sector, within the capacity
 * @max: look no further than this
 *
 * Return: 0 to @max; cheap where nothing was ever written.
 */
u32 tw_store_zero_run(const struct tw_store *store, u64 lba, u32 max);

/* Context for both: @lba + @sectors is within the capacity; @data is aligned to 8 bytes. */
void tw_store_read(const struct tw_store *store, u64 lba, u32 sectors, void *data);

/* Return: false when the pool is exhausted; sectors before the one that did not fit are written. */
bool tw_store_write(struct tw_store *store, u64 lba, u32 sectors, const void *data);

u64 tw_store_used_bytes(const struct tw_store *store);
u64 tw_store_limit_bytes(const struct tw_store *store);

#endif
