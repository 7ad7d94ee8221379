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

struct gendisk;
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
 * struct raidtrace_queue_counters - events before the issue
 * @count: per direction and &enum raidtrace_queue_counter
 */
struct raidtrace_queue_counters {
	u64 count[RAIDTRACE_DIRECTIONS][RAIDTRACE_QUEUE_COUNTERS];
};

/**
 * struct raidtrace_probe_cpu - what one CPU counts of a probe by itself
 * @busy: bank that a handler on this CPU is counting in; set under the probe's
 *	lock, cleared when the handler is done
 * @queued: events before the issue; they only grow, by this_cpu operations
 */
struct raidtrace_probe_cpu {
	struct raidtrace_bank *busy;
	struct raidtrace_queue_counters queued;
};

/**
 * struct raidtrace_probe - what the handlers know of one disk
 * @queue: count requests of this queue; NULL counts none. Only compared, never
 *	dereferenced
 * @disk: count bios to this disk; as @queue
 * @cpu: counters of events before the issue, and what account a CPU is using
 * @slot: per hardware queue and tag, when the request was issued and how it
 *	counts; only the handlers of that one request touch a slot
 * @nr_queues: hardware queues that @slot has room for
 * @nr_tags: driver tags per hardware queue that @slot has room for
 * @slots_per_queue: slots from one hardware queue to the next
 * @attached: tracepoints registered, a bit for each row of the table
 * @lock: puts the events of the disk in one order; protects what follows it.
 *	A leaf: taken with interrupts off, held for a few dozen instructions
 * @stopped_ns: when counting ended, 0 while it goes on
 * @bank: accounts that events are counted in
 * @state: of the disk's queue
 */
struct raidtrace_probe {
	struct request_queue *queue;
	struct gendisk *disk;
	struct raidtrace_probe_cpu __percpu *cpu;
	u64 *slot;
	unsigned int nr_queues;
	unsigned int nr_tags;
	unsigned int slots_per_queue;
	u32 attached;

	raw_spinlock_t lock ____cacheline_aligned_in_smp;
	u64 stopped_ns;
	struct raidtrace_bank *bank;
	struct raidtrace_queue state;
};

void raidtrace_probe_find_tracepoints(void);
const char *raidtrace_probe_unavailable(unsigned int *cursor);
bool raidtrace_probe_counts(enum raidtrace_queue_counter counter, bool bio_based);

struct raidtrace_bank *raidtrace_bank_alloc(void);
void raidtrace_bank_free(struct raidtrace_bank *bank);

int raidtrace_probe_attach(struct raidtrace_probe *probe, struct request_queue *queue,
			   struct netlink_ext_ack *extack);
void raidtrace_probe_start(struct raidtrace_probe *probe, struct gendisk *disk);
void raidtrace_probe_stop(struct raidtrace_probe *probe);
void raidtrace_probe_detach(struct raidtrace_probe *probe);

struct raidtrace_bank *raidtrace_probe_swap(struct raidtrace_probe *probe,
					    struct raidtrace_bank *empty, bool reset,
					    struct raidtrace_settled *settled,
					    struct raidtrace_queue *state);
void raidtrace_probe_queue_counters(struct raidtrace_probe *probe,
				    struct raidtrace_queue_counters *sum);

#endif /* RAIDTRACE_PROBE_H */
