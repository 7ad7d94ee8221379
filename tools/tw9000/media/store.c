// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sparse contents: a top table of node pages, nodes of leaf pages, leaves of
 * four-byte entries, one entry per sector.
 *
 * Entry: 0 is a sector of zeros; with bit 31 set it is a pattern (see
 * tw_pattern_entry()); otherwise the number of a 512-byte slot.
 */
#include "store.h"

bool tw_arena_create(struct tw_arena *arena, u32 record_bytes, u64 nr_records,
		     tw_alloc_chunk_fn alloc, void *host)
{
	u64 nr_chunks;
	u32 i;

	arena->record_bytes = record_bytes;
	arena->per_chunk = TW_CHUNK_BYTES / record_bytes;
	nr_chunks = (nr_records + arena->per_chunk - 1) / arena->per_chunk;
	if (nr_chunks > TW_CHUNK_BYTES / sizeof(arena->chunks[0]))
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

#define TW_PAGE_BYTES		4096U
#define TW_LEAF_SECTORS		(TW_PAGE_BYTES / sizeof(u32))
#define TW_NODE_LEAVES		(TW_PAGE_BYTES / sizeof(struct tw_node_entry))
#define TW_NODE_SECTORS		(TW_LEAF_SECTORS * TW_NODE_LEAVES)
#define TW_SLOTS_PER_PAGE	(TW_PAGE_BYTES / TW_SECTOR_BYTES)
#define TW_PATTERN		0x80000000U
#define TW_SECTOR_WORDS		(TW_SECTOR_BYTES / sizeof(u64))

struct tw_node_entry {
	u32 leaf;		/* page, 0 is none: the whole leaf is zero */
	u32 live;		/* entries of the leaf that are not 0 */
};

static void *tw_page(const struct tw_store *store, u32 page)
{
	return tw_arena_at(&store->pool, page);
}

static u8 *tw_slot(const struct tw_store *store, u32 slot)
{
	return (u8 *)tw_page(store, slot / TW_SLOTS_PER_PAGE) +
	       slot % TW_SLOTS_PER_PAGE * TW_SECTOR_BYTES;
}

static u32 *tw_top(const struct tw_store *store, u64 lba)
{
	u64 index = lba / TW_NODE_SECTORS;
	u32 *page = tw_page(store, (u32)(index / TW_LEAF_SECTORS));

	return page + index % TW_LEAF_SECTORS;
}

/* Return: the entry that describes the leaf of @lba, NULL where nothing was ever written. */
static struct tw_node_entry *tw_node(const struct tw_store *store, u64 lba)
{
	u32 page = *tw_top(store, lba);

	if (!page)
		return NULL;
	return (struct tw_node_entry *)tw_page(store, page) + lba / TW_LEAF_SECTORS % TW_NODE_LEAVES;
}

static u32 tw_entry(const struct tw_store *store, u64 lba)
{
	const struct tw_node_entry *node = tw_node(store, lba);

	if (!node || !node->leaf)
		return 0;
	return ((u32 *)tw_page(store, node->leaf))[lba % TW_LEAF_SECTORS];
}

/* Return: a page, or 0 (which is the top table's) when the pool is exhausted. */
static u32 tw_take_page(struct tw_store *store)
{
	u32 page = store->free_page;

	if (page) {
		store->free_page = *(u32 *)tw_page(store, page);
		return page;
	}
	if (store->next_page == store->nr_pages) {
		store->exhausted = true;
		return 0;
	}
	return store->next_page++;
}

static void tw_give_page(struct tw_store *store, u32 page)
{
	*(u32 *)tw_page(store, page) = store->free_page;
	store->free_page = page;
}

static u32 tw_take_index_page(struct tw_store *store)
{
	u32 page = tw_take_page(store);

	if (page) {
		tw_fill(tw_page(store, page), 0, TW_PAGE_BYTES);
		store->index_pages++;
	}
	return page;
}

static void tw_give_slot(struct tw_store *store, u32 slot)
{
	*(u32 *)tw_slot(store, slot) = store->free_slot;
	store->free_slot = slot;
	store->slots--;
}

static u32 tw_take_slot(struct tw_store *store)
{
	u32 slot = store->free_slot, page, i;

	if (!slot) {
		page = tw_take_page(store);
		if (!page)
			return 0;
		store->slots += TW_SLOTS_PER_PAGE;
		for (i = TW_SLOTS_PER_PAGE; i-- > 0;)
			tw_give_slot(store, page * TW_SLOTS_PER_PAGE + i);
		slot = store->free_slot;
	}
	store->free_slot = *(u32 *)tw_slot(store, slot);
	store->slots++;
	return slot;
}

/* Return: place of the first byte from @from on that is not @byte, or TW_SECTOR_BYTES. */
static u32 tw_first_other(const u8 *data, u32 from, u8 byte)
{
	const u64 *words = (const u64 *)data;
	u64 same = byte * 0x0101010101010101ULL;
	u32 word;

	while (from % sizeof(u64)) {
		if (data[from] != byte)
			return from;
		from++;
	}
	for (word = from / sizeof(u64); word < TW_SECTOR_WORDS; word++)
		if (words[word] != same)
			break;
	for (from = word * sizeof(u64); from < TW_SECTOR_BYTES; from++)
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
static u32 tw_pattern_entry(const u8 *data)
{
	u8 first = data[0], last = data[TW_SECTOR_BYTES - 1], step;
	u32 cut = tw_first_other(data, 0, first);

	if (cut == TW_SECTOR_BYTES)
		return first ? TW_PATTERN | (u32)last << 8 | first : 0;
	step = (u8)(data[cut] - first);
	if (step > 63)
		return tw_first_other(data, cut, last) != TW_SECTOR_BYTES ? 1 :
		       TW_PATTERN | (cut - 1) << 16 | (u32)last << 8 | first;
	if (cut + 1 < TW_SECTOR_BYTES && tw_first_other(data, cut + 1, last) != TW_SECTOR_BYTES)
		return 1;
	return TW_PATTERN | (u32)step << 25 | cut << 16 | (u32)last << 8 | first;
}

static void tw_pattern_expand(u32 entry, u8 *data)
{
	u8 first = (u8)entry, last = (u8)(entry >> 8);
	u32 cut = entry >> 16 & 511, step = entry >> 25 & 63;

	tw_fill(data, first, cut);
	data[cut] = (u8)(first + step);
	tw_fill(data + cut + 1, last, TW_SECTOR_BYTES - 1 - cut);
}

/* Return: the entry's place, its leaf made if need be; NULL when the pool is exhausted. */
static u32 *tw_make_entry(struct tw_store *store, u64 lba, struct tw_node_entry **node)
{
	u32 *top = tw_top(store, lba);

	if (!*top)
		*top = tw_take_index_page(store);
	if (!*top)
		return NULL;
	*node = tw_node(store, lba);
	if (!(*node)->leaf)
		(*node)->leaf = tw_take_index_page(store);
	if (!(*node)->leaf)
		return NULL;
	return (u32 *)tw_page(store, (*node)->leaf) + lba % TW_LEAF_SECTORS;
}

static bool tw_is_slot(u32 entry)
{
	return entry && !(entry & TW_PATTERN);
}

static void tw_write_zero(struct tw_store *store, u64 lba)
{
	struct tw_node_entry *node = tw_node(store, lba);
	u32 *entry;

	if (!node || !node->leaf)
		return;
	entry = (u32 *)tw_page(store, node->leaf) + lba % TW_LEAF_SECTORS;
	if (!*entry)
		return;
	if (tw_is_slot(*entry))
		tw_give_slot(store, *entry);
	*entry = 0;
	if (--node->live)
		return;
	tw_give_page(store, node->leaf);
	store->index_pages--;
	node->leaf = 0;
}

static bool tw_write_sector(struct tw_store *store, u64 lba, const u8 *data)
{
	struct tw_node_entry *node;
	u32 pattern = tw_pattern_entry(data), *entry, slot;

	if (!pattern) {
		tw_write_zero(store, lba);
		return true;
	}
	entry = tw_make_entry(store, lba, &node);
	if (!entry)
		return false;
	if (pattern & TW_PATTERN) {
		if (tw_is_slot(*entry))
			tw_give_slot(store, *entry);
		node->live += !*entry;
		*entry = pattern;
		return true;
	}
	slot = tw_is_slot(*entry) ? *entry : tw_take_slot(store);
	if (!slot)
		return false;
	node->live += !*entry;
	*entry = slot;
	tw_copy(tw_slot(store, slot), data, TW_SECTOR_BYTES);
	return true;
}

bool tw_store_create(struct tw_store *store, u64 sectors, u32 mib, tw_alloc_chunk_fn alloc,
		     void *host)
{
	u64 nodes = (sectors + TW_NODE_SECTORS - 1) / TW_NODE_SECTORS;
	u32 page;

	tw_fill(store, 0, sizeof(*store));
	if (!tw_arena_create(&store->pool, TW_PAGE_BYTES, (u64)mib << 20 >> 12, alloc, host))
		return false;
	store->sectors = sectors;
	store->nr_pages = store->pool.nr_chunks * store->pool.per_chunk;
	store->top_pages = (u32)((nodes + TW_LEAF_SECTORS - 1) / TW_LEAF_SECTORS);
	store->next_page = store->top_pages;
	if (store->top_pages >= store->nr_pages)
		return false;
	for (page = 0; page < store->top_pages; page++)
		tw_fill(tw_page(store, page), 0, TW_PAGE_BYTES);
	return true;
}

u32 tw_store_zero_run(const struct tw_store *store, u64 lba, u32 max)
{
	const struct tw_node_entry *node;
	const u32 *leaf;
	u64 run = 0;
	u32 at;

	while (run < max) {
		at = (lba + run) % TW_LEAF_SECTORS;
		node = tw_node(store, lba + run);
		if (!node || !node->leaf) {
			run += TW_LEAF_SECTORS - at;
			continue;
		}
		leaf = tw_page(store, node->leaf);
		for (; at < TW_LEAF_SECTORS && run < max; at++, run++)
			if (leaf[at])
				return (u32)run;
	}
	return max;
}

void tw_store_read(const struct tw_store *store, u64 lba, u32 sectors, void *data)
{
	u8 *to = data;
	u32 entry;

	for (; sectors; sectors--, lba++, to += TW_SECTOR_BYTES) {
		entry = tw_entry(store, lba);
		if (!entry)
			tw_fill(to, 0, TW_SECTOR_BYTES);
		else if (entry & TW_PATTERN)
			tw_pattern_expand(entry, to);
		else
			tw_copy(to, tw_slot(store, entry), TW_SECTOR_BYTES);
	}
}

bool tw_store_write(struct tw_store *store, u64 lba, u32 sectors, const void *data)
{
	const u8 *from = data;

	for (; sectors; sectors--, lba++, from += TW_SECTOR_BYTES)
		if (!tw_write_sector(store, lba, from))
			return false;
	return true;
}

u64 tw_store_used_bytes(const struct tw_store *store)
{
	return (u64)(store->top_pages + store->index_pages) * TW_PAGE_BYTES +
	       (u64)store->slots * TW_SECTOR_BYTES;
}

u64 tw_store_limit_bytes(const struct tw_store *store)
{
	return (u64)store->nr_pages * TW_PAGE_BYTES;
}
