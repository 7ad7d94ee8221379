// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of requests with the driver: issue and completion. */
#include "probe-handlers.h"

/*
 * Write each of several bios, before the record of their request. The block layer limits their
 * number. Returns the time of the last record.
 */
static noinline u64 write_bios(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
			       const struct request *rq)
{
	const struct bio *bio;
	u64 now_ns = 0;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		u64 *record = raidtrace_ring_next(probe, ring, now_ns);

		now_ns = record[0];
		record[1] = RAIDTRACE_EVENT_ISSUE_BIO;
		record[2] = (uintptr_t)rq;
		record[3] = (uintptr_t)bio;
		raidtrace_ring_publish(ring, RAIDTRACE_EVENT_ISSUE_BIO);
	}
	return now_ns;
}

static __always_inline u32 row_flags(const struct request *rq)
{
	return min_t(unsigned int, rq->mq_hctx->queue_num, RAIDTRACE_HWQ_REST) <<
	       RAIDTRACE_EVENT_ROW;
}

static noinline void write_issue(struct raidtrace_probe *probe, const struct request *rq)
{
	const struct bio *bio = probe->groups & RAIDTRACE_GROUPS_BIOS ? rq->bio : NULL;
	enum raidtrace_event kind = RAIDTRACE_EVENT_ISSUE;
	u32 head_flags = raidtrace_unplaced(req_op(rq));
	struct raidtrace_ring *ring;
	unsigned long flags;
	u64 *record, now_ns = 0;

	if (raidtrace_wants_hwq(probe)) {
		kind = RAIDTRACE_EVENT_ISSUE_HWQ;
		head_flags |= row_flags(rq);
	}

	local_irq_save(flags);
	ring = this_cpu_ptr(probe->ring);
	if (unlikely(bio && bio->bi_next)) {
		now_ns = write_bios(probe, ring, rq);
		bio = NULL;
	}
	record = raidtrace_ring_next(probe, ring, now_ns);
	record[1] = raidtrace_event_head(kind, raidtrace_request_direction(rq), 0, head_flags,
					 blk_rq_bytes(rq));
	record[2] = (uintptr_t)rq;
	record[3] = blk_rq_pos(rq);
	record[4] = (uintptr_t)bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_ISSUE);
	local_irq_restore(flags);
}

void raidtrace_on_rq_issue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (probe)
		write_issue(probe, rq);
}

/*
 * Write the end of each of several bios that end with this many bytes of their request. Returns the
 * time of the last record, 0 if no bio ends.
 */
static noinline u64 write_ends(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
			       const struct request *rq, unsigned int bytes)
{
	const struct bio *bio;
	u64 now_ns = 0;

	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= bytes; bio = bio->bi_next) {
		u64 *record = raidtrace_ring_next(probe, ring, now_ns);

		bytes -= bio->bi_iter.bi_size;
		now_ns = record[0];
		record[1] = raidtrace_event_head(RAIDTRACE_EVENT_END, raidtrace_bio_direction(bio),
						 0, 0, 0);
		record[2] = (uintptr_t)bio;
		raidtrace_ring_publish(ring, RAIDTRACE_EVENT_END);
	}
	return now_ns;
}

/*
 * Bios that end with a request. Those of a flush sequence end with its second end; those of a
 * passthrough request were not queued.
 */
static __always_inline const struct bio *bios_ended(const struct raidtrace_probe *probe,
						    const struct request *rq)
{
	bool ended = probe->groups & RAIDTRACE_GROUPS_BIOS && !(rq->rq_flags & RQF_FLUSH_SEQ) &&
		     !blk_op_is_passthrough(req_op(rq));

	return ended ? rq->bio : NULL;
}

/*
 * The event comes before the request is changed: blk_rq_bytes() is the rest of it. The data of a
 * flush sequence completes first, and the request a second time after the flush behind it, which is
 * a request of its own.
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

static noinline void write_complete(struct raidtrace_probe *probe, const struct request *rq,
				    bool error, unsigned int bytes)
{
	const struct bio *bio = bios_ended(probe, rq);
	struct raidtrace_ring *ring;
	unsigned long flags;
	u64 *record, now_ns = 0;

	local_irq_save(flags);
	ring = this_cpu_ptr(probe->ring);
	if (unlikely(bio && bio->bi_next)) {
		now_ns = write_ends(probe, ring, rq, bytes);
		bio = NULL;
	}
	if (bio && bio->bi_iter.bi_size > bytes)
		bio = NULL;
	record = raidtrace_ring_next(probe, ring, now_ns);
	record[1] = raidtrace_event_head(raidtrace_wants_hwq(probe) ?
					 RAIDTRACE_EVENT_COMPLETE_HWQ : RAIDTRACE_EVENT_COMPLETE,
					 raidtrace_request_direction(rq), 0,
					 completion_flags(rq, error, bytes), bytes);
	record[2] = (uintptr_t)rq;
	record[3] = (uintptr_t)bio;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_COMPLETE);
	local_irq_restore(flags);
}

/*
 * Request-based dm completes the data of a request, and then the request, which has no bio left. Only
 * flush and passthrough requests can be without a bio from the beginning.
 */
static noinline void write_complete_empty(struct raidtrace_probe *probe, const struct request *rq,
					  bool error)
{
	if (rq->bio || req_op(rq) == REQ_OP_FLUSH || blk_op_is_passthrough(req_op(rq)))
		write_complete(probe, rq, error, 0);
}

void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (!probe)
		return;
	if (likely(nr_bytes))
		write_complete(probe, rq, status != BLK_STS_OK, nr_bytes);
	else
		write_complete_empty(probe, rq, status != BLK_STS_OK);
}
