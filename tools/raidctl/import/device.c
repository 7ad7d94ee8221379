// SPDX-License-Identifier: GPL-2.0-or-later

/* One disk of a blktrace trace: its engine, and which of its counters the trace can know. */

#include "import/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account-events.h"
#include "counted.h"

/* Places of the engine's tables: twice as many as a pool has. */
static unsigned int table_bits(void)
{
	unsigned int bits = 3;

	while (1UL << bits < 2UL * BLKTRACE_IN_FLIGHT)
		bits++;
	return bits;
}

struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index, uint64_t capacity_sectors,
					    uint64_t start_ns)
{
	struct blktrace_device *d = calloc(1, sizeof(*d));
	struct raidtrace_engine *engine;

	if (!d)
		return NULL;
	d->device = device;
	d->index = index;
	d->capacity_sectors = capacity_sectors;
	d->bios = blktrace_pool_new();
	d->requests = blktrace_pool_new();
	engine = &d->engine;
	engine->account = &d->account;
	engine->bio_bits = table_bits();
	engine->request_bits = table_bits();
	engine->bios = calloc(1UL << engine->bio_bits, sizeof(*engine->bios));
	engine->requests = calloc(1UL << engine->request_bits, sizeof(*engine->requests));
	if (!d->bios || !d->requests || !engine->bios || !engine->requests) {
		blktrace_device_free(d);
		return NULL;
	}
	if (capacity_sectors)
		raidtrace_place_set(&engine->place, capacity_sectors);
	raidtrace_engine_start(engine, BLKTRACE_GROUPS | (capacity_sectors ? RAIDTRACE_GROUP_PLACE : 0),
			       RAIDTRACE_STREAMS_DEFAULT, start_ns);
	return d;
}

void blktrace_device_free(struct blktrace_device *d)
{
	if (!d)
		return;
	blktrace_pool_free(d->bios);
	blktrace_pool_free(d->requests);
	free(d->engine.bios);
	free(d->engine.requests);
	free(d->sequences);
	free(d);
}

void blktrace_device_count(struct blktrace_device *d)
{
	struct raidtrace_source source = { .words = d->words, .mask = INT32_MAX, .end = d->nr_words };
	struct raidtrace_next heap[3];
	unsigned int left = UINT32_MAX;

	if (!d->nr_words)
		return;
	raidtrace_heap_add(heap, 0, d->words[0], &source);
	raidtrace_engine_count(&d->engine, heap, 1, UINT64_MAX, &left);
	d->nr_words = 0;
}

/* A trace has no windows of readahead. */
static int fill_span(const struct blktrace_device *d, const struct raidtrace_account *account, uint64_t start_ns,
		     uint64_t end_ns, struct rt_counters *span)
{
	int err;

	memset(span, 0, sizeof(*span));
	err = rt_account_counters(account, &d->engine,
				  1U << RAIDTRACE_RA_SYNC_SECTORS | 1U << RAIDTRACE_RA_ASYNC_SECTORS, span);
	span->since_ns = start_ns;
	span->now_ns = end_ns;
	return err;
}

int blktrace_device_sample(struct blktrace_device *d, uint64_t start_ns, uint64_t end_ns, struct rt_counters *span)
{
	int err;

	blktrace_device_count(d);
	raidtrace_engine_advance(&d->engine, end_ns);
	err = fill_span(d, &d->account, start_ns, end_ns, span);
	raidtrace_account_move(&d->total, &d->account, NULL, 0);
	/* The engine has these since its start. */
	span->disk.streams_forgotten -= d->forgotten;
	span->disk.streams_forgotten_queued -= d->forgotten_queued;
	d->forgotten += span->disk.streams_forgotten;
	d->forgotten_queued += span->disk.streams_forgotten_queued;
	return err;
}

int blktrace_device_total(const struct blktrace_device *d, uint64_t start_ns, uint64_t end_ns, struct rt_counters *span)
{
	return fill_span(d, &d->total, start_ns, end_ns, span);
}

/* Events that a trace must have for a counter to be known, unless it has all events. */
enum need {
	QUEUEING,	/* events between queue and insert: blktrace records all of these or none */
	SPLITTING,
	ISSUING,
	REQUEUEING,
	INSERT_TO_ISSUE,
	ISSUE_TO_END,
	ENDING,
	ALL,
};

/*
 * Each counter that a trace can have, and its need. A counter that is not listed is not available, such as refused: the
 * events of a refused bio are those of any other bio.
 */
