// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the events in the rings of a disk in order of time.
 *
 * The clock is read before the heads: each event until that time, and each that it depends on, is
 * behind a head that is observed. An event that was being written meanwhile is late.
 */
#include "ring.h"
#include "probe.h"

#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#define RINGS_BYTES	SZ_4M
#define RING_BYTES_MIN	SZ_8K
#define RING_BYTES_MAX	SZ_128K

/* Events that a reader counts with interrupts off. */
#define TURN		(IS_ENABLED(CONFIG_PREEMPT_RT) ? 32 : 256)

/*
 * If its ring is half full, a writer counts WRITER_TURN events for every WRITER_STEP words that it
 * writes. With an event per CPU and word, all rings are empty before the second half of one is
 * written.
 */
#define WRITER_STEP	4U
#define WRITER_TURN	(WRITER_STEP * num_possible_cpus())

static struct workqueue_struct *queue;

static u64 *record_at(const struct raidtrace_ring *ring, u32 at)
{
	return ring->words + (at & ring->mask);
}

/* Read the heads of all rings, and make a heap of those that have events. */
static void rings_collect(struct raidtrace_probe *probe)
{
	struct raidtrace_next *heap = probe->heap;
	unsigned int nr = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

		/* Records before the head are complete. */
		ring->source.end = smp_load_acquire(&ring->head);
		if (ring->source.end == ring->source.tail)
			continue;
		heap[nr++] = (struct raidtrace_next){
			.time = *record_at(ring, ring->source.tail), .source = &ring->source,
		};
	}
	raidtrace_heap_build(heap, nr);
	probe->nr_heap = nr;
}

/* Discard records that were written after counting ended. */
static void rings_discard(struct raidtrace_probe *probe)
{
	unsigned int i;

	rings_collect(probe);
	for (i = 0; i < probe->nr_heap; i++)
		/* The words before the tail may be written again. */
		smp_store_release(&probe->heap[i].source->tail, probe->heap[i].source->end);
	probe->nr_heap = 0;
}

/* Count events of the heap until @until, *@left at most, which is decremented. */
static void heap_count(struct raidtrace_probe *probe, u64 until, unsigned int *left)
{
	probe->nr_heap = raidtrace_engine_count(&probe->engine, probe->heap, probe->nr_heap, until,
						left);
}

/*
 * Count events until @until and until counting ended, @left at most. Returns whether there may be
 * more. Context: the probe's lock, interrupts off.
 *
 * The caller read @until before this call, so that all events until then are before the heads that
 * are read here. The heap of an earlier turn is counted first, up to the time of its heads.
 */
static bool rings_count(struct raidtrace_probe *probe, u64 until, unsigned int left)
{
	if (probe->stopped_ns)
		until = min(until, probe->stopped_ns);
	heap_count(probe, min(until, probe->until), &left);
	if (left) {
		rings_collect(probe);
		probe->until = until;
		heap_count(probe, until, &left);
	}
	WRITE_ONCE(probe->turns, probe->turns + 1);
	if (!left)
		return true;
	if (probe->stopped_ns)
		rings_discard(probe);
	return false;
}

/*
 * Count all events until this call, and return its time, CLOCK_MONOTONIC. Context: process;
 * interrupts are off for some hundred events at a time.
 */
u64 raidtrace_rings_catch_up(struct raidtrace_probe *probe)
{
	u64 until = ktime_get_ns();
	unsigned long flags;
	bool more;

	do {
		raw_spin_lock_irqsave(&probe->lock, flags);
		more = rings_count(probe, until, TURN);
		raw_spin_unlock_irqrestore(&probe->lock, flags);
	} while (more);
	return until;
}

static void on_quarter_full(struct work_struct *work)
{
	raidtrace_rings_catch_up(container_of(work, struct raidtrace_probe, catch_up));
}

/* Count a turn of events, unless another CPU does while this one waits. Context: interrupts off. */
static void ring_writer_turn(struct raidtrace_probe *probe)
{
	u32 turns = READ_ONCE(probe->turns);

	raw_spin_lock(&probe->lock);
	if (probe->turns == turns)
		rings_count(probe, ktime_get_ns(), WRITER_TURN);
	raw_spin_unlock(&probe->lock);
}

static u32 fill_of(const struct raidtrace_ring *ring)
{
	/* Words before the tail were read. */
	return ring->head - smp_load_acquire(&ring->source.tail);
}

