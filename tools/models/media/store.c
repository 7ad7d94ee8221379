// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sparse contents: a top table of node pages, nodes of leaf pages, leaves of
 * four-byte entries, one entry per sector.
 *
 * Entry: 0 is a sector of zeros; with bit 31 set it is a pattern (see
 * rl_pattern_entry()); otherwise the number of a 512-byte slot.
 */
#include "media.h"

#define RL_PAGE_BYTES		4096U
#define RL_LEAF_SECTORS		(RL_PAGE_BYTES / sizeof(u32))
#define RL_NODE_LEAVES		(RL_PAGE_BYTES / sizeof(struct rl_node_entry))
#define RL_NODE_SECTORS		(RL_LEAF_SECTORS * RL_NODE_LEAVES)
#define RL_SLOTS_PER_PAGE	(RL_PAGE_BYTES / RL_SECTOR_BYTES)
#define RL_PATTERN		0x80000000U
#define RL_SECTOR_WORDS		(RL_SECTOR_BYTES / sizeof(u64))

struct rl_node_entry {
	u32 leaf;		/* page, 0 is none: the whole leaf is zero */
	u32 live;		/* entries of the leaf that are not 0 */
};

static void *rl_page(const struct rl_store *store, u32 page)
{
	return rl_arena_at(&store->pool, page);
}

static u8 *rl_slot(const struct rl_store *store, u32 slot)
{
	return (u8 *)rl_page(store, slot / RL_SLOTS_PER_PAGE) +
	       slot % RL_SLOTS_PER_PAGE * RL_SECTOR_BYTES;
}

static u32 *rl_top(const struct rl_store *store, u64 lba)
{
	u64 index = lba / RL_NODE_SECTORS;
	u32 *page = rl_page(store, (u32)(index / RL_LEAF_SECTORS));

	return page + index % RL_LEAF_SECTORS;
}

/* Return: the entry that describes the leaf of @lba, NULL where nothing was ever written. */
static struct rl_node_entry *rl_node(const struct rl_store *store, u64 lba)
{
	u32 page = *rl_top(store, lba);

	if (!page)
		return NULL;
	return (struct rl_node_entry *)rl_page(store, page) + lba / RL_LEAF_SECTORS % RL_NODE_LEAVES;
}

static u32 rl_entry(const struct rl_store *store, u64 lba)
{
	const struct rl_node_entry *node = rl_node(store, lba);

	if (!node || !node->leaf)
		return 0;
	return ((u32 *)rl_page(store, node->leaf))[lba % RL_LEAF_SECTORS];
}

/* Return: a page, or 0 (which is the top table's) when the pool is exhausted. */
static u32 rl_take_page(struct rl_store *store)
{
	u32 page = store->free_page;

	if (page) {
		store->free_page = *(u32 *)rl_page(store, page);
		return page;
	}
	if (store->next_page == store->nr_pages) {
		store->exhausted = true;
		return 0;
	}
	return store->next_page++;
}

static void rl_give_page(struct rl_store *store, u32 page)
{
	*(u32 *)rl_page(store, page) = store->free_page;
	store->free_page = page;
}

static u32 rl_take_index_page(struct rl_store *store)
{
	u32 page = rl_take_page(store);

	if (page) {
		rl_fill(rl_page(store, page), 0, RL_PAGE_BYTES);
		store->index_pages++;
	}
	return page;
}

static void rl_give_slot(struct rl_store *store, u32 slot)
{
	*(u32 *)rl_slot(store, slot) = store->free_slot;
	store->free_slot = slot;
	store->slots--;
}

static u32 rl_take_slot(struct rl_store *store)
{
	u32 slot = store->free_slot, page, i;

	if (!slot) {
		page = rl_take_page(store);
		if (!page)
			return 0;
		store->slots += RL_SLOTS_PER_PAGE;
		for (i = RL_SLOTS_PER_PAGE; i-- > 0;)
			rl_give_slot(store, page * RL_SLOTS_PER_PAGE + i);
		slot = store->free_slot;
	}
	store->free_slot = *(u32 *)rl_slot(store, slot);
	store->slots++;
	return slot;
}