#define KNOWN_COUNTERS(COUNTER)						\
	COUNTER(QUEUED, QUEUEING)					\
	COUNTER(BYTES_QUEUED, QUEUEING)					\
	COUNTER(AHEAD_QUEUED, QUEUEING)					\
	COUNTER(BYTES_AHEAD_QUEUED, QUEUEING)				\
	COUNTER(SEQUENTIAL_QUEUED, QUEUEING)				\
	COUNTER(SEEK_QUEUED_FORWARD_SECTORS, QUEUEING)			\
	COUNTER(SEEK_QUEUED_BACKWARD_SECTORS, QUEUEING)			\
	COUNTER(STREAM_QUEUED, QUEUEING)				\
	COUNTER(GOT, QUEUEING)						\
	COUNTER(BACK_MERGES, QUEUEING)					\
	COUNTER(FRONT_MERGES, QUEUEING)					\
	COUNTER(REQUEST_MERGES, QUEUEING)				\
	COUNTER(INSERTED, QUEUEING)					\
	COUNTER(SPLITS, SPLITTING)					\
	COUNTER(ISSUED, ISSUING)					\
	COUNTER(BYTES_ISSUED, ISSUING)					\
	COUNTER(SEQUENTIAL, ISSUING)					\
	COUNTER(SEEK_FORWARD_SECTORS, ISSUING)				\
	COUNTER(SEEK_BACKWARD_SECTORS, ISSUING)				\
	COUNTER(STREAM, ISSUING)					\
	COUNTER(REISSUED, REQUEUEING)					\
	COUNTER(REQUEUED, REQUEUEING)					\
	COUNTER(REQUEUED_UNISSUED, REQUEUEING)				\
	COUNTER(I2D_SUM_NS, INSERT_TO_ISSUE)				\
	COUNTER(COMPLETED, ISSUE_TO_END)				\
	COUNTER(BYTES_COMPLETED, ISSUE_TO_END)				\
	COUNTER(PARTIAL, ISSUE_TO_END)					\
	COUNTER(UNMATCHED, ISSUE_TO_END)				\
	COUNTER(UNISSUED, ISSUE_TO_END)					\
	COUNTER(ABANDONED, ISSUE_TO_END)				\
	COUNTER(D2C_SUM_NS, ISSUE_TO_END)				\
	COUNTER(ERRORS, ENDING)						\
	COUNTER(Q2C_SUM_NS, ALL)					\
	COUNTER(Q2C_UNKNOWN, ALL)
#define OBSERVED(what)	(1U << BLKTRACE_##what)
#define COMPLETE_TRACE	(OBSERVED(QUEUE) | OBSERVED(ISSUE) | OBSERVED(COMPLETE))

static bool has(const struct blktrace_device *d, enum need need)
{
	static const uint32_t events[] = {
		[SPLITTING] = OBSERVED(SPLIT),
		[ISSUING] = OBSERVED(ISSUE),
		[REQUEUEING] = OBSERVED(ISSUE) | OBSERVED(REQUEUE),
		[INSERT_TO_ISSUE] = OBSERVED(INSERT) | OBSERVED(ISSUE),
		[ISSUE_TO_END] = OBSERVED(ISSUE) | OBSERVED(COMPLETE),
		[ENDING] = OBSERVED(COMPLETE),
		[ALL] = COMPLETE_TRACE,
	};
	static const uint32_t queueing = OBSERVED(QUEUE) | OBSERVED(GETRQ) | OBSERVED(INSERT) |
					 OBSERVED(BACK_MERGE) | OBSERVED(FRONT_MERGE) |
					 OBSERVED(REQUEST_MERGE);

	if ((d->observed & COMPLETE_TRACE) == COMPLETE_TRACE)
		return true;
	return need == QUEUEING ? d->observed & queueing : (d->observed & events[need]) == events[need];
}

uint64_t blktrace_device_unknown(const struct blktrace_device *d)
{
	uint64_t all = RT_COUNTER_BIT(IN_FLIGHT), known = 0;

#define X(member, attribute, ...) all |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
#define COUNTER(attribute, need) known |= has(d, need) ? RT_COUNTER_BIT(attribute) : 0;
	KNOWN_COUNTERS(COUNTER)
	if (!d->lost) { /* else they would be in flight until the end */
		COUNTER(IN_FLIGHT, ISSUE_TO_END)
		COUNTER(DEPTH_SUM_NS, ISSUE_TO_END)
	}
#undef COUNTER
	return all & ~known;
}

uint32_t blktrace_device_unknown_disk(const struct blktrace_device *d)
{
	static const uint32_t waits = RT_DISK_BIT(HELD_NS) | RT_DISK_BIT(BACKLOG_NS) | RT_DISK_BIT(WAITING_SUM_NS) |
				      RT_DISK_BIT(WAITING_UNKNOWN);
	static const uint32_t queue = OBSERVED(QUEUE) | OBSERVED(GETRQ) | OBSERVED(PLUG) |
				      OBSERVED(UNPLUG) | OBSERVED(UNPLUG_SLEEP);

	return (has(d, ALL) && !d->lost ? 0 : waits) |
	       (d->observed & queue ? 0 : RT_DISK_BIT(PLUGS) | RT_DISK_BIT(UNPLUGS_EXPLICIT) |
					  RT_DISK_BIT(UNPLUGS_SCHEDULE));
}
