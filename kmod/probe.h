/* SPDX-License-Identifier: GPL-2.0-only */
/* A probe counts a disk by the block layer's tracepoints. */
#ifndef RAIDTRACE_PROBE_H
#define RAIDTRACE_PROBE_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "engine.h"
#include "ring.h"

struct gendisk;
struct netlink_ext_ack;
struct request_queue;

/* The caller reports a failure, not the log. */
#define RAIDTRACE_GFP	(GFP_KERNEL | __GFP_NOWARN)

/*
 * Places for requests, powers of two: twice as many as can be on their way, and enough for a
 * scheduler whose nr_requests is raised to 2,048 later.
 */
#define RAIDTRACE_REQUEST_BITS_MIN 12
#define RAIDTRACE_REQUEST_BITS_MAX 16

#define RAIDTRACE_JOURNAL_MAX 64	/* ranges */

/**
 * struct raidtrace_extent - a range of a disk
 * @sector: first sector
 * @nr_sectors: length
 */
struct raidtrace_extent {
	u64 sector;
	u64 nr_sectors;
};

/**
 * struct raidtrace_journal - sectors of a filesystem's journal
 * @rcu: frees it
 * @nr: number of ranges
 * @extent: the ranges
 */
struct raidtrace_journal {
	struct rcu_head rcu;
	u32 nr;
	struct raidtrace_extent extent[RAIDTRACE_JOURNAL_MAX];
};

/**
 * struct raidtrace_options - how a disk is counted
 * @groups: &enum raidtrace_group flags
 * @streams: number of streams to remember
 * @history: keep the last requests
 * @history_ns: see &raidtrace_history.slow_ns
 * @journal: of the disk's filesystem, NULL for unknown; the probe takes it over
 */
struct raidtrace_options {
	u32 groups;
	u32 streams;
	bool history;
	u64 history_ns;
	struct raidtrace_journal *journal;
};

/**
 * struct raidtrace_probe - a disk as the handlers know it
 * @next: next probe whose queue has the same hash
 * @queue: queue to count, NULL for none; compared, never dereferenced
 * @groups: &enum raidtrace_group flags
 * @has_requests: the disk is not bio-based
 * @journal: see raidtrace_probe_set_journal()
 * @attached: tracepoints in use, a bit for each row of the table
 * @chain: chain of its hash, NULL when it is in none
 * @ring: events, per CPU
 * @catch_up: work that counts the events of the rings
 * @node: NUMA node of the engine's tables, where that work runs
 * @lock: protects the following members and the tails of the rings; interrupts are off
 * @stopped_ns: when counting ended, 0 while it goes on
 * @counted: number of counted events, and more after a turn that left none; read without the lock by
 *	writers that wait
 * @until: time that was read before the heads of the rings in @heap
 * @counted_ns: all events until this time were counted before the first of these heads was read
 * @next_cpu: the ring whose head is read next; nr_cpu_ids if @heap is complete
 * @nr_heap: number of rings in @heap
 * @heap: rings that have events to count; a turn continues that of the last one
 * @engine: counts
 */
struct raidtrace_probe {
	struct raidtrace_probe *next;
	struct request_queue *queue;
	u32 groups;
	bool has_requests;
	struct raidtrace_journal __rcu *journal;
	u32 attached;
	struct raidtrace_probe **chain;
	struct raidtrace_ring __percpu *ring;
	struct work_struct catch_up;
	int node;

	raw_spinlock_t lock ____cacheline_aligned_in_smp;
	u64 stopped_ns;
	u32 counted;
	u64 until;
	u64 counted_ns;
	unsigned int next_cpu;
	unsigned int nr_heap;
	struct raidtrace_next *heap;
	struct raidtrace_engine engine;
};

void *raidtrace_pages_alloc(size_t size, int node);
void raidtrace_pages_free(void *memory, size_t size);

void raidtrace_probe_find_tracepoints(void);
const char *raidtrace_probe_unavailable(unsigned int *cursor);
bool raidtrace_probe_counts(enum raidtrace_event_counter counter, bool bio_based);

int raidtrace_probe_attach(struct raidtrace_probe *probe, struct gendisk *disk, u64 nr_requests,
			   const struct raidtrace_options *options,
			   struct netlink_ext_ack *extack);
void raidtrace_probe_start(struct raidtrace_probe *probe, struct gendisk *disk,
			   const struct raidtrace_options *options);
void raidtrace_probe_stop(struct raidtrace_probe *probe);
void raidtrace_probe_detach(struct raidtrace_probe *probe);
void raidtrace_probe_free(struct raidtrace_probe *probe);

void raidtrace_probe_set_journal(struct raidtrace_probe *probe,
				 struct raidtrace_journal *journal);

/**
 * struct raidtrace_probe_state - state of a disk at one moment
 * @queue: of requests; the moment is its last_ns
 * @streams_alive: raidtrace_streams_alive() of bios
 * @streams_forgotten: of bios
 * @submitters: processes that queue bios
 */
struct raidtrace_probe_state {
	struct raidtrace_queue queue;
	unsigned int streams_alive;
	u64 streams_forgotten;
	struct raidtrace_submitters submitters;
};

/**
 * struct raidtrace_known_ended - a request that ended, and its process
 * @number: of the request
 * @ended: the request
 * @named: its process still has its row
 * @task: that process
 */
struct raidtrace_known_ended {
	u64 number;
	struct raidtrace_ended ended;
	bool named;
	struct raidtrace_task task;
};

unsigned int raidtrace_probe_history(struct raidtrace_probe *probe, u64 after,
				     struct raidtrace_known_ended *known, unsigned int most,
				     u64 *last);

struct raidtrace_account *raidtrace_probe_snapshot(struct raidtrace_probe *probe,
						   struct raidtrace_account *empty, bool reset,
						   struct raidtrace_probe_state *state);

#endif /* RAIDTRACE_PROBE_H */