/*
 * Count a turn of events for a full ring. If nothing is left until now and it is still full, its
 * times are ahead of the clock, as on hardware whose clock steps back: then its oldest records
 * count now. Context: interrupts off.
 */
static void ring_empty_full(struct raidtrace_probe *probe, struct raidtrace_ring *ring, u32 most)
{
	struct raidtrace_source *source = &ring->source;
	unsigned int nr = WRITER_TURN;
	u64 now;

	raw_spin_lock(&probe->lock);
	now = ktime_get_ns();
	if (fill_of(ring) > most && !rings_count(probe, now, nr)) {
		source->end = ring->head;
		for (; nr && fill_of(ring) > most; nr--) {
			unsigned int one = 1;

			*record_at(ring, source->tail) = now;
			probe->heap[0] = (struct raidtrace_next){ now, source };
			raidtrace_heap_build(probe->heap, 1);
			raidtrace_engine_count(&probe->engine, probe->heap, 1, now, &one);
		}
		probe->nr_heap = 0;
	}
	raw_spin_unlock(&probe->lock);
}

/*
 * Make room for the writer of a ring that reached its limit. A quarter full: call a worker. Half
 * full: the worker is late, count some events. Full: count events until there is room. Context:
 * interrupts off.
 */
void raidtrace_ring_make_room(struct raidtrace_probe *probe, struct raidtrace_ring *ring)
{
	const u32 words = ring->mask + 1, most = words - RAIDTRACE_EVENT_WORDS;
	u32 fill = fill_of(ring);

	if (fill >= words / 4)
		queue_work_node(probe->node, queue, &probe->catch_up);
	if (fill >= words / 2)
		ring_writer_turn(probe);
	while (fill_of(ring) > most)
		ring_empty_full(probe, ring, most);
	fill = fill_of(ring);
	if (fill < words / 4)
		ring->limit = ring->head + words / 4 - fill;
	else if (fill < words / 2)
		ring->limit = ring->head + words / 2 - fill;
	else
		ring->limit = ring->head + min(WRITER_STEP, most + 1 - fill);
}

static u32 words_of_ring(void)
{
	u32 bytes = rounddown_pow_of_two(RINGS_BYTES / num_possible_cpus());

	return clamp_t(u32, bytes, RING_BYTES_MIN, RING_BYTES_MAX) / sizeof(u64);
}

static size_t ring_size(const struct raidtrace_ring *ring)
{
	return (ring->mask + 1 + RAIDTRACE_EVENT_WORDS) * sizeof(u64);
}

/*
 * Allocate a ring for each possible CPU. Returns 0 or -ENOMEM; raidtrace_rings_free() follows in
 * both cases.
 */
int raidtrace_rings_alloc(struct raidtrace_probe *probe)
{
	u32 words = words_of_ring();
	int cpu;

	INIT_WORK(&probe->catch_up, on_quarter_full);
	probe->heap = kvcalloc(num_possible_cpus() + 2, sizeof(*probe->heap), RAIDTRACE_GFP);
	probe->ring = alloc_percpu(struct raidtrace_ring);
	if (!probe->heap || !probe->ring)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

		ring->mask = words - 1;
		ring->words = raidtrace_pages_alloc(ring_size(ring), cpu_to_node(cpu));
		if (!ring->words)
			return -ENOMEM;
		ring->source.words = ring->words;
		ring->source.mask = words - 1;
		ring->limit = words / 4;
		ring->source.cpu = (struct raidtrace_cpu){
			.number = cpu, .node = cpu_to_node(cpu),
		};
		ring->task.pid = ~0U;	/* no task */
	}
	return 0;
}

/* Free the rings when no handler finds the probe. Context: may sleep. */
void raidtrace_rings_free(struct raidtrace_probe *probe)
{
	int cpu;

	if (probe->ring) {
		cancel_work_sync(&probe->catch_up);
		for_each_possible_cpu(cpu)
			raidtrace_pages_free(per_cpu_ptr(probe->ring, cpu)->words,
					     ring_size(per_cpu_ptr(probe->ring, cpu)));
	}
	free_percpu(probe->ring);
	kvfree(probe->heap);
}

/* Returns 0 or -ENOMEM. */
int raidtrace_rings_init(void)
{
	queue = alloc_workqueue("raidtrace", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

void raidtrace_rings_exit(void)
{
	destroy_workqueue(queue);
}
