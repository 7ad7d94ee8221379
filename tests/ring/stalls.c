// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A handler has interrupts off while it writes a record. Here it meets everything that could
 * keep it there: a worker that never comes, 64 to 1,024 CPUs, a clock that stands still or steps back
 * while records wait. Each record must be written after a bounded number of others was taken,
 * and be counted. A reader must end although events never do.
 */
#include "machine.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define DAY_NS	(86400 * 1000000000ULL)
#define MS_NS	1000000ULL
#define CPUS	64

static struct raidtrace_probe *probe;
static int failed, passed;
static const char *doing;

static void say(bool ok, const char *what)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	*(ok ? &passed : &failed) += 1;
}

/* One thread: in place of the C library's. Steps of a hold are heads that are read and events that are counted. */
static uint64_t loads, counted_before, most_steps;

static uint64_t counted(void)
{
	return probe->engine.account->flow[RAIDTRACE_DIRECTION_READ].queued;
}

int pthread_spin_lock(pthread_spinlock_t *lock)
{
	(void)lock;
	loads = 0;
	counted_before = counted();
	return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	uint64_t steps = loads + counted() - counted_before;

	(void)lock;
	most_steps = steps > most_steps ? steps : most_steps;
	return 0;
}

static void hangs(int signal)
{
	(void)signal;
	printf("not ok - %s: no end within 60 s\n", doing);
	fflush(stdout);
	_exit(1);
}

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	(void)queue;
	(void)work;
}

static const struct raidtrace_flow *reads(void)
{
	return &probe->engine.account->flow[RAIDTRACE_DIRECTION_READ];
}

static uint64_t written;	/* bios queued */

/* Returns how many bios were counted meanwhile. */
static uint64_t queue_one(unsigned int cpu)
{
	uint64_t before = reads()->queued;

	made_ns += 1000;
	write_queue(probe, cpu, 0xffff888000000000 + written % 4096 * 64, written * 8);
	written++;
	return reads()->queued - before;
}

static uint64_t words_of(unsigned int cpu)
{
	return per_cpu_ptr(probe->ring, cpu)->mask + 1;
}

/* Ring of CPU 0 is written over and over, the others are filled before to @percent. */
static void one_full(unsigned int cpus, unsigned int percent)
{
	uint64_t most = 0, records, i;
	char what[160];

	made_ns = DAY_NS;
	written = 0;
	probe = machine_new(cpus);
	records = words_of(0) / raidtrace_event_words(RAIDTRACE_EVENT_QUEUE);
	/* Without make_room() in between, as if all of them were written at the same time. */
	for (unsigned int cpu = 1; cpu < cpus; cpu++) {
		per_cpu_ptr(probe->ring, cpu)->limit = words_of(cpu);
		for (i = 0; i < records * percent / 100; i++)
			queue_one(cpu);
	}
	for (i = 0; i < 3 * records; i++) {
		uint64_t taken = queue_one(0);

		most = taken > most ? taken : most;
	}
	raidtrace_rings_catch_up(probe);
	snprintf(what, sizeof(what), "%u CPUs, %u %% of their rings written, one ring full: %llu events at once, at most 4 a CPU",
		 cpus, percent, (unsigned long long)most);
	say(most && most <= 4 * cpus, what);
	say(reads()->queued == written, "all of them are counted");
	machine_free(probe);
}

/*
 * Rings of a large machine: no worker comes, all are as full as their writers leave them, and one is written on. Its
 * writer counts a bounded number of events for each record and empties all rings before its own is full; then a
 * reader comes. How long both hold the lock does not depend on the number of CPUs.
 */
static void large(unsigned int cpus, bool rt)
{
	const uint64_t turn = rt ? 32 : 256, at_once = 64;
	uint64_t most = 0, fill = 0;
	struct raidtrace_ring *ring;
	char what[160];

	made_ns = DAY_NS;
	written = 0;
	realtime = rt;
	probe = machine_new(cpus);
	ring = per_cpu_ptr(probe->ring, 0);
	for (unsigned int cpu = 1; cpu < cpus; cpu++) {
		struct raidtrace_ring *other = per_cpu_ptr(probe->ring, cpu);

		other->limit = words_of(cpu);
		while (other->head < other->help)
			queue_one(cpu);
	}
	most_steps = 0;
	for (uint64_t i = 0; i < 2 * words_of(0); i++) {
		uint64_t taken = queue_one(0), words = ring->head - ring->source.tail;

		most = taken > most ? taken : most;
		fill = words > fill ? words : fill;
	}
	raidtrace_rings_catch_up(probe);
	snprintf(what, sizeof(what), "%u CPUs%s: a record waits for %llu events, a hold of the lock has %llu steps", cpus,
		 rt ? ", PREEMPT_RT" : "", (unsigned long long)most, (unsigned long long)most_steps);
	say(most && most <= turn && most_steps <= turn + at_once + 1, what);
	say(fill < words_of(0) * 99 / 100 && reads()->queued == written, "no ring is full, all of them are counted");
	machine_free(probe);
	realtime = false;
}

