// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking events out of the rings of a disk, in the order of their times.
 *
 * The clock is read first and then how far each ring is written: whatever an
 * event up to that time depends on was written before it, and is seen. What was
 * under way at that moment comes late and counts at that time.
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

/* Memory of all rings of a disk, and of one of them. */
#define RINGS_BYTES	SZ_4M
#define RING_BYTES_MIN	SZ_8K
#define RING_BYTES_MAX	SZ_64K

/* Events taken in one turn of the lock, with interrupts off. */
#define TURN		(IS_ENABLED(CONFIG_PREEMPT_RT) ? 32 : 256)

static struct workqueue_struct *queue;

static u64 *record_at(const struct raidtrace_ring *ring, u32 at)
{
	return ring->words + (at & ring->mask);
}

/* Put the ring of the earliest event first: that at @at may be out of place. */
static void sift(struct raidtrace_drain *drain, unsigned int nr, unsigned int at)
{
	struct raidtrace_drain moved = drain[at];
	unsigned int child;

	while ((child = 2 * at + 1) < nr) {
		if (child + 1 < nr && drain[child + 1].time < drain[child].time)
			child++;
		if (drain[child].time >= moved.time)
			break;
		drain[at] = drain[child];
		at = child;
	}
	drain[at] = moved;
}

static unsigned int begin(struct raidtrace_probe *probe)
{
	struct raidtrace_drain *drain = probe->drain;
	unsigned int nr = 0, at;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);
		/* The records before the head are there. */
		u32 head = smp_load_acquire(&ring->head);

		if (head == ring->tail)
			continue;
		drain[nr++] = (struct raidtrace_drain){
			.time = raidtrace_clock_ns(&probe->clock, *record_at(ring, ring->tail)),
			.ring = ring, .tail = ring->tail, .head = head,
		};
	}
	for (at = nr / 2; at--;)
		sift(drain, nr, at);
	return nr;
}

/* Take the events of the first ring that are before all others'; their number. */
static unsigned int take_first(struct raidtrace_probe *probe, unsigned int nr, u64 until,
			       unsigned int at_most)
{
	struct raidtrace_drain *first = probe->drain;
	unsigned int taken = 0;

	if (nr > 1)
		until = min(until, first[1].time);
	if (nr > 2)
		until = min(until, first[2].time);
	do {
		const u64 *record = record_at(first->ring, first->tail);

		raidtrace_engine_take(&probe->engine, &first->ring->source, record, first->time);
		first->tail += raidtrace_event_words(raidtrace_event_kind(record[1]));
		first->time = first->tail == first->head ? U64_MAX :
			raidtrace_clock_ns(&probe->clock, *record_at(first->ring, first->tail));
		taken++;
	} while (taken < at_most && first->time <= until);
	return taken;
}

static void end(struct raidtrace_probe *probe, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		/* The words before the tail may be written again. */
		smp_store_release(&probe->drain[i].ring->tail, probe->drain[i].tail);
}

/* Some events until now, or until counting ended; false when there are no more of them. */
static bool take(struct raidtrace_probe *probe, unsigned int at_most)
{
	unsigned int nr, taken = 0;
	u64 until;

	WRITE_ONCE(probe->by_counter, raidtrace_clock_now(&probe->clock));
	until = probe->stopped_ns ?: probe->clock.ns;
	nr = begin(probe);
	while (nr && taken < at_most && probe->drain[0].time <= until) {
		taken += take_first(probe, nr, until, at_most - taken);
		sift(probe->drain, nr, 0);
	}
	end(probe, nr);
	if (taken >= at_most)
		return true;
	raidtrace_clock_pass(&probe->clock);
	return false;
}

/* What was written after counting ended is not counted; it makes room. */
static void forget(struct raidtrace_probe *probe)
{
	unsigned int nr = begin(probe), i;

	for (i = 0; i < nr; i++)
		probe->drain[i].tail = probe->drain[i].head;
	end(probe, nr);
}

/*
 * Count all events until now, or until counting ended. Returns that moment,
 * CLOCK_MONOTONIC. Context: the probe's lock is held, interrupts are off.
 */
