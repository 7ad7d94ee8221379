/* SPDX-License-Identifier: GPL-2.0-only */
/* From the block layer's tracepoints to the account of one disk. */
#ifndef RAIDTRACE_PROBE_H
#define RAIDTRACE_PROBE_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/spinlock_types.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include "account.h"
#include "probe-class.h"
#include "probe-submitter.h"

struct gendisk;
struct raidtrace_ticket;
struct netlink_ext_ack;
struct request_queue;

/**
 * struct raidtrace_bank - one account for every possible CPU
 * @cpu: indexed by CPU number, NULL for impossible ones
 */
struct raidtrace_bank {
	DECLARE_FLEX_ARRAY(struct raidtrace_account *, cpu);
};

/**
 * enum raidtrace_disk_counter - events that have no direction
 * @RAIDTRACE_PLUGS: tasks that began to hold requests back
 * @RAIDTRACE_UNPLUGS_EXPLICIT: held requests sent because the task was done
 * @RAIDTRACE_UNPLUGS_SCHEDULE: held requests sent because the task slept
 * @RAIDTRACE_TAG_WAITS: waits for a tag
 * @RAIDTRACE_RA_SYNC_SECTORS: sectors of windows read ahead on a missing page
 * @RAIDTRACE_RA_ASYNC_SECTORS: sectors of windows read ahead on a marked page
 * @RAIDTRACE_DISK_COUNTERS: number of counters
 */
enum raidtrace_disk_counter {
	RAIDTRACE_PLUGS,
	RAIDTRACE_UNPLUGS_EXPLICIT,
	RAIDTRACE_UNPLUGS_SCHEDULE,
	RAIDTRACE_TAG_WAITS,
	RAIDTRACE_RA_SYNC_SECTORS,
	RAIDTRACE_RA_ASYNC_SECTORS,
	RAIDTRACE_DISK_COUNTERS,
};

/**
 * struct raidtrace_queue_counters - events that need no order; nothing but u64 counters
 * @count: per direction and &enum raidtrace_queue_counter
 * @disk: by &enum raidtrace_disk_counter
 * @unplug: unplugs by requests sent
 * @window: windows read ahead by sectors, on a missing and on a marked page
 */
struct raidtrace_queue_counters {
	u64 count[RAIDTRACE_DIRECTIONS][RAIDTRACE_QUEUE_COUNTERS];
	u64 disk[RAIDTRACE_DISK_COUNTERS];
	u64 unplug[RAIDTRACE_DEPTH_BINS];
	u64 window[2][RAIDTRACE_SIZE_BINS];
};

/**
 * struct raidtrace_slot - what is known of the request that has a tag
 * @issued: when it was issued and how it counts, 0 when it is not in flight;
 *	the parts are in probe-request.c
 * @inserted_ns: when it was inserted, 0 when it was not since its last issue
 */
struct raidtrace_slot {
	u64 issued;
	u64 inserted_ns;
};

/* What this module can count. */
#define RAIDTRACE_GROUPS_COUNTED \
	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE | RAIDTRACE_GROUP_SEEK | \
	 RAIDTRACE_GROUP_STREAM | RAIDTRACE_GROUP_DEPTH | RAIDTRACE_GROUP_LATENCY | \
	 RAIDTRACE_GROUP_PLACE | RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_ORIGIN | \
	 RAIDTRACE_GROUP_BLAME | RAIDTRACE_GROUP_SUBMITTER | RAIDTRACE_GROUP_READAHEAD)

/* What needs to know of a request's bios when and as what they were queued. */
#define RAIDTRACE_GROUPS_TICKETS \
	(RAIDTRACE_GROUP_LATENCY | RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)
#define RAIDTRACE_GROUPS_CLASSES	(RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)

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
 * @place: how the disk is cut in parts
 * @queued: events that need no order; they only grow, by this_cpu operations
 * @slot: per hardware queue and tag, what is known of the request; only the
 *	handlers of that one request touch a slot
 * @nr_queues: hardware queues that @slot has room for
 * @nr_tags: driver tags per hardware queue that @slot has room for
 * @slots_per_queue: slots from one hardware queue to the next
 * @tickets: what was decided when bios were queued, NULL when nothing needs it
 * @journal: where the filesystem's journal is; changed by raidtrace_probe_set_journal()
 * @attached: tracepoints used, a bit for each row of the table
 * @chain: where it is found by its queue, NULL when it is not
 * @bank: accounts that events are counted in; changed under both locks, so that
 *	either is enough to read it
 * @arrival_lock: puts the bios of the disk in one order; protects what follows
 *	it. Taken with interrupts off, held for some hundred instructions
 * @arrival: of the disk's bios
 * @submitters: processes that queued them
 * @lock: puts the events of the disk's requests in one order; as @arrival_lock,
 *	inside which it nests
 * @stopped_ns: when counting ended, 0 while it goes on
 * @state: of the disk's queue
 */
struct raidtrace_probe {
	struct raidtrace_probe *next;
	struct request_queue *queue;
	u32 groups;
	struct raidtrace_place place;
	struct raidtrace_queue_counters __percpu *queued;
	struct raidtrace_slot *slot;
	unsigned int nr_queues;
	unsigned int nr_tags;
	unsigned int slots_per_queue;
	struct raidtrace_ticket *tickets;
	struct raidtrace_journal __rcu *journal;
	u32 attached;
	struct raidtrace_probe **chain;
	struct raidtrace_bank *bank;

	raw_spinlock_t arrival_lock ____cacheline_aligned_in_smp;
	struct raidtrace_arrival arrival;
	struct raidtrace_submitters submitters;

	raw_spinlock_t lock ____cacheline_aligned_in_smp;
	u64 stopped_ns;
	struct raidtrace_queue state;
};

void raidtrace_probe_find_tracepoints(void);
const char *raidtrace_probe_unavailable(unsigned int *cursor);
bool raidtrace_probe_counts(enum raidtrace_queue_counter counter, bool bio_based);
bool raidtrace_probe_counts_disk(enum raidtrace_disk_counter counter, bool bio_based);

struct raidtrace_bank *raidtrace_bank_alloc(void);
void raidtrace_bank_free(struct raidtrace_bank *bank);

int raidtrace_probe_attach(struct raidtrace_probe *probe, struct gendisk *disk,
			   const struct raidtrace_options *options,
			   struct netlink_ext_ack *extack);
void raidtrace_probe_start(struct raidtrace_probe *probe, struct gendisk *disk,
			   const struct raidtrace_options *options);
void raidtrace_probe_stop(struct raidtrace_probe *probe);
void raidtrace_probe_detach(struct raidtrace_probe *probe);

void raidtrace_probe_set_journal(struct raidtrace_probe *probe,
				 struct raidtrace_journal *journal);

/**
 * struct raidtrace_moment - the states of a probe at one moment
 * @settled: time spent until then
 * @queue: of the disk's requests
 * @streams_alive: raidtrace_streams_alive() of the disk's bios
 * @submitters: processes that queued bios
 */
struct raidtrace_moment {
	struct raidtrace_settled settled;
	struct raidtrace_queue queue;
	unsigned int streams_alive;
	struct raidtrace_submitters submitters;
};

struct raidtrace_bank *raidtrace_probe_swap(struct raidtrace_probe *probe,
					    struct raidtrace_bank *empty, bool reset,
					    struct raidtrace_moment *moment);
void raidtrace_probe_queue_counters(struct raidtrace_probe *probe,
				    struct raidtrace_queue_counters *sum);

#endif /* RAIDTRACE_PROBE_H */