/* The clock steps while @waiting records wait in the ring; then it goes on or stands still. */
static void step(int64_t ns, uint64_t waiting, bool stands, const char *what)
{
	uint64_t most = 0;

	doing = what;
	made_ns = 10 * DAY_NS;
	written = 0;
	probe = machine_new(2);
	while (written < waiting)
		queue_one(0);
	made_ns += (uint64_t)ns;
	while (written < 100000) {
		uint64_t taken = queue_one(0);

		most = taken > most ? taken : most;
		if (stands)
			made_ns -= 1000;
	}
	made_ns = 20 * DAY_NS;
	raidtrace_rings_catch_up(probe);
	say(reads()->queued == written, what);
	say(most <= 16, "the writer takes a bounded number at a time");
	machine_free(probe);
}

/* The time of a request is the time of the clock, around a sleep of any kind. */
static void latency(void)
{
	made_ns = DAY_NS;
	probe = machine_new(2);
	write_issue(probe, 0, 4096, 0, 0);
	made_ns += 10 * MS_NS;
	write_complete(probe, 1, 4096, 0, 0);
	raidtrace_rings_catch_up(probe);
	say(reads()->completed == 1 && reads()->d2c_sum_ns == 10 * MS_NS, "10 ms are 10 ms");
	machine_free(probe);
}

static unsigned int floods;	/* turns so far; 0 while nothing is written by itself */

/* A CPU that writes more events during each turn of a reader than the turn takes. */
void on_load(void)
{
	struct raidtrace_ring *ring = probe ? per_cpu_ptr(probe->ring, 1) : NULL;
	unsigned int now = floods;

	loads++;
	if (!floods)
		return;
	floods = 0;
	ring->limit = ring->head + 2 * words_of(1);
	for (unsigned int i = 0; i < 300 && ring->head - ring->source.tail < words_of(1) - 8; i++)
		queue_one(1);
	floods = now < 1000 ? now + 1 : 0;
}

static void reader_ends(void)
{
	unsigned int turns;
	uint64_t moment;

	made_ns = DAY_NS;
	written = 0;
	probe = machine_new(2);
	for (unsigned int i = 0; i < 1000; i++)
		queue_one(0);
	floods = 1;
	moment = raidtrace_rings_catch_up(probe);
	turns = floods;
	floods = 0;
	printf("# %u turns\n", turns);
	say(turns && turns < 100 && moment == DAY_NS + 1000 * 1000, "a reader ends while events never do, at the time that it began");
	say(reads()->queued >= 1000 && probe->engine.queue.last_ns >= DAY_NS, "and has all that was before");
	machine_free(probe);
}

int main(void)
{
	signal(SIGALRM, hangs);
	alarm(60);
	doing = "one ring full";
	one_full(1, 0);
	one_full(8, 45);
	one_full(8, 99);
	one_full(CPUS, 45);
	one_full(CPUS, 99);
	for (unsigned int cpus = CPUS; cpus <= MOST_CPUS; cpus *= 4) {
		large(cpus, false);
		large(cpus, true);
	}
	step(-9 * (int64_t)DAY_NS, 100, false, "the clock steps back nine days while records wait");
	step(-9 * (int64_t)DAY_NS, 1990, false, "likewise with a ring that is nearly full");
	step(-9 * (int64_t)DAY_NS, 1990, true, "and then it stands still");
	step(0, 1990, true, "a clock that stands still");
	step(9 * (int64_t)DAY_NS, 1990, false, "the clock steps forward nine days");
	latency();
	doing = "a reader among events that never end";
	reader_ends();
	return failed ? 1 : 0;
}
