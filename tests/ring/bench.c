// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a request for its CPU when several CPUs send requests to one disk: three events are
 * written to rings, and as a control the same events are counted at once under one lock, as it was
 * before there were rings. Each thread has a processor and requests of its own; all work at the
 * same time. In one arm the last processor has a thread that counts the events meanwhile.
 *
 * Then the rate at which one CPU counts the events of rings that others have written, and how long
 * a handler has interrupts off when its ring is full, those of the other CPUs are as full as their
 * writers leave them, nearly half at most, and no worker comes.
 */
#include "machine.h"

#include <stdio.h>
#include <unistd.h>

#define BATCH	512	/* requests; fewer than a ring holds */
#define BATCHES	300
#define ROUNDS	9
#define DRAINS	200	/* batches that are counted */
#define WORDS	13	/* of a request's three records */
#define RECORDS	8192	/* more than a ring holds */

enum arm { RINGS, COUNTED, LOCK, CLOCKS, ARMS };

static const char *const names[ARMS] = { "rings", "counted too", "one lock", "clocks alone" };
static struct raidtrace_probe *probe;
static struct raidtrace_source sources[MOST_CPUS];
static unsigned int threads, arrived;
static uint64_t side_by_side;
static enum arm arm;
static uint64_t begun[MOST_CPUS][BATCHES], ended[MOST_CPUS][BATCHES];
static struct {
	uint64_t sum;
	char apart[192];
} sink[MOST_CPUS];

static struct {
	char before[128];	/* a writer's own variables are not in its cache line */
	int work;
	char behind[128];
} called;

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	(void)queue;
	(void)work;
	__atomic_store_n(&called.work, 1, __ATOMIC_RELAXED);
}

void on_load(void)
{
}

static void count_now(unsigned int cpu, enum raidtrace_event kind, u32 flags, u64 one, u64 two, u64 three)
{
	const u64 record[RAIDTRACE_EVENT_WORDS] = {
		clock_ticks(),
		raidtrace_event_head(kind, RAIDTRACE_DIRECTION_READ, RAIDTRACE_CLASS_DATA, flags, 4096),
		one, two, three,
	};

	pthread_spin_lock(&probe->lock);
	count_record(&probe->engine, &sources[cpu], record);
	pthread_spin_unlock(&probe->lock);
}

static void request(unsigned int cpu, uint64_t number)
{
	uint64_t rq = 0xffff888000000000 + (cpu * BATCH + number) * 384, bio = rq + 64, sector = number * 9176;

	switch (arm) {
	case RINGS:
	case COUNTED:
		write_queue(probe, cpu, bio, sector);
		write_issue(probe, cpu, rq, bio, sector);
		write_complete(probe, cpu, rq, bio, 0);
		break;
	case LOCK:
		count_now(cpu, RAIDTRACE_EVENT_QUEUE, 0, bio, sector, 0);
		count_now(cpu, RAIDTRACE_EVENT_ISSUE, 0, rq, sector, bio);
		count_now(cpu, RAIDTRACE_EVENT_COMPLETE, RAIDTRACE_EVENT_STARTED, rq, bio, 0);
		break;
	default:
		for (unsigned int i = 0; i < 3; i++)
			sink[cpu].sum += clock_ticks();
	}
}

/* Nobody sleeps: who is woken comes too late. */
static void wait_for_all(unsigned int batch)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
	for (unsigned int turns = 0; __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < threads * (batch + 1); turns++)
		if (turns > 10000)
			sched_yield();
}

static bool all_sent;

/* The worker that a ring calls when it is a quarter full. */
static void *counter(void *data)
{
	pin((unsigned int)(uintptr_t)data);
	while (!__atomic_load_n(&all_sent, __ATOMIC_ACQUIRE))
		if (__atomic_load_n(&called.work, __ATOMIC_RELAXED)) {
			__atomic_store_n(&called.work, 0, __ATOMIC_RELAXED);
			raidtrace_rings_catch_up(probe);
		}
	return NULL;
}

/* A ring is emptied between two batches, and not for the time that is taken. */
static void empty(struct raidtrace_ring *ring)
{
	if (arm == COUNTED)
		while (__atomic_load_n(&ring->source.tail, __ATOMIC_ACQUIRE) != ring->head)
			queue_work(NULL, NULL);
	else
		ring->source.tail = ring->head;
}

static void *sender(void *data)
{
	unsigned int cpu = (unsigned int)(uintptr_t)data;
	struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

	pin(cpu);
	for (unsigned int batch = 0; batch < BATCHES; batch++) {
		empty(ring);
		wait_for_all(batch);
		begun[cpu][batch] = clock_ticks();
		for (uint64_t i = 0; i < BATCH; i++)
			request(cpu, i);
		ended[cpu][batch] = clock_ticks();
	}
	return NULL;
}