/* Return: place of the first byte from @from on that is not @byte, or RL_SECTOR_BYTES. */
static u32 rl_first_other(const u8 *data, u32 from, u8 byte)
{
	const u64 *words = (const u64 *)data;
	u64 same = byte * 0x0101010101010101ULL;
	u32 word;

	while (from % sizeof(u64)) {
		if (data[from] != byte)
			return from;
		from++;
	}
	for (word = from / sizeof(u64); word < RL_SECTOR_WORDS; word++)
		if (words[word] != same)
			break;
	for (from = word * sizeof(u64); from < RL_SECTOR_BYTES; from++)
		if (data[from] != byte)
			break;
	return from;
}

/*
 * A sector whose bytes are @first up to @cut, @first + @step at @cut and @last
 * after it is one word: bit 31, step (6 bits), cut (9), last (8), first (8).
 *
 * Return: 0 for zeros, a pattern entry, or 1 if neither fits.
 */
static u32 rl_pattern_entry(const u8 *data)
{
	u8 first = data[0], last = data[RL_SECTOR_BYTES - 1], step;
	u32 cut = rl_first_other(data, 0, first);

	if (cut == RL_SECTOR_BYTES)
		return first ? RL_PATTERN | (u32)last << 8 | first : 0;
	step = (u8)(data[cut] - first);
	if (step > 63)
		return rl_first_other(data, cut, last) != RL_SECTOR_BYTES ? 1 :
		       RL_PATTERN | (cut - 1) << 16 | (u32)last << 8 | first;
	if (cut + 1 < RL_SECTOR_BYTES && rl_first_other(data, cut + 1, last) != RL_SECTOR_BYTES)
		return 1;
	return RL_PATTERN | (u32)step << 25 | cut << 16 | (u32)last << 8 | first;
}

static void rl_pattern_expand(u32 entry, u8 *data)
{
	u8 first = (u8)entry, last = (u8)(entry >> 8);
	u32 cut = entry >> 16 & 511, step = entry >> 25 & 63;

	rl_fill(data, first, cut);
	data[cut] = (u8)(first + step);
	rl_fill(data + cut + 1, last, RL_SECTOR_BYTES - 1 - cut);
}

/* Return: the entry's place, its leaf made if need be; NULL when the pool is exhausted. */
static u32 *rl_make_entry(struct rl_store *store, u64 lba, struct rl_node_entry **node)
{
	u32 *top = rl_top(store, lba);

	if (!*top)
		*top = rl_take_index_page(store);
	if (!*top)
		return NULL;
	*node = rl_node(store, lba);
	if (!(*node)->leaf)
		(*node)->leaf = rl_take_index_page(store);
	if (!(*node)->leaf)
		return NULL;
	return (u32 *)rl_page(store, (*node)->leaf) + lba % RL_LEAF_SECTORS;
}

static bool rl_is_slot(u32 entry)
{
	return entry && !(entry & RL_PATTERN);
}

static void rl_write_zero(struct rl_store *store, u64 lba)
{
	struct rl_node_entry *node = rl_node(store, lba);
	u32 *entry;

	if (!node || !node->leaf)
		return;
	entry = (u32 *)rl_page(store, node->leaf) + lba % RL_LEAF_SECTORS;
	if (!*entry)
		return;
	if (rl_is_slot(*entry))
		rl_give_slot(store, *entry);
	*entry = 0;
	if (--node->live)
		return;
	rl_give_page(store, node->leaf);
	store->index_pages--;
	node->leaf = 0;
}

