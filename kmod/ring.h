/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rings of events, one for each CPU and disk. The CPU writes with interrupts off from the reading
 * of the clock to the publication, so the times in a ring only grow. The holder of the probe's lock
 * reads. If the reader is late, a writer counts a bounded number of events of all rings itself:
 * nothing is lost.
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
 * struct raidtrace_ring - events of a disk on a CPU
 * @words: records, and room for one that reaches beyond the end
 * @mask: number of words, a power of two, less one
 * @limit: head at which the writer checks for room
 * @help: words in the ring with which its writer begins to count; with half of them a worker does
 * @head: end of the written words
 * @task: task of the last events, so that it is written once
 * @source: the engine's view of the ring
 */
struct raidtrace_ring {
	u64 *words;
	u32 mask;
	u32 limit;
	u32 help;
	u32 head;
	struct raidtrace_task task;

	struct raidtrace_source source ____cacheline_aligned_in_smp;
};

int raidtrace_rings_alloc(struct raidtrace_probe *probe);
void raidtrace_rings_free(struct raidtrace_probe *probe);
u64 raidtrace_rings_catch_up(struct raidtrace_probe *probe);
int raidtrace_rings_init(void);
void raidtrace_rings_exit(void);

void raidtrace_ring_make_room(struct raidtrace_probe *probe, struct raidtrace_ring *ring);

/*
 * This CPU's next record, with its time, @now_ns or 0 for now. The clock is read after room was made,
 * because that may count later events of other rings. Context: interrupts off until
 * raidtrace_ring_publish().
 */
static __always_inline u64 *raidtrace_ring_next(struct raidtrace_probe *probe,
						struct raidtrace_ring *ring, u64 now_ns)
{
	u64 *record;

	if (unlikely((s32)(ring->head - ring->limit) >= 0)) {
		raidtrace_ring_make_room(probe, ring);
		now_ns = 0;
	}
	now_ns = now_ns ?: ktime_get_ns();
	record = ring->words + (ring->head & ring->mask);
	record[0] = now_ns;
	return record;
}

static __always_inline void raidtrace_ring_publish(struct raidtrace_ring *ring,
						   enum raidtrace_event kind)
{
	/* A reader that observes the new head also observes the record. */
	smp_store_release(&ring->head, ring->head + raidtrace_event_words(kind));
}

#endif /* RAIDTRACE_RING_H */
