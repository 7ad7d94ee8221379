/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers of the block layer's tracepoints. A tracepoint calls its handler once, for all targets;
 * the handler looks up the probe of the disk.
 *
 * Context: any, hard interrupts included, and from 7.2 on with preemption enabled: no sleep, no
 * allocation, no printk. A handler writes events to the ring of its CPU, and takes no lock unless
 * the worker is late to count them.
 */
#ifndef RAIDTRACE_PROBE_HANDLERS_H
#define RAIDTRACE_PROBE_HANDLERS_H

#include <linux/blk-mq.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>

#include "probe.h"
#include "ring.h"

struct file_ra_state;
struct inode;

/* Probes by a hash of their queue. One caller at a time attaches or detaches. */
extern struct raidtrace_probe *raidtrace_probes[256];

/* Enabled while hardware queues of a target are counted. Disabled, it costs one instruction. */
DECLARE_STATIC_KEY_FALSE(raidtrace_hwq_key);

static __always_inline bool raidtrace_wants_hwq(const struct raidtrace_probe *probe)
{
	return static_branch_unlikely(&raidtrace_hwq_key) &&
	       probe->groups & RAIDTRACE_GROUP_HWQ;
}

/* A queue is larger than 256 bytes: neighbours differ in this byte of the address. */
static inline struct raidtrace_probe **raidtrace_probe_chain(const struct request_queue *queue)
{
	return &raidtrace_probes[(unsigned char)((uintptr_t)queue >> 8)];
}

/* The probe of a queue, NULL for none. It is valid until the handler returns. */
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

/* Direction of an operation. A write with no @bytes is a flush. */
static __always_inline enum raidtrace_direction
raidtrace_op_direction(enum req_op op, unsigned int bytes)
{
	if (op == REQ_OP_READ)
		return RAIDTRACE_DIRECTION_READ;
	/* A flush without data is an empty write before the flush machinery has it. */
	if (op == REQ_OP_WRITE)
		return bytes ? RAIDTRACE_DIRECTION_WRITE : RAIDTRACE_DIRECTION_FLUSH;
	switch (op) {
	case REQ_OP_ZONE_APPEND:
		return RAIDTRACE_DIRECTION_WRITE;
	case REQ_OP_DISCARD:
		return RAIDTRACE_DIRECTION_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return RAIDTRACE_DIRECTION_WRITE_ZEROES;
	case REQ_OP_FLUSH:
		return RAIDTRACE_DIRECTION_FLUSH;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		return RAIDTRACE_DIRECTION_PASSTHROUGH;
	default:
		return RAIDTRACE_DIRECTION_OTHER;
	}
}

static __always_inline enum raidtrace_direction raidtrace_bio_direction(const struct bio *bio)
{
	return raidtrace_op_direction(bio_op(bio), bio->bi_iter.bi_size);
}

static __always_inline enum raidtrace_direction
raidtrace_request_direction(const struct request *rq)
{
	return raidtrace_op_direction(req_op(rq), blk_rq_bytes(rq));
}

/* The sector of a zone append is that of its zone; the disk decides where it goes. */
static __always_inline u32 raidtrace_unplaced(enum req_op op)
{
	return op == REQ_OP_ZONE_APPEND ? RAIDTRACE_EVENT_UNPLACED : 0;
}

/* Write an event at the present time; @one and @two are its words. */
static __always_inline void raidtrace_write_event(struct raidtrace_probe *probe,
						  enum raidtrace_event kind, u64 head,
						  const void *one, const void *two)
{
	struct raidtrace_ring *ring;
	unsigned long flags;
	u64 *record;

	local_irq_save(flags);
	ring = this_cpu_ptr(probe->ring);
	record = raidtrace_ring_next(probe, ring, 0);
	record[1] = head | kind;
	if (raidtrace_event_words(kind) > 2)
		record[2] = (uintptr_t)one;
	if (raidtrace_event_words(kind) > 3)
		record[3] = (uintptr_t)two;
	raidtrace_ring_publish(ring, kind);
	local_irq_restore(flags);
}

/* Write an event without state; @amount is that of an unplug or a window. */
static __always_inline void raidtrace_write_count(struct raidtrace_probe *probe,
						  enum raidtrace_direction direction,
						  enum raidtrace_event_counter counter,
						  u32 amount)
{
	raidtrace_write_event(probe, RAIDTRACE_EVENT_COUNT,
			      raidtrace_event_head(RAIDTRACE_EVENT_COUNT, direction, counter, 0,
						   amount), NULL, NULL);
}

/* probe-queue.c */
void raidtrace_on_bio_queue(void *data, struct bio *bio);
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector);
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio);
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector);
void raidtrace_on_bio_backmerge(void *data, struct bio *bio);
void raidtrace_on_bio_frontmerge(void *data, struct bio *bio);
void raidtrace_on_rq_merge(void *data, struct request *rq);
void raidtrace_on_rq_insert(void *data, struct request *rq);

void raidtrace_on_plug(void *data, struct request_queue *queue);
void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit);
void raidtrace_on_ra_order(void *data, struct inode *inode, pgoff_t index,
			   struct file_ra_state *ra);

/* probe-request.c */
void raidtrace_on_rq_issue(void *data, struct request *rq);
void raidtrace_on_rq_requeue(void *data, struct request *rq);
void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes);

#endif /* RAIDTRACE_PROBE_HANDLERS_H */