u64 raidtrace_rings_take(struct raidtrace_probe *probe)
{
	int cpu;

	take(probe, UINT_MAX);
	for_each_possible_cpu(cpu)
		raidtrace_engine_release(&probe->engine, &per_cpu_ptr(probe->ring, cpu)->source);
	return probe->stopped_ns ?: probe->clock.ns;
}

static bool take_turn(struct raidtrace_probe *probe)
{
	bool more = take(probe, TURN);

	if (!more && probe->stopped_ns)
		forget(probe);
	return more;
}

/*
 * Count what was written so far. Context: process. Interrupts are off for some events at a
 * time.
 */
void raidtrace_rings_catch_up(struct raidtrace_probe *probe)
{
	unsigned long flags;
	bool more;

	do {
		raw_spin_lock_irqsave(&probe->lock, flags);
		more = take_turn(probe);
		raw_spin_unlock_irqrestore(&probe->lock, flags);
	} while (more);
}

static void on_half_full(struct work_struct *work)
{
	raidtrace_rings_catch_up(container_of(work, struct raidtrace_probe, catch_up));
}

/*
 * The ring of this CPU is half full: somebody has to come; full: nobody came. Context:
 * interrupts off.
 */
void raidtrace_ring_make_room(struct raidtrace_probe *probe, struct raidtrace_ring *ring)
{
	const u32 words = ring->mask + 1, half = words / 2, most = words - RAIDTRACE_EVENT_WORDS;
	/* Words before the tail were read. */
	u32 tail = smp_load_acquire(&ring->tail);

	if (ring->head - tail < half) {
		ring->limit = tail + half;
		return;
	}
	queue_work(queue, &probe->catch_up);
	while (ring->head - tail > most) {
		raw_spin_lock(&probe->lock);
		take_turn(probe);
		raw_spin_unlock(&probe->lock);
		/* Likewise. */
		tail = smp_load_acquire(&ring->tail);
	}
	ring->limit = tail + most + 1;
}

static u32 words_of_ring(void)
{
	u32 bytes = rounddown_pow_of_two(RINGS_BYTES / num_possible_cpus());

	return clamp_t(u32, bytes, RING_BYTES_MIN, RING_BYTES_MAX) / sizeof(u64);
}

/*
 * A ring for every possible CPU. Returns 0 or -ENOMEM; then raidtrace_rings_free() is to
 * be called all the same.
 */
int raidtrace_rings_alloc(struct raidtrace_probe *probe)
{
	u32 words = words_of_ring();
	int cpu;

	INIT_WORK(&probe->catch_up, on_half_full);
	probe->drain = kvcalloc(num_possible_cpus(), sizeof(*probe->drain), RAIDTRACE_GFP);
	probe->ring = alloc_percpu(struct raidtrace_ring);
	if (!probe->drain || !probe->ring)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

		ring->words = kvmalloc_node((words + RAIDTRACE_EVENT_WORDS) * sizeof(u64),
					    RAIDTRACE_GFP, cpu_to_node(cpu));
		if (!ring->words)
			return -ENOMEM;
		ring->mask = words - 1;
		ring->limit = words / 2;
		/* No task has this number: the first one is told of. */
		ring->task.pid = ~0U;
	}
	return 0;
}

/*
 * Undo raidtrace_rings_alloc(), when no handler finds the probe any more. Context: may
 * sleep.
 */
void raidtrace_rings_free(struct raidtrace_probe *probe)
{
	int cpu;

	if (probe->ring) {
		cancel_work_sync(&probe->catch_up);
		for_each_possible_cpu(cpu)
			kvfree(per_cpu_ptr(probe->ring, cpu)->words);
	}
	free_percpu(probe->ring);
	kvfree(probe->drain);
}

/* Be ready for rings. Returns 0 or -ENOMEM. */
int raidtrace_rings_init(void)
{
	queue = alloc_workqueue("raidtrace", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

/* Undo raidtrace_rings_init(). */
void raidtrace_rings_exit(void)
{
	destroy_workqueue(queue);
}
