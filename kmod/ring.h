/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the handlers of one CPU write down the events of one disk.
 *
 * One CPU writes, with interrupts off from the reading of the clock to the
 * publication: the times in a ring only grow. The holder of the probe's lock
 * reads. A writer whose ring is half full takes events out of all rings itself, a
 * bounded number at a time: nothing is lost.
 */
#ifndef RAIDTRACE_RING_H
#define RAIDTRACE_RING_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "engine.h"

struct raidtrace_probe;

/**
 * struct raidtrace_ring - events of one disk on one CPU
 * @words: of the records, and as many more as the longest record reaches beyond the end
 * @mask: number of words, a power of two, less one
 * @limit: where the writer has to look again whether there is room
 * @head: what is before it is written, in words
 * @task: whose events are written; so that a task is written down once
 * @tail: what is before it was taken
 * @source: what the engine knows of the writer
 */
struct raidtrace_ring {
	u64 *words;
	u32 mask;
	u32 limit;
	u32 head;
	struct raidtrace_task task;

	u32 tail ____cacheline_aligned_in_smp;
	struct raidtrace_source source;
};

/**
 * struct raidtrace_drain - a ring while events are taken out
 * @time: of the record at @tail
 * @ring: the ring
 * @tail: how far it is taken
 * @head: how far it was written when that began
 */
struct raidtrace_drain {
	u64 time;
	struct raidtrace_ring *ring;
	u32 tail;
	u32 head;
};

int raidtrace_rings_alloc(struct raidtrace_probe *probe);
void raidtrace_rings_free(struct raidtrace_probe *probe);
u64 raidtrace_rings_catch_up(struct raidtrace_probe *probe);
int raidtrace_rings_init(void);
void raidtrace_rings_exit(void);

void raidtrace_ring_make_room(struct raidtrace_probe *probe, struct raidtrace_ring *ring);

/* Where this CPU's next record goes. Context: interrupts off until raidtrace_ring_publish(). */
static __always_inline u64 *raidtrace_ring_next(struct raidtrace_probe *probe,
						struct raidtrace_ring *ring)
{
	if (unlikely((s32)(ring->head - ring->limit) >= 0))
		raidtrace_ring_make_room(probe, ring);
	return ring->words + (ring->head & ring->mask);
}

static __always_inline void raidtrace_ring_publish(struct raidtrace_ring *ring,
						   enum raidtrace_event kind)
{
	/* A reader that observes the new head also observes the record. */
	smp_store_release(&ring->head, ring->head + raidtrace_event_words(kind));
}

#endif /* RAIDTRACE_RING_H */
