// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "machine.h"

#include <sched.h>

#include "account-events.h"

unsigned int nr_cpus;
bool no_cut, realtime;
uint64_t made_ns;

/* In order with what is before and behind it, as rdtsc_ordered(). */
uint64_t clock_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

uint64_t machine_now(void)
{
	return made_ns ? made_ns : clock_ticks();
}

/* The clock that kmod/ring.c reads before it looks at the rings. */
uint64_t ktime_get_ns(void)
{
	return no_cut ? UINT64_MAX - 1 : machine_now();
}

void *raidtrace_pages_alloc(size_t size, int node)
{
	return aligned_zero(size);
}

void raidtrace_pages_free(void *memory, size_t size)
{
	free(memory);
}

void count_record(struct raidtrace_engine *engine, struct raidtrace_source *source, const uint64_t *record)
{
	struct raidtrace_next heap[3];
	unsigned int left = 1;

	raidtrace_heap_add(heap, 0, 0, source);
	source->words = record;
	source->mask = UINT32_MAX / 2;
	source->tail = 0;
	source->end = raidtrace_event_words(raidtrace_event_kind(record[1]));
	raidtrace_engine_count(engine, heap, 1, UINT64_MAX, &left);
}

unsigned short node_of[2];

struct raidtrace_probe *machine_new(unsigned int cpus)
{
	struct raidtrace_probe *probe = aligned_zero(sizeof(*probe));
	struct raidtrace_engine *engine = &probe->engine;

	nr_cpus = cpus;
	pthread_spin_init(&probe->lock, PTHREAD_PROCESS_PRIVATE);
	probe->groups = 0xfff;
	engine->account = aligned_zero(sizeof(*engine->account));
	engine->bio_bits = 14;
	engine->bios = aligned_zero(sizeof(*engine->bios) << engine->bio_bits);
	engine->request_bits = 12;
	engine->requests = aligned_zero(sizeof(*engine->requests) << engine->request_bits);
	raidtrace_place_set(&engine->place, 1ULL << 31);
	if (raidtrace_rings_init() || raidtrace_rings_alloc(probe))
		abort();
	raidtrace_engine_start(engine, probe->groups, RAIDTRACE_STREAMS_DEFAULT, machine_now());
	return probe;
}

void machine_free(struct raidtrace_probe *probe)
{
	raidtrace_rings_free(probe);
	raidtrace_rings_exit();
	free(probe->engine.account);
	free(probe->engine.bios);
	free(probe->engine.requests);
	free(probe);
}

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

void write_insert(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request)
{
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);
	u64 *record = raidtrace_ring_next(probe, ring, machine_now());

	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_INSERT, RAIDTRACE_DIRECTION_READ, 0, 0, 0);
	record[2] = request;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_INSERT);
}

void write_queue(struct raidtrace_probe *probe, unsigned int cpu, uint64_t bio, uint64_t sector)
{
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);
	u64 *record = raidtrace_ring_next(probe, ring, machine_now());

	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, RAIDTRACE_DIRECTION_READ,
					 RAIDTRACE_CLASS_DATA, 0, 4096);
	record[2] = bio;
	record[3] = sector;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_QUEUE);
}

void write_issue(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request, uint64_t bio, uint64_t sector)
{
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);
	u64 *record = raidtrace_ring_next(probe, ring, machine_now());

	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, RAIDTRACE_DIRECTION_READ, 0, 0, 4096);
	record[2] = request;
	record[3] = sector;
	record[4] = bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_ISSUE);
}

void write_complete(struct raidtrace_probe *probe, unsigned int cpu, uint64_t request, uint64_t bio, uint64_t time)
{
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);
	u64 *record = raidtrace_ring_next(probe, ring, time ? time : machine_now());

	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, RAIDTRACE_DIRECTION_READ, 0,
					 RAIDTRACE_EVENT_STARTED, 4096);
	record[2] = request;
	record[3] = bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_COMPLETE);
}
