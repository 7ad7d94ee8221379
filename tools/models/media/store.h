/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of all sectors of a device, held sparsely.
 *
 * A sector of zeros takes nothing. A sector of the kind that benchmarks write -
 * one byte value up to some place, at most one odd byte there, one byte value
 * after it - is held in its four-byte index entry. Any other sector takes 512
 * bytes. All of it comes from one pool whose size is fixed at creation.
 */
#ifndef RL_STORE_H
#define RL_STORE_H

#include "base/arena.h"

/**
 * struct rl_store - see above
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
struct rl_store {
	struct rl_arena pool;
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

bool rl_store_create(struct rl_store *store, u64 sectors, u32 mib, rl_alloc_chunk_fn alloc,
		     void *host);

/**
 * rl_store_zero_run() - how many sectors from @lba on are zero
 * @store: the store
 * @lba: first sector, within the capacity
 * @max: look no further than this
 *
 * Return: 0 to @max; cheap where nothing was ever written.
 */
u32 rl_store_zero_run(const struct rl_store *store, u64 lba, u32 max);

/* Context for both: @lba + @sectors is within the capacity; @data is aligned to 8 bytes. */
void rl_store_read(const struct rl_store *store, u64 lba, u32 sectors, void *data);

/* Return: false when the pool is exhausted; sectors before the one that did not fit are written. */
bool rl_store_write(struct rl_store *store, u64 lba, u32 sectors, const void *data);

/* Zeros for a range within the capacity. They take no memory, so that this cannot fail. */
void rl_store_zero(struct rl_store *store, u64 lba, u64 sectors);

u64 rl_store_used_bytes(const struct rl_store *store);
u64 rl_store_limit_bytes(const struct rl_store *store);

#endif