static bool rl_write_sector(struct rl_store *store, u64 lba, const u8 *data)
{
	struct rl_node_entry *node;
	u32 pattern = rl_pattern_entry(data), *entry, slot;

	if (!pattern) {
		rl_write_zero(store, lba);
		return true;
	}
	entry = rl_make_entry(store, lba, &node);
	if (!entry)
		return false;
	if (pattern & RL_PATTERN) {
		if (rl_is_slot(*entry))
			rl_give_slot(store, *entry);
		node->live += !*entry;
		*entry = pattern;
		return true;
	}
	slot = rl_is_slot(*entry) ? *entry : rl_take_slot(store);
	if (!slot)
		return false;
	node->live += !*entry;
	*entry = slot;
	rl_copy(rl_slot(store, slot), data, RL_SECTOR_BYTES);
	return true;
}

bool rl_store_create(struct rl_store *store, u64 sectors, u32 mib, rl_alloc_chunk_fn alloc,
		     void *host)
{
	u64 nodes = (sectors + RL_NODE_SECTORS - 1) / RL_NODE_SECTORS;
	u32 page;

	rl_fill(store, 0, sizeof(*store));
	if (!rl_arena_create(&store->pool, RL_PAGE_BYTES, (u64)mib << 20 >> 12, alloc, host))
		return false;
	store->sectors = sectors;
	store->nr_pages = store->pool.nr_chunks * store->pool.per_chunk;
	store->top_pages = (u32)((nodes + RL_LEAF_SECTORS - 1) / RL_LEAF_SECTORS);
	store->next_page = store->top_pages;
	if (store->top_pages >= store->nr_pages)
		return false;
	for (page = 0; page < store->top_pages; page++)
		rl_fill(rl_page(store, page), 0, RL_PAGE_BYTES);
	return true;
}

u32 rl_store_zero_run(const struct rl_store *store, u64 lba, u32 max)
{
	const struct rl_node_entry *node;
	const u32 *leaf;
	u64 run = 0;
	u32 at;

	while (run < max) {
		at = (lba + run) % RL_LEAF_SECTORS;
		node = rl_node(store, lba + run);
		if (!node || !node->leaf) {
			run += RL_LEAF_SECTORS - at;
			continue;
		}
		leaf = rl_page(store, node->leaf);
		for (; at < RL_LEAF_SECTORS && run < max; at++, run++)
			if (leaf[at])
				return (u32)run;
	}
	return max;
}

void rl_store_read(const struct rl_store *store, u64 lba, u32 sectors, void *data)
{
	u8 *to = data;
	u32 entry;

	for (; sectors; sectors--, lba++, to += RL_SECTOR_BYTES) {
		entry = rl_entry(store, lba);
		if (!entry)
			rl_fill(to, 0, RL_SECTOR_BYTES);
		else if (entry & RL_PATTERN)
			rl_pattern_expand(entry, to);
		else
			rl_copy(to, rl_slot(store, entry), RL_SECTOR_BYTES);
	}
}

bool rl_store_write(struct rl_store *store, u64 lba, u32 sectors, const void *data)
{
	const u8 *from = data;

	for (; sectors; sectors--, lba++, from += RL_SECTOR_BYTES)
		if (!rl_write_sector(store, lba, from))
			return false;
	return true;
}

void rl_store_zero(struct rl_store *store, u64 lba, u64 sectors)
{
	static const u64 zeros[RL_SECTOR_WORDS];
	u32 part;

	for (; sectors; sectors -= part, lba += part) {
		part = rl_store_zero_run(store, lba, (u32)rl_min(sectors, 1U << 30));
		if (part)
			continue;
		part = 1;
		rl_store_write(store, lba, part, zeros);
	}
}

u64 rl_store_used_bytes(const struct rl_store *store)
{
	return (u64)(store->top_pages + store->index_pages) * RL_PAGE_BYTES +
	       (u64)store->slots * RL_SECTOR_BYTES;
}

u64 rl_store_limit_bytes(const struct rl_store *store)
{
	return (u64)store->nr_pages * RL_PAGE_BYTES;
}
