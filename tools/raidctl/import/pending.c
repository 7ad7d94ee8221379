// SPDX-License-Identifier: GPL-2.0-or-later

/* Bios and requests of a disk that a trace has begun and not ended. */

#include "import/import.h"

#include <stdlib.h>

#define SECTOR_SHIFT	9
/* Few are in flight at a time: list heads that fit into the cache are better than short lists. */
#define HASH_BITS	(BLKTRACE_IN_FLIGHT < 1024 ? 4 : 12)

/*
 * At most this many items of one hash are searched. To exceed it, as many commands without a sector must be in flight
 * at the same time; then an end counts as unmatched.
 */
#define SEARCH_MAX	1024

/* Items are in lists by the hash of their begin and, in some stages, of their end: that with the earliest first. */
enum by { BEGIN, END, BYS };

struct links {
	uint32_t before;
	uint32_t next;
};

/* A place, 0 for none. All are in one list by age; free ones are in a list by their next[BEGIN]. */
struct slot {
	struct blktrace_item item;
	struct links by[BYS];
	struct links age;
};

struct list {
	uint32_t first;
	uint32_t last;
};

struct blktrace_pool {
	struct list by[BYS][1 << HASH_BITS];
	struct list age;
	uint32_t used;	/* places that have been used */
	uint32_t free;	/* first of those that are free again */
	struct slot slots[BLKTRACE_IN_FLIGHT + 1];
};

struct blktrace_pool *blktrace_pool_new(void)
{
	return calloc(1, sizeof(struct blktrace_pool));
}

void blktrace_pool_free(struct blktrace_pool *pool)
{
	free(pool);
}

uint64_t blktrace_item_end(const struct blktrace_item *item)
{
	return item->sector + (item->bytes >> SECTOR_SHIFT);
}

uint32_t blktrace_pool_used(const struct blktrace_pool *pool)
{
	return pool->used;
}

static uint64_t key_of(const struct blktrace_item *item, enum by by)
{
	return by == BEGIN ? item->sector : blktrace_item_end(item);
}

static bool has_end(const struct blktrace_item *item)
{
	return item->stage == BLKTRACE_INSERTED || item->stage == BLKTRACE_FLUSHING;
}

static uint32_t hash_of(const struct blktrace_item *item, uint64_t sector)
{
	uint64_t key = sector ^ ((uint64_t)item->direction << 60) ^ ((uint64_t)item->stage << 56) ^ item->write;

	return (uint32_t)((key * 0x9e3779b97f4a7c15U) >> (64 - HASH_BITS));
}

static struct links *links_of(struct blktrace_pool *pool, uint32_t place, enum by by)
{
	return by == BYS ? &pool->slots[place].age : &pool->slots[place].by[by];
}

static void append(struct blktrace_pool *pool, struct list *list, uint32_t place, enum by by)
{
	*links_of(pool, place, by) = (struct links){ .before = list->last };
	if (list->last)
		links_of(pool, list->last, by)->next = place;
	else
		list->first = place;
	list->last = place;
}

static void take_out(struct blktrace_pool *pool, struct list *list, uint32_t place, enum by by)
{
	const struct links *links = links_of(pool, place, by);

	*(links->before ? &links_of(pool, links->before, by)->next : &list->first) = links->next;
	*(links->next ? &links_of(pool, links->next, by)->before : &list->last) = links->before;
}

static void each_list(struct blktrace_pool *pool, uint32_t place,
		      void (*change)(struct blktrace_pool *, struct list *, uint32_t, enum by))
{
	const struct blktrace_item *item = &pool->slots[place].item;

	for (enum by by = BEGIN; by < (has_end(item) ? BYS : END); by++)
		change(pool, &pool->by[by][hash_of(item, key_of(item, by))], place, by);
}

const struct blktrace_item *blktrace_pool_at(const struct blktrace_pool *pool, uint32_t place)
{
	return &pool->slots[place].item;
}

void blktrace_pool_set(struct blktrace_pool *pool, uint32_t place, const struct blktrace_item *item)
{
	each_list(pool, place, take_out);
	pool->slots[place].item = *item;
	each_list(pool, place, append);
}

void blktrace_pool_remove(struct blktrace_pool *pool, uint32_t place)
{
	each_list(pool, place, take_out);
	take_out(pool, &pool->age, place, BYS);
	pool->slots[place].item.stage = BLKTRACE_FREE;
	pool->slots[place].age.next = pool->free;
	pool->free = place;
}

uint32_t blktrace_pool_add(struct blktrace_pool *pool, const struct blktrace_item *item,
			   struct blktrace_item *dropped)
{
	uint32_t place;

	if (!pool->free && pool->used == BLKTRACE_IN_FLIGHT) {
		*dropped = pool->slots[pool->age.first].item;
		blktrace_pool_remove(pool, pool->age.first);
	}
	place = pool->free;
	if (place)
		pool->free = pool->slots[place].age.next;
	else
		place = ++pool->used;
	pool->slots[place].item = *item;
	append(pool, &pool->age, place, BYS);
	each_list(pool, place, append);
	return place;
}

static bool is_at(const struct blktrace_item *item, const struct blktrace_item *like, enum by by)
{
	return key_of(item, by) == like->sector && item->stage == like->stage && item->direction == like->direction &&
	       item->write == like->write;
}

uint32_t blktrace_pool_find(const struct blktrace_pool *pool, const struct blktrace_item *like, enum blktrace_fit fit)
{
	uint32_t place = pool->by[BEGIN][hash_of(like, like->sector)].first, longer = 0;

	for (int n = 0; place && n < SEARCH_MAX; n++, place = pool->slots[place].by[BEGIN].next) {
		const struct blktrace_item *item = &pool->slots[place].item;

		if (!is_at(item, like, BEGIN))
			continue;
		if (item->bytes == like->bytes || (fit == BLKTRACE_AT_MOST && item->bytes < like->bytes))
			return place;
		if (!longer && fit == BLKTRACE_SAME_OR_MORE && item->bytes > like->bytes)
			longer = place;
	}
	return longer;
}

uint32_t blktrace_pool_behind(const struct blktrace_pool *pool, const struct blktrace_item *like)
{
	uint32_t place = pool->by[END][hash_of(like, like->sector)].first;

	for (int n = 0; place && n < SEARCH_MAX; n++, place = pool->slots[place].by[END].next)
		if (is_at(&pool->slots[place].item, like, END))
			return place;
	return 0;
}
