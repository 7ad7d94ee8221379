// SPDX-License-Identifier: GPL-2.0-or-later
/* A binary heap of times. */
#include "base.h"

static bool rl_is_before(const struct rl_moment *a, const struct rl_moment *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->order < b->order;
}

void rl_heap_add(struct rl_heap *heap, u64 ns, u64 order)
{
	struct rl_moment new = { ns, order };
	u32 at = heap->count++, parent;

	for (; at; at = parent) {
		parent = (at - 1) / 2;
		if (!rl_is_before(&new, &heap->moment[parent]))
			break;
		heap->moment[at] = heap->moment[parent];
	}
	heap->moment[at] = new;
}

struct rl_moment rl_heap_take(struct rl_heap *heap)
{
	struct rl_moment first = heap->moment[0], last = heap->moment[--heap->count];
	u32 at = 0, child;

	for (; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count &&
		    rl_is_before(&heap->moment[child + 1], &heap->moment[child]))
			child++;
		if (!rl_is_before(&heap->moment[child], &last))
			break;
		heap->moment[at] = heap->moment[child];
	}
	heap->moment[at] = last;
	return first;
}
