/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of the block layer's tracepoints.
 *
 * A tracepoint calls its handler once for every target, with the target's
 * probe; the first line of each handler leaves when the event is of another
 * disk.
 *
 * Context: any, hard interrupts included, and from 7.2 on with preemption
 * enabled. No sleeping, no allocation, no printk, no lock but the probe's.
 */
#ifndef RAIDTRACE_PROBE_HANDLERS_H
#define RAIDTRACE_PROBE_HANDLERS_H

#include <linux/blk-mq.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

#include "probe.h"

struct file_ra_state;
struct inode;

/* What a bio or request of an operation asks for; @bytes tells a write from a flush. */
static inline enum raidtrace_direction raidtrace_op_direction(enum req_op op, unsigned int bytes)
{
	if (op == REQ_OP_READ)
		return RAIDTRACE_DIRECTION_READ;
	/* A flush without data is an empty write until the flush machinery takes it up. */
	if (op == REQ_OP_WRITE)
		return bytes ? RAIDTRACE_DIRECTION_WRITE : RAIDTRACE_DIRECTION_FLUSH;
	switch (op) {
	case REQ_OP_ZONE_APPEND:
		return RAIDTRACE_DIRECTION_WRITE;
	case REQ_OP_DISCARD:
		return RAIDTRACE_DIRECTION_DISCARD;
	case REQ_OP_FLUSH:
		return RAIDTRACE_DIRECTION_FLUSH;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		return RAIDTRACE_DIRECTION_PASSTHROUGH;
	default:
		return RAIDTRACE_DIRECTION_OTHER;
	}
}

static inline enum raidtrace_direction
raidtrace_request_direction(const struct request *rq)
{
	return raidtrace_op_direction(req_op(rq), blk_rq_bytes(rq));
}

/*
 * Slots: driver tags, scheduler tags and one for the flush request, per hardware
 * queue. Requests of a queue with an I/O scheduler are told apart by their
 * scheduler tag: the driver tag is given back before the requeue event. The
 * block layer allows at most this many (MAX_SCHED_RQ in block/blk-mq-sched.h).
 */
#define RAIDTRACE_SCHED_TAGS 2048

/*
 * Say which account this CPU counts in, until raidtrace_done_counting().
 * Interrupts stay off from here to there, so that the account has one writer.
 * One of the probe's locks is held.
 */
static inline struct raidtrace_account *raidtrace_begin_counting(struct raidtrace_probe *probe)
{
	WRITE_ONCE(this_cpu_ptr(probe->cpu)->busy, probe->bank);
	return probe->bank->cpu[smp_processor_id()];
}

static inline void raidtrace_done_counting(struct raidtrace_probe *probe)
{
	/* Pairs with the load in wait_until_idle(): the account is written before it is read. */
	smp_store_release(&this_cpu_ptr(probe->cpu)->busy, NULL);
}

/*
 * A bio, or the piece of one that a request has, is done. In probe-request.c.
 * @direction: for one whose queueing was not seen.
 */
void raidtrace_end_bio(struct raidtrace_probe *probe, struct raidtrace_account *account,
		       const struct bio *bio, enum raidtrace_direction direction, u64 now_ns);

/*
 * Slot of a request; NULL when the disk got more hardware queues since attach.
 * In probe-request.c.
 */
struct raidtrace_slot *raidtrace_slot_of(struct raidtrace_probe *probe, const struct request *rq);

/* In probe-queue.c: what comes before the issue. */
void raidtrace_on_bio_queue(void *data, struct bio *bio);
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector);
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio);
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector);
void raidtrace_on_bio_backmerge(void *data, struct bio *bio);
void raidtrace_on_bio_frontmerge(void *data, struct bio *bio);
void raidtrace_on_getrq(void *data, struct bio *bio);
void raidtrace_on_rq_merge(void *data, struct request *rq);
void raidtrace_on_rq_insert(void *data, struct request *rq);

/* In probe-plug.c: requests held back, and waits for tags. */
void raidtrace_on_plug(void *data, struct request_queue *queue);
void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit);
void raidtrace_on_tag_wait(void *data, struct request_queue *queue, struct blk_mq_hw_ctx *hctx,
			   bool scheduler_tag, unsigned int flags);

/* In probe-readahead.c: windows of the page cache. */
void raidtrace_on_ra_order(void *data, struct inode *inode, pgoff_t index,
			   struct file_ra_state *ra);

/* In probe-request.c: the request with the driver. */
void raidtrace_on_rq_issue(void *data, struct request *rq);
void raidtrace_on_rq_requeue(void *data, struct request *rq);
void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes);

#endif /* RAIDTRACE_PROBE_HANDLERS_H */
