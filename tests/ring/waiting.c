// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All CPUs write bios without pause, and a reader counts without pause: their rings must not fill, although each
 * writer takes its turn of counting only if no other one counts enough while it waits for the lock.
 *
 * A model: the lock is first come, first served, and every CPU that need not wait for it goes on until it must, before
 * the owner of the lock does. CPUs are coroutines; the rings and what they do are kmod's.
 */
#include "machine.h"

#include <stdio.h>
#include <ucontext.h>

#define PLACES	(MOST_CPUS + 1)
#define STACK	65536
#define NOBODY	(-1)

static struct raidtrace_probe *probe;
static ucontext_t scheduler, context[PLACES];
static bool runs[PLACES];
static int waiting[PLACES], first, nr_waiting, owner, self;
static unsigned int fullest, ended;
static int failed;

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	(void)queue;
	(void)work;
}

void on_load(void)
{
}

static void next_owner(void)
{
	owner = nr_waiting ? waiting[first++ % PLACES] : NOBODY;
	nr_waiting -= owner != NOBODY;
}

/* In place of the C library's. */
int pthread_spin_lock(pthread_spinlock_t *lock)
{
	(void)lock;
	runs[self] = false;
	waiting[(first + nr_waiting++) % PLACES] = self;
	if (owner == NOBODY)
		next_owner();
	return swapcontext(&context[self], &scheduler);
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	(void)lock;
	runs[self] = true;
	next_owner();
	return 0;
}

/* Write the ring four times over. */
static void writer(int cpu)
{
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

	for (unsigned int i = 0; i <= ring->mask; i++, made_ns++) {
		if (ring->head - ring->source.tail > fullest)
			fullest = ring->head - ring->source.tail;
		write_queue(probe, (unsigned int)cpu, ((uint64_t)cpu << 16 | i % 64) * 256 + 8, i * 8);
	}
	runs[cpu] = false;
	ended++;
}

static void reader(int unused)
{
	(void)unused;
	for (;;)
		raidtrace_rings_catch_up(probe);
}

static void run(unsigned int cpus, bool rt, bool reads)
{
	char what[100];
	void *stacks;

	made_ns = 86400 * 1000000000ULL;
	probe = machine_new(cpus);
	realtime = rt;
	fullest = ended = 0;
	first = nr_waiting = 0;
	owner = NOBODY;
	stacks = malloc((cpus + reads) * (size_t)STACK);
	for (unsigned int i = 0; i < cpus + reads; i++) {
		getcontext(&context[i]);
		context[i].uc_stack = (stack_t){ .ss_sp = (char *)stacks + i * (size_t)STACK, .ss_size = STACK };
		context[i].uc_link = &scheduler;
		makecontext(&context[i], (void (*)(void))(i < cpus ? writer : reader), 1, (int)i);
		runs[i] = true;
	}
	while (ended < cpus) {
		self = owner;
		for (unsigned int i = 0; i < cpus + reads; i++)
			self = runs[i] ? (int)i : self;
		swapcontext(&scheduler, &context[self]);
	}
	snprintf(what, sizeof(what), "%u CPUs%s, %s reader: no ring is full, %.0f %% at most", cpus, rt ? ", PREEMPT_RT" : "",
		 reads ? "a" : "no", 100.0 * fullest / (per_cpu_ptr(probe->ring, 0)->mask + 1));
	if (fullest > per_cpu_ptr(probe->ring, 0)->mask * 99 / 100)
		failed++, printf("not ");
	printf("ok - %s\n", what);
	free(stacks);
	probe->lock = 0;
	machine_free(probe);
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		run(64, i & 1, i & 2);
		run(512, i & 1, i & 2);
	}
	return failed ? 1 : 0;
}
