/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of times, earliest first. */
#ifndef RL_HEAP_H
#define RL_HEAP_H

#include "types.h"

/**
 * struct rl_moment - an entry of the queue
 * @ns: the time
 * @order: decides between equal times, the smaller first; the rest of it is the owner's
 */
struct rl_moment {
	u64 ns;
	u64 order;
};

/**
 * struct rl_heap - the queue
 * @moment: a binary heap; the owner provides the memory, and never adds more than fit
 * @count: entries in use
 */
struct rl_heap {
	struct rl_moment *moment;
	u32 count;
};

void rl_heap_add(struct rl_heap *heap, u64 ns, u64 order);

/* Remove the earliest and return it; there must be one. */
struct rl_moment rl_heap_take(struct rl_heap *heap);

/* Return: the earliest time, RL_NEVER if the queue is empty. */
static inline u64 rl_heap_first_ns(const struct rl_heap *heap)
{
	return heap->count ? heap->moment[0].ns : RL_NEVER;
}

#endif