static int in_order(const void *a, const void *b)
{
	return *(const double *)a > *(const double *)b ? 1 : -1;
}

/* Whether all threads were at a batch at the same time, for four fifths of it; its mean time then. */
static double of_batch(unsigned int batch)
{
	uint64_t first = UINT64_MAX, last = 0, all_begun = 0, any_ended = UINT64_MAX, sum = 0;

	for (unsigned int i = 0; i < threads; i++) {
		uint64_t from = begun[i][batch], to = ended[i][batch];

		first = from < first ? from : first;
		last = to > last ? to : last;
		all_begun = from > all_begun ? from : all_begun;
		any_ended = to < any_ended ? to : any_ended;
		sum += to - from;
	}
	if (any_ended <= all_begun || any_ended - all_begun < (last - first) / 5 * 4)
		return 0;
	return (double)sum / threads;
}

/* Ticks of a batch: the lower quartile of those in which all worked side by side; what the machine did besides is in the others. */
static double ticks(enum arm which, unsigned int nr)
{
	pthread_t thread[MOST_CPUS], other;
	static double found[BATCHES];
	unsigned int kept = 0;

	arm = which;
	threads = nr;
	arrived = 0;
	all_sent = false;
	if (arm == COUNTED)
		pthread_create(&other, NULL, counter, (void *)(uintptr_t)nr);
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, sender, (void *)(uintptr_t)i);
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&all_sent, true, __ATOMIC_RELEASE);
	if (arm == COUNTED)
		pthread_join(other, NULL);
	for (unsigned int batch = 0; batch < BATCHES; batch++)
		if ((found[kept] = of_batch(batch)) > 0)
			kept++;
	qsort(found, kept, sizeof(found[0]), in_order);
	side_by_side += kept;
	return kept ? found[kept / 4] : 0;
}

static double tick_ns(void)
{
	struct timespec from, to;
	uint64_t begin = clock_ticks();

	clock_gettime(CLOCK_MONOTONIC, &from);
	usleep(200000);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	       (double)(clock_ticks() - begin);
}

/*
 * Requests a second that one CPU counts, in millions. @cpus have written their rings in turn, to a
 * quarter; each has 32 requests in flight, of 64 tags, and reads anywhere.
 */
static double drained(unsigned int cpus, double tick)
{
	static double took[DRAINS];
	static uint64_t sent[MOST_CPUS];
	uint64_t begin, requests, random = 1;

	probe = machine_new(cpus);
	memset(sent, 0, sizeof(sent));
	for (unsigned int batch = 0; batch < DRAINS; batch++) {
		for (requests = 0; requests * WORDS < (per_cpu_ptr(probe->ring, 0)->mask + 1) / 4; requests++)
			for (unsigned int cpu = 0; cpu < cpus; cpu++) {
				uint64_t rq = 0xffff888000000000 + cpu * 65536 + sent[cpu] % 64 * 384;

				random = random * 6364136223846793005 + 1442695040888963407;
				write_queue(probe, cpu, rq + 0x1000000, random >> 33 << 3);
				write_issue(probe, cpu, rq, rq + 0x1000000, random >> 33 << 3);
				rq = 0xffff888000000000 + cpu * 65536 + (sent[cpu] + 32) % 64 * 384;
				if (sent[cpu]++ >= 32)
					write_complete(probe, cpu, rq, rq + 0x1000000, 0);
			}
		begin = clock_ticks();
		raidtrace_rings_catch_up(probe);
		took[batch] = (double)(clock_ticks() - begin) * tick / (double)(requests * cpus);
	}
	machine_free(probe);
	qsort(took, DRAINS, sizeof(took[0]), in_order);
	return 1000 / took[DRAINS / 4];
}

/* Cycles of the processor's own clock in a nanosecond: additions that wait for each other. */
static double clock_ghz(double tick)
{
	uint64_t least = UINT64_MAX, sum = 0;

	for (unsigned int round = 0; round < 20; round++) {
		uint64_t took = clock_ticks();

		for (unsigned int i = 0; i < 100000; i++)
			__asm__ volatile("add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0;"
					 "add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0" : "+r"(sum));
		took = clock_ticks() - took;
		least = took < least ? took : least;
	}
	return 1000000 / ((double)least * tick);
}

