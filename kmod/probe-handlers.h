/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of the block layer's tracepoints.
 *
 * A tracepoint calls its handler once, however many targets there are; the
 * handler looks up the probe of the disk and leaves when it has none.
 *
 * Context: any, hard interrupts included, and from 7.2 on with preemption
 * enabled. No sleeping, no allocation, no printk, no lock but the probe's.
 */
#ifndef RAIDTRACE_PROBE_HANDLERS_H
#define RAIDTRACE_PROBE_HANDLERS_H

#include <linux/blk-mq.h>
#include <linux/hash.h>
#include <linux/percpu.h>

#include "account-bio.h"
#include "probe.h"
#include "probe-ticket.h"

struct file_ra_state;
struct inode;

/* Probes by the hash of their queue; changed by probe.c under raidtrace_targets_lock(). */
#define RAIDTRACE_PROBE_HASH_BITS 8
extern struct raidtrace_probe *raidtrace_probes[1 << RAIDTRACE_PROBE_HASH_BITS];

static inline struct raidtrace_probe **raidtrace_probe_chain(const struct request_queue *queue)
{
	return &raidtrace_probes[hash_ptr(queue, RAIDTRACE_PROBE_HASH_BITS)];
}

/* Probe that counts a queue, NULL for none; good until the handler returns. */
static inline struct raidtrace_probe *raidtrace_probe_of(const struct request_queue *queue)
{
	struct raidtrace_probe *probe = READ_ONCE(*raidtrace_probe_chain(queue));

	while (probe && READ_ONCE(probe->queue) != queue)
		probe = READ_ONCE(probe->next);
	return probe;
}

static inline struct raidtrace_probe *raidtrace_probe_of_bio(const struct bio *bio)
{
	return raidtrace_probe_of(bio->bi_bdev->bd_queue);
}

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

static inline enum raidtrace_direction raidtrace_bio_direction(const struct bio *bio)
{
	return raidtrace_op_direction(bio_op(bio), bio->bi_iter.bi_size);
}

static inline enum raidtrace_direction
raidtrace_request_direction(const struct request *rq)
{
	return raidtrace_op_direction(req_op(rq), blk_rq_bytes(rq));
}

static inline bool raidtrace_is_flush_request(const struct request *rq)
{
	return unlikely(req_op(rq) == REQ_OP_FLUSH) && (rq->rq_flags & RQF_FLUSH_SEQ);
}

/*
 * Slots: driver tags, scheduler tags and one for the flush request, per hardware
 * queue. Requests of a queue with an I/O scheduler are told apart by their
 * scheduler tag: the driver tag is given back before the requeue event. The
 * block layer allows at most this many (MAX_SCHED_RQ in block/blk-mq-sched.h).
 */
#define RAIDTRACE_SCHED_TAGS 2048

/*
 * Slot of a request; NULL when the disk got more hardware queues since attach.
 * The flush request borrows the tag of a request that waits for it; there is one
 * at a time, with a slot of its own.
 */
static inline struct raidtrace_slot *raidtrace_slot_of(struct raidtrace_probe *probe,
						       const struct request *rq)
{
	const struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	unsigned int tag = rq->tag, sched_tag = rq->internal_tag;
	struct raidtrace_slot *slot;

	if (unlikely(!hctx || hctx->queue_num >= probe->nr_queues))
		return NULL;
	slot = probe->slot + (size_t)hctx->queue_num * probe->slots_per_queue;
	if (raidtrace_is_flush_request(rq))
		return slot + probe->slots_per_queue - 1;
	if (rq->internal_tag < 0)
		return likely(tag < probe->nr_tags) ? slot + tag : NULL;
	return likely(sched_tag < RAIDTRACE_SCHED_TAGS) ? slot + probe->nr_tags + sched_tag : NULL;
}

/*
 * The account that this CPU counts in. One of the probe's locks is held, so that
 * the account is in use, and with interrupts off, so that it has one writer.
 */
static inline struct raidtrace_account *raidtrace_account_of(const struct raidtrace_probe *probe)
{
	return probe->bank->cpu[smp_processor_id()];
}

/* A bio, or the piece of one that a request has, is done. */
static inline void raidtrace_end_bio(struct raidtrace_probe *probe,
				     struct raidtrace_account *account, const struct bio *bio,
				     u64 now_ns)
{
	struct raidtrace_ticket *ticket = raidtrace_ticket_find(probe->tickets, bio);
	bool timed = probe->groups & RAIDTRACE_GROUP_LATENCY;

	if (likely(ticket)) {
		u64 noted = ticket->noted;
		u64 queued_ns = raidtrace_ticket_queued_ns(noted);

		raidtrace_ticket_free(ticket);
		if (timed)
			raidtrace_count_q2c(account, raidtrace_ticket_direction(noted),
					    max(now_ns, queued_ns) - queued_ns);
	} else if (timed) {
		account->flow[raidtrace_bio_direction(bio)].q2c_unknown++;
	}
}

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
