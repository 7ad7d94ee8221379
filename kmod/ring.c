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

/* Events that are counted, and rings that are looked at, with the lock held: some 20 us. */
#define TURN		(IS_ENABLED(CONFIG_PREEMPT_RT) ? 32U : 256U)
#define TURN_RINGS	64U

/* Words that a writer writes between two turns of counting. */
#define WRITER_STEP	4U

/* Events that all writers can write between two turns of each. */
#define STEP_OF_ALL	(WRITER_STEP * num_possible_cpus())

/* Events that a writer counts in a turn. */
#define WRITER_TURN	min(STEP_OF_ALL, TURN)

static struct workqueue_struct *queue;

static u64 *record_at(const struct raidtrace_ring *ring, u32 at)
{
	return ring->words + (at & ring->mask);
}

/* Whether the heap lacks rings: it must not be counted then. */
static bool rings_left(const struct raidtrace_probe *probe)
{
	return probe->next_cpu < nr_cpu_ids;
}

/*
 * Begin to read the heads of all rings. The caller read @until before, so that all events until then
 * are before the heads. All events until @counted_ns were counted.
 */
static void rings_begin(struct raidtrace_probe *probe, u64 until, u64 counted_ns)
{
	probe->counted_ns = counted_ns;
	probe->until = until;
	probe->nr_heap = 0;
	probe->next_cpu = cpumask_first(cpu_possible_mask);
}

/* Read the heads of the next rings, and add those that have events to the heap. */
static void rings_collect(struct raidtrace_probe *probe)
{
	unsigned int nr = TURN_RINGS;

	for (; rings_left(probe) && nr; nr--) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, probe->next_cpu);

		/* Records before the head are complete. */
		ring->source.end = smp_load_acquire(&ring->head);
		/* A CPU that was offline at attach may have come online on another node. */
		ring->source.cpu.node = cpu_to_node(probe->next_cpu);
		if (ring->source.end != ring->source.tail)
			raidtrace_heap_add(probe->heap, probe->nr_heap++,
					   *record_at(ring, ring->source.tail), &ring->source);
		probe->next_cpu = cpumask_next(probe->next_cpu, cpu_possible_mask);
	}
}

/* Discard records that were written after counting ended. Returns whether there may be more. */
static bool heap_discard(struct raidtrace_probe *probe)
{
	unsigned int nr = TURN_RINGS;

	for (; probe->nr_heap && nr; nr--) {
		struct raidtrace_next *last = &probe->heap[--probe->nr_heap];

		/* The words before the tail may be written again. */
		smp_store_release(&last->source->tail, last->source->end);
		last->time = U64_MAX;
	}
	return probe->nr_heap;
}

/* Count events of the heap until @until, *@left at most, which is decremented. */
static void heap_count(struct raidtrace_probe *probe, u64 until, unsigned int *left)
{
	probe->nr_heap = raidtrace_engine_count(&probe->engine, probe->heap, probe->nr_heap, until,
						left);
}

/*
 * Count events until @until and until counting ended, *@left at most, which is decremented. Returns
 * whether there may be more. Context: the probe's lock, interrupts off.
 *
 * The caller read @until before this call. The heap of an earlier turn is counted first, up to the
 * time of its heads. Then the heads are read, TURN_RINGS of them in a turn: a turn may count nothing.
 */
static bool rings_turn(struct raidtrace_probe *probe, u64 until, unsigned int *left)
{
	if (probe->stopped_ns)
		until = min(until, probe->stopped_ns);
	if (!rings_left(probe)) {
		u64 now = min(until, probe->until);

		heap_count(probe, now, left);
		if (!*left)
			return true;
		rings_begin(probe, until, now);
	}
	rings_collect(probe);
	if (rings_left(probe))
		return probe->counted_ns < until;
	heap_count(probe, min(until, probe->until), left);
	if (!*left || probe->until < until)
		return true;
	return probe->stopped_ns && heap_discard(probe);
}

/* The same for @most events. If nothing is left, no writer that waits for the lock needs a turn. */
static bool rings_count(struct raidtrace_probe *probe, u64 until, unsigned int most)
{
	unsigned int left = most;
	bool more = rings_turn(probe, until, &left);

	WRITE_ONCE(probe->counted, probe->counted + (more ? most - left : STEP_OF_ALL));
	return more;
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

static void on_late(struct work_struct *work)
{
	raidtrace_rings_catch_up(container_of(work, struct raidtrace_probe, catch_up));
}

/*
 * Count a turn of events, unless other CPUs count as many as all writers write while this one waits.
 * Context: interrupts off.
 */
static void ring_writer_turn(struct raidtrace_probe *probe)
{
	u32 counted = READ_ONCE(probe->counted);

	raw_spin_lock(&probe->lock);
	if (probe->counted - counted < STEP_OF_ALL)
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
			raidtrace_heap_add(probe->heap, 0, now, source);
			raidtrace_engine_count(&probe->engine, probe->heap, 1, now, &one);
		}
		/* The heap is lost. */
		probe->nr_heap = 0;
		probe->until = 0;
	}
	raw_spin_unlock(&probe->lock);
}

/*
 * Make room for the writer of a ring that reached its limit. Half of @help: call a worker. @help: the
 * worker is late, count some events. Full: count events until there is room. Context: interrupts off.
 */
void raidtrace_ring_make_room(struct raidtrace_probe *probe, struct raidtrace_ring *ring)
{
	const u32 most = ring->mask + 1 - RAIDTRACE_EVENT_WORDS, call = ring->help / 2;
	u32 fill = fill_of(ring);

	if (fill >= call)
		queue_work_node(probe->node, queue, &probe->catch_up);
	if (fill >= ring->help)
		ring_writer_turn(probe);
	while (fill_of(ring) > most)
		ring_empty_full(probe, ring, most);
	fill = fill_of(ring);
	if (fill < call)
		ring->limit = ring->head + call - fill;
	else if (fill < ring->help)
		ring->limit = ring->head + ring->help - fill;
	else
		ring->limit = ring->head + min(WRITER_STEP, most + 1 - fill);
}

static u32 words_of_ring(void)
{
	u32 bytes = rounddown_pow_of_two(RINGS_BYTES / num_possible_cpus());

	return clamp_t(u32, bytes, RING_BYTES_MIN, RING_BYTES_MAX) / sizeof(u64);
}

/*
 * Half a ring, less on a large machine: all rings are this full, and one writer counts WRITER_TURN
 * events of two words at least for each WRITER_STEP words. They are empty before its ring is full.
 */
static u32 help_of_ring(u32 words)
{
	u32 help = (u64)words * WRITER_TURN / (WRITER_TURN + num_possible_cpus() * WRITER_STEP / 2);

	return clamp(help, 4 * WRITER_STEP, words / 2);
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

	INIT_WORK(&probe->catch_up, on_late);
	probe->next_cpu = nr_cpu_ids;
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
		ring->help = help_of_ring(words);
		ring->limit = ring->help / 2;
		ring->source.cpu.number = cpu;
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
