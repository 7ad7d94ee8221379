// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of what happens to a request with the driver: issue and completion. */
#include "probe-handlers.h"

/*
 * Each bio of several, before the record of the request that they are in. They
 * are as many as the block layer puts in one request.
 */
static noinline void write_bios(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
				const struct request *rq, u64 now_ns)
{
	const struct bio *bio;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		u64 *record = raidtrace_ring_next(probe, ring, false);

		record[0] = now_ns;
		record[1] = RAIDTRACE_EVENT_ISSUE_BIO;
		record[2] = (uintptr_t)rq;
		record[3] = (uintptr_t)bio;
		raidtrace_ring_publish(ring, RAIDTRACE_EVENT_ISSUE_BIO);
	}
}

static __always_inline const struct bio *bios_issued(const struct raidtrace_probe *probe,
						     const struct request *rq)
{
	return probe->groups & RAIDTRACE_GROUPS_BIOS ? rq->bio : NULL;
}

/* Context: interrupts off. */
static __always_inline void write_issue(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
					const struct request *rq, const struct bio *bio,
					bool at_once)
{
	u64 now_ns = raidtrace_clock_read(at_once || probe->by_counter);
	bool several = !at_once && bio && bio->bi_next;
	u64 *record;

	if (several)
		write_bios(probe, ring, rq, now_ns);
	record = raidtrace_ring_next(probe, ring, at_once);
	record[0] = now_ns;
	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_ISSUE, raidtrace_request_direction(rq), 0,
					 raidtrace_unplaced(req_op(rq)), blk_rq_bytes(rq));
	record[2] = (uintptr_t)rq;
	record[3] = blk_rq_pos(rq);
	record[4] = several ? 0 : (uintptr_t)bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_ISSUE);
}

static noinline void issue_any(struct raidtrace_probe *probe, const struct request *rq)
{
	unsigned long flags;

	local_irq_save(flags);
	write_issue(probe, this_cpu_ptr(probe->ring), rq, bios_issued(probe, rq), false);
	local_irq_restore(flags);
}

void raidtrace_on_rq_issue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);
	struct raidtrace_ring *ring;
	const struct bio *bio;
	unsigned long flags;

	if (!probe)
		return;
	bio = bios_issued(probe, rq);
	local_irq_save(flags);
	ring = this_cpu_ptr(probe->ring);
	if (raidtrace_writes_at_once(probe, ring, bio)) {
		write_issue(probe, ring, rq, bio, true);
		local_irq_restore(flags);
		return;
	}
	local_irq_restore(flags);
	issue_any(probe, rq);
}

/* The bios of several that end with so many bytes of their request. */
static noinline void write_ends(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
				const struct request *rq, unsigned int bytes, u64 now_ns)
{
	const struct bio *bio;

	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= bytes; bio = bio->bi_next) {
		u64 *record = raidtrace_ring_next(probe, ring, false);

		bytes -= bio->bi_iter.bi_size;
		record[0] = now_ns;
		record[1] = raidtrace_event_head(RAIDTRACE_EVENT_END, raidtrace_bio_direction(bio),
						 0, 0, 0);
		record[2] = (uintptr_t)bio;
		raidtrace_ring_publish(ring, RAIDTRACE_EVENT_END);
	}
}

/*
 * The bios of a flush sequence end when the request ends the second time; those
 * of a passthrough request have no queue event.
 */
static __always_inline const struct bio *bios_ended(const struct raidtrace_probe *probe,
						    const struct request *rq)
{
	bool ended = probe->groups & RAIDTRACE_GROUPS_BIOS && !(rq->rq_flags & RQF_FLUSH_SEQ) &&
		     !blk_op_is_passthrough(req_op(rq));

	return ended ? rq->bio : NULL;
}

/*
 * The event comes before the request is changed: blk_rq_bytes() is what was left
 * of it. The data of a flush sequence is completed first, and the request a
 * second time when the flush behind it is done; that flush is a request of its own.
 */
static u32 completion_flags(const struct request *rq, bool error, unsigned int bytes)
{
	u32 flags = error ? RAIDTRACE_EVENT_ERROR : 0;

	if (unlikely(bytes < blk_rq_bytes(rq)))
		flags |= RAIDTRACE_EVENT_PART;
	if (unlikely(rq->rq_flags & RQF_FLUSH_SEQ) && req_op(rq) != REQ_OP_FLUSH)
		flags |= RAIDTRACE_EVENT_SEQUENCE;
	if (likely(blk_mq_request_started((struct request *)rq)))
		flags |= RAIDTRACE_EVENT_STARTED;
	return flags;
}

/* Context: interrupts off. */
static __always_inline void write_complete(struct raidtrace_probe *probe,
					   struct raidtrace_ring *ring, const struct request *rq,
					   const struct bio *bio, bool error, unsigned int bytes,
					   bool at_once)
{
	u64 now_ns = raidtrace_clock_read(at_once || probe->by_counter);
	u64 *record;

	if (!at_once && bio && bio->bi_next) {
		write_ends(probe, ring, rq, bytes, now_ns);
		bio = NULL;
	}
	if (bio && bio->bi_iter.bi_size > bytes)
		bio = NULL;
	record = raidtrace_ring_next(probe, ring, at_once);
	record[0] = now_ns;
	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_COMPLETE, raidtrace_request_direction(rq),
					 0, completion_flags(rq, error, bytes), bytes);
	record[2] = (uintptr_t)rq;
	record[3] = (uintptr_t)bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_COMPLETE);
}

static noinline void complete_any(struct raidtrace_probe *probe, const struct request *rq,
				  bool error, unsigned int bytes)
{
	unsigned long flags;

	local_irq_save(flags);
	write_complete(probe, this_cpu_ptr(probe->ring), rq, bios_ended(probe, rq), error, bytes,
		       false);
	local_irq_restore(flags);
}

void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);
	struct raidtrace_ring *ring;
	const struct bio *bio;
	unsigned long flags;

	if (!probe)
		return;
	bio = bios_ended(probe, rq);
	local_irq_save(flags);
	ring = this_cpu_ptr(probe->ring);
	if (raidtrace_writes_at_once(probe, ring, bio)) {
		write_complete(probe, ring, rq, bio, status != BLK_STS_OK, nr_bytes, true);
		local_irq_restore(flags);
		return;
	}
	local_irq_restore(flags);
	complete_any(probe, rq, status != BLK_STS_OK, nr_bytes);
}
