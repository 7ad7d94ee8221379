/* SPDX-License-Identifier: GPL-2.0-only */
/* From the block layer's tracepoints to the account of one disk. */
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

/* What is counted when nobody says otherwise: all groups up to this one. */
#define RAIDTRACE_GROUPS_DEFAULT	(2 * RAIDTRACE_GROUP_READAHEAD - 1)

#define RAIDTRACE_GROUPS_CLASSES	(RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)

/* For what is large: who asked is told that there is no memory, the log need not be. */
#define RAIDTRACE_GFP	(GFP_KERNEL | __GFP_NOWARN)

/*
 * Places for requests, as powers of two: twice as many as can be on their way, and at least for
 * a scheduler whose nr_requests is raised to 2,048 later.
 */
#define RAIDTRACE_REQUEST_BITS_MIN 12
#define RAIDTRACE_REQUEST_BITS_MAX 16

/* Ranges that a journal may have. */
#define RAIDTRACE_JOURNAL_MAX 64

/**
 * struct raidtrace_extent - a range of the disk
 * @sector: where it begins
 * @nr_sectors: how long it is
 */
struct raidtrace_extent {
	u64 sector;
	u64 nr_sectors;
};

/**
 * struct raidtrace_journal - where a filesystem's journal is
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
 * struct raidtrace_options - how a disk is to be counted
 * @groups: what to count, &enum raidtrace_group flags
 * @streams: how many streams to remember
 * @journal: where the journal of the disk's filesystem is, NULL when not known;
 *	the probe takes it over
 */
struct raidtrace_options {
	u32 groups;
	u32 streams;
	struct raidtrace_journal *journal;
};

/**
 * struct raidtrace_probe - what the handlers know of one disk
 * @next: the next probe whose queue has the same hash
 * @queue: count bios and requests of this queue; NULL counts none. Only
 *	compared, never dereferenced
 * @groups: what to count, &enum raidtrace_group flags
 * @has_requests: it is not one that is given bios alone
 * @journal: where the filesystem's journal is; changed by raidtrace_probe_set_journal()
 * @attached: tracepoints used, a bit for each row of the table
 * @chain: where it is found by its queue, NULL when it is not
 * @ring: events that are written down, per CPU
 * @catch_up: takes events out of the rings
 * @lock: protects what follows and the tails of the rings. Taken with interrupts off, held
 *	for some hundred events at a time
 * @stopped_ns: when counting ended, 0 while it goes on
 * @turns: how often events were taken; writers that wait for a turn look at it without the lock
 * @drain: used while events are taken
 * @engine: counts them
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

	raw_spinlock_t lock ____cacheline_aligned_in_smp;
	u64 stopped_ns;
	u32 turns;
	struct raidtrace_drain *drain;
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

void raidtrace_probe_set_journal(struct raidtrace_probe *probe,
				 struct raidtrace_journal *journal);

/**
 * struct raidtrace_probe_state - where a disk stands at one moment
 * @queue: the disk's requests; the moment is its last_ns
 * @streams_alive: raidtrace_streams_alive() of the disk's bios
 * @streams_forgotten: likewise
 * @submitters: processes that queued bios
 */
struct raidtrace_probe_state {
	struct raidtrace_queue queue;
	unsigned int streams_alive;
	u64 streams_forgotten;
	struct raidtrace_submitters submitters;
};

/**
 * struct raidtrace_known_ended - a request that ended, and who queued it
 * @number: of the request
 * @ended: the request
 * @named: @task is the process of its row still
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