static void rates(double tick)
{
	static const unsigned int of[] = { 1, 2, 8, 64 };
	double found[ROUNDS];

	printf("\ncounted by one CPU at %.1f GHz, million requests a second, median of %d (least to most)\n", clock_ghz(tick),
	       ROUNDS);
	for (unsigned int i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		for (unsigned int round = 0; round < ROUNDS; round++)
			found[round] = drained(of[i], tick);
		qsort(found, ROUNDS, sizeof(found[0]), in_order);
		printf("%2u rings %7.2f (%.2f to %.2f)\n", of[i], found[ROUNDS / 2], found[0], found[ROUNDS - 1]);
	}
}

/* As if another CPU, far away, had counted before and all others had written their rings just now. */
static void forget(const void *memory, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		__builtin_ia32_clflush((const char *)memory + at);
}

static void forget_all(unsigned int cpus)
{
	const struct raidtrace_engine *engine = &probe->engine;

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		const struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

		forget(ring->words, (ring->mask + 1) * sizeof(u64));
		forget(ring, sizeof(*ring));
	}
	forget(engine->bios, sizeof(*engine->bios) << engine->bio_bits);
	forget(engine->requests, sizeof(*engine->requests) << engine->request_bits);
	forget(engine->account, sizeof(*engine->account));
	forget(probe, sizeof(*probe));
}

/*
 * Time that each record of CPU 0 takes until its ring was written once over, if that is less than
 * in @least. Returns the number of records.
 */
static unsigned int records_of(unsigned int cpus, uint64_t *least)
{
	struct raidtrace_ring *first;
	unsigned int nr = 0;

	probe = machine_new(cpus);
	first = per_cpu_ptr(probe->ring, 0);
	arm = RINGS;
	for (unsigned int cpu = 1; cpu < cpus; cpu++) {
		struct raidtrace_ring *ring = per_cpu_ptr(probe->ring, cpu);

		ring->limit = ring->mask + 1;
		while (ring->head < min(ring->help, (ring->mask + 1) * 45 / 100))
			request(cpu, ring->head % 32);
	}
	forget_all(cpus);
	while (first->head < first->mask + 1) {
		uint64_t took = clock_ticks();

		write_queue(probe, 0, 0xffff888000000000 + first->head * 64, first->head * 8);
		took = clock_ticks() - took;
		if (took < least[nr])
			least[nr] = took;
		nr++;
	}
	machine_free(probe);
	return nr;
}

/* Each record is the fastest of some runs, which are equal: the host disturbs one or the other. */
static void stays(double tick)
{
	static const unsigned int of[] = { 2, 8, 32, 64, 256, 1024 };
	static uint64_t least[RECORDS];
	uint64_t most;
	unsigned int nr = 0;

	printf("\nlongest time with interrupts off, one ring full, no worker, caches empty; us\n"
	       "others 45 %% full, or as full as their writers leave them with more than 128 CPUs\n");
	for (unsigned int i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		memset(least, 0xff, sizeof(least));
		most = 0;
		for (unsigned int round = 0; round < ROUNDS; round++)
			nr = records_of(of[i], least);
		while (nr--)
			most = least[nr] > most ? least[nr] : most;
		printf("%4u CPUs %8.1f\n", of[i], (double)most * tick / 1000);
	}
}

static bool has_processors(enum arm which, unsigned int nr, unsigned int most)
{
	return which != COUNTED || nr < most;
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int most = cpus > MOST_CPUS ? MOST_CPUS : (unsigned int)cpus;
	double ns = tick_ns(), found[ARMS][MOST_CPUS][ROUNDS];

	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int n = 1; n <= most; n++)
			for (unsigned int a = 0; a < ARMS; a++) {
				enum arm which = (a + round) % ARMS;

				probe = machine_new(most);
				memset(sources, 0, sizeof(sources));
				found[which][n - 1][round] =
					has_processors(which, n, most) ? ticks(which, n) * ns / BATCH : 0;
				machine_free(probe);
			}
	printf("ns per request, median of %d rounds (least to most), all threads at once\n%-14s", ROUNDS, "threads");
	for (unsigned int n = 1; n <= most; n++)
		printf("%18u", n);
	for (unsigned int a = 0; a < ARMS; a++) {
		printf("\n%-14s", names[a]);
		for (unsigned int n = 0; n < most && has_processors(a, n + 1, most); n++) {
			qsort(found[a][n], ROUNDS, sizeof(double), in_order);
			printf("%6.0f (%3.0f to %3.0f)", found[a][n][ROUNDS / 2], found[a][n][0], found[a][n][ROUNDS - 1]);
		}
	}
	printf("\n%llu batches of %d requests, of %u, in which all threads worked side by side\n",
	       (unsigned long long)side_by_side, BATCH, ROUNDS * most * ARMS * BATCHES);
	rates(ns);
	stays(ns);
	return 0;
}
