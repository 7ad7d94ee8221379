// SPDX-License-Identifier: GPL-2.0-or-later

/* Requests or bios of a trace that have begun and not ended. */

#include "import/import.h"

#include <stdlib.h>

#define SECTOR_SHIFT	9
/* Few are in flight at a time: list heads that fit into the cache are better than short lists. */
#define HASH_BITS	(BLKTRACE_IN_FLIGHT < 1024 ? 4 : 12)
#define HASH_SIZE	(1U << HASH_BITS)
#define NONE		UINT32_MAX

/*
 * At most this many requests of one hash are searched. To exceed it, as many commands without a sector must be in
 * flight at the same time; then an end counts as unmatched.
 */
#define SEARCH_MAX	1024

/* A request in its two lists. */
struct slot {
	struct blktrace_request request;
	uint32_t next;	/* the next one of the same hash, issued later; for an unused slot, the next unused one */
	uint32_t older;	/* issued before it, with any hash */
	uint32_t newer;	/* issued after it */
};

/* First and last issued request of a hash; none when @first is NONE. */
struct head {
	uint32_t first;
	uint32_t last;
};

struct blktrace_inflight {
	struct slot slots[BLKTRACE_IN_FLIGHT];
	uint32_t used;		/* slots that have been used */
	uint32_t unused;	/* first of the slots that are free again */
	uint32_t oldest;
	uint32_t newest;
	struct head heads[HASH_SIZE];
};

struct blktrace_inflight *blktrace_inflight_new(void)
{
	struct blktrace_inflight *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	m->used = 0;
	m->unused = NONE;
	m->oldest = NONE;
	m->newest = NONE;
	for (uint32_t i = 0; i < HASH_SIZE; i++)
		m->heads[i].first = NONE;
	return m;
}

void blktrace_inflight_free(struct blktrace_inflight *m)
{
	free(m);
}

static uint32_t hash_of(const struct blktrace_request *r)
{
	uint64_t key = r->sector ^ ((uint64_t)r->device << 48) ^
		       ((uint64_t)r->direction << 60) ^ r->write;

	return (uint32_t)((key * 0x9e3779b97f4a7c15U) >> (64 - HASH_BITS));
}

static bool is_same_begin(const struct blktrace_request *a,
			  const struct blktrace_request *b)
{
	return a->sector == b->sector && a->device == b->device &&
	       a->direction == b->direction && a->write == b->write;
}

/* Append a slot to the list of its hash. */
static void hash_add(struct blktrace_inflight *m, uint32_t i)
{
	uint32_t hash = hash_of(&m->slots[i].request);

	m->slots[i].next = NONE;
	if (m->heads[hash].first == NONE)
		m->heads[hash].first = i;
	else
		m->slots[m->heads[hash].last].next = i;
	m->heads[hash].last = i;
}

/* Remove a slot from the list of its hash. @before is NONE for the first. */
static void hash_remove(struct blktrace_inflight *m, uint32_t i,
			uint32_t before)
{
	uint32_t hash = hash_of(&m->slots[i].request);

	if (before == NONE)
		m->heads[hash].first = m->slots[i].next;
	else
		m->slots[before].next = m->slots[i].next;
	if (m->heads[hash].last == i)
		m->heads[hash].last = before;
}

static void age_add(struct blktrace_inflight *m, uint32_t i)
{
	m->slots[i].older = m->newest;
	m->slots[i].newer = NONE;
	if (m->newest == NONE)
		m->oldest = i;
	else
		m->slots[m->newest].newer = i;
	m->newest = i;
}

static void release(struct blktrace_inflight *m, uint32_t i)
{
	struct slot *slot = &m->slots[i];

	if (slot->older == NONE)
		m->oldest = slot->newer;
	else
		m->slots[slot->older].newer = slot->newer;
	if (slot->newer == NONE)
		m->newest = slot->older;
	else
		m->slots[slot->newer].older = slot->older;
	slot->next = m->unused;
	m->unused = i;
}

/* The oldest of all is the first of its hash, unless it was shortened meanwhile. */
static void give_up(struct blktrace_inflight *m, struct blktrace_request *ret)
{
	uint32_t i = m->oldest, before = NONE;
	uint32_t at = m->heads[hash_of(&m->slots[i].request)].first;

	for (; at != i; at = m->slots[at].next)
		before = at;
	*ret = m->slots[i].request;
	hash_remove(m, i, before);
	release(m, i);
}

bool blktrace_inflight_add(struct blktrace_inflight *m,
			   const struct blktrace_request *request,
			   struct blktrace_request *given_up)
{
	bool full = m->unused == NONE && m->used == BLKTRACE_IN_FLIGHT;
	uint32_t i;

	if (full)
		give_up(m, given_up);
	if (m->unused != NONE) {
		i = m->unused;
		m->unused = m->slots[i].next;
	} else {
		i = m->used++;
	}
	m->slots[i].request = *request;
	hash_add(m, i);
	age_add(m, i);
	return full;
}

/* A slot, or NONE, and the previous one of its hash. */
struct position {
	uint32_t i;
	uint32_t before;
};

static struct position find(const struct blktrace_inflight *m,
			    const struct blktrace_request *like, bool partial)
{
	struct position longer = { NONE, NONE };
	uint32_t i = m->heads[hash_of(like)].first, before = NONE;

	for (int n = 0; i != NONE && n < SEARCH_MAX; n++) {
		const struct blktrace_request *r = &m->slots[i].request;

		if (is_same_begin(r, like)) {
			if (r->bytes == like->bytes)
				return (struct position){ i, before };
			if (partial && longer.i == NONE &&
			    r->bytes > like->bytes)
				longer = (struct position){ i, before };
		}
		before = i;
		i = m->slots[i].next;
	}
	return longer;
}

int blktrace_inflight_end(struct blktrace_inflight *m,
			  const struct blktrace_request *like, bool partial,
			  struct blktrace_request *ret)
{
	struct position at = find(m, like, partial);
	struct blktrace_request *request;

	if (at.i == NONE)
		return 0;
	request = &m->slots[at.i].request;
	*ret = *request;
	hash_remove(m, at.i, at.before);
	if (request->bytes == like->bytes) {
		release(m, at.i);
		return 1;
	}
	request->bytes -= like->bytes;
	request->sector += like->bytes >> SECTOR_SHIFT;
	hash_add(m, at.i);
	return 2;
}

bool blktrace_inflight_take(struct blktrace_inflight *m,
			    const struct blktrace_request *like,
			    struct blktrace_request *ret)
{
	uint32_t i = m->heads[hash_of(like)].first, before = NONE;

	for (int n = 0; i != NONE && n < SEARCH_MAX; n++) {
		const struct blktrace_request *r = &m->slots[i].request;

		if (is_same_begin(r, like) && r->bytes <= like->bytes) {
			*ret = *r;
			hash_remove(m, i, before);
			release(m, i);
			return true;
		}
		before = i;
		i = m->slots[i].next;
	}
	return false;
}

void blktrace_inflight_each(const struct blktrace_inflight *m,
			    void (*each)(void *data, const struct blktrace_request *request),
			    void *data)
{
	for (uint32_t i = m->oldest; i != NONE; i = m->slots[i].newer)
		each(data, &m->slots[i].request);
}
