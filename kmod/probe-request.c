// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of what happens to a request with the driver: issue, requeue,
 * completion.
 *
 * Where one order of events matters (depth, position of the previous request,
 * which bank is counted in) a handler takes the probe's lock for a few dozen
 * instructions; everything else is counted on the CPU's own account.
 * Documentation/design.rst weighs this against atomic operations.
 */
#include "probe-handlers.h"
#include "probe-ticket.h"

#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

/*
 * Parts of &raidtrace_slot.issued: the issue time, without its highest bits;
 * the row of the depth that the issue found; in flight, or only the end of a
 * flush sequence is to come: the data of such a request is completed first, and
 * the request a second time when the flush behind it is done; the direction.
 */
#define SLOT_DIRECTION	7
#define SLOT_SEQUENCED	BIT(3)
#define SLOT_IN_FLIGHT	BIT(4)
#define SLOT_DEPTH	5
#define SLOT_DEPTH_MASK	15
#define SLOT_TIME	9

static u64 slot_issued(const struct raidtrace_change *change, enum raidtrace_direction direction)
{
	return change->now_ns << SLOT_TIME |
	       raidtrace_depth_row(change->depth.all) << SLOT_DEPTH | SLOT_IN_FLIGHT | direction;
}

static u64 slot_sequenced(enum raidtrace_direction direction)
{
	return SLOT_SEQUENCED | direction;
}

static bool slot_in_flight(u64 slot)
{
	return slot & SLOT_IN_FLIGHT;
}

static enum raidtrace_direction slot_direction(u64 slot)
{
	return slot & SLOT_DIRECTION;
}

static unsigned int slot_depth_row(u64 slot)
{
	return slot >> SLOT_DEPTH & SLOT_DEPTH_MASK;
}

/* Time since the issue; right for a request in flight for less than 2^55 ns, a year. */
static u64 slot_age(u64 slot, u64 now_ns)
{
	return ((now_ns << SLOT_TIME) - (slot >> SLOT_TIME << SLOT_TIME)) >> SLOT_TIME;
}

static bool is_flush_request(const struct request *rq)
{
	return unlikely(req_op(rq) == REQ_OP_FLUSH) && (rq->rq_flags & RQF_FLUSH_SEQ);
}

/*
 * Index of a request's slot in its hardware queue. The flush request borrows
 * the tag of a request that waits for it; there is one at a time, with a slot
 * of its own.
 */
static unsigned int slot_index(const struct raidtrace_probe *probe, const struct request *rq)
{
	if (is_flush_request(rq))
		return probe->slots_per_queue - 1;
	if (rq->internal_tag < 0)
		return (unsigned int)rq->tag < probe->nr_tags ? rq->tag : UINT_MAX;
	return rq->internal_tag < RAIDTRACE_SCHED_TAGS ? probe->nr_tags + rq->internal_tag :
							 UINT_MAX;
}

struct raidtrace_slot *raidtrace_slot_of(struct raidtrace_probe *probe, const struct request *rq)
{
	const struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	unsigned int index = slot_index(probe, rq);

	if (unlikely(index == UINT_MAX || !hctx || hctx->queue_num >= probe->nr_queues))
		return NULL;
	return &probe->slot[(size_t)hctx->queue_num * probe->slots_per_queue + index];
}

/* Begin to count an event that leaves the state of the queue alone. */
static struct raidtrace_account *count_aside(struct raidtrace_probe *probe)
{
	struct raidtrace_account *account;

	raw_spin_lock(&probe->lock);
	account = raidtrace_begin_counting(probe);
	raw_spin_unlock(&probe->lock);
	return account;
}

/* Take a request that the slot says is in flight out of the queue's state. */
static struct raidtrace_account *end_request(struct raidtrace_probe *probe, u64 slot, u64 now_ns,
					     struct raidtrace_change *change)
{
	struct raidtrace_account *account;

	raw_spin_lock(&probe->lock);
	raidtrace_queue_end(&probe->state, now_ns, slot_direction(slot), change);
	account = raidtrace_begin_counting(probe);
	raw_spin_unlock(&probe->lock);
	return account;
}

/* A tag is issued that is in flight: its last request ended without telling. */
static void abandon(struct raidtrace_probe *probe, u64 slot, u64 now_ns)
{
	struct raidtrace_change change;
	struct raidtrace_account *account = end_request(probe, slot, now_ns, &change);

	raidtrace_account_abandon(account, slot_direction(slot), &change);
	raidtrace_done_counting(probe);
}

/*
 * Class of a request's bios: theirs if they agree. As many as the block layer
 * puts in one request; a bio whose queueing was not seen says nothing.
 */
static enum raidtrace_class class_of_request(struct raidtrace_probe *probe,
					     const struct request *rq)
{
	enum raidtrace_class class = RAIDTRACE_CLASS_MIXED;
	const struct bio *bio;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		const struct raidtrace_ticket *ticket = raidtrace_ticket_find(probe->tickets, bio);
		enum raidtrace_class own;

		if (!ticket)
			continue;
		own = raidtrace_ticket_class(ticket->noted);
		if (class != RAIDTRACE_CLASS_MIXED && class != own)
			return RAIDTRACE_CLASS_MIXED;
		class = own;
	}
	return class == RAIDTRACE_CLASS_MIXED ? RAIDTRACE_CLASS_OTHER : class;
}

static noinline void issue(struct raidtrace_probe *probe, struct request *rq)
{
	struct raidtrace_issue issued = {
		.direction = raidtrace_request_direction(rq),
		.class = probe->groups & RAIDTRACE_GROUPS_CLASSES ?
			class_of_request(probe, rq) : RAIDTRACE_CLASS_OTHER,
		.sector = blk_rq_pos(rq),
		.bytes = blk_rq_bytes(rq),
		.place = raidtrace_place_bin(&probe->place, blk_rq_pos(rq)),
	};
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	struct raidtrace_account *account;
	struct raidtrace_change change;
	unsigned long flags;
	u64 now_ns;

	if (!slot)
		return;
	local_irq_save(flags);
	now_ns = ktime_get_ns();
	if (unlikely(slot_in_flight(slot->issued)))
		abandon(probe, slot->issued, now_ns);
	raw_spin_lock(&probe->lock);
	raidtrace_queue_issue(&probe->state, now_ns, &issued, &change);
	account = raidtrace_begin_counting(probe);
	raw_spin_unlock(&probe->lock);
	slot->issued = slot_issued(&change, issued.direction);
	raidtrace_account_issue(account, &issued, &change);
	if (slot->inserted_ns) {
		/* The insert may have had another CPU's clock, a little ahead. */
		raidtrace_account_i2d(account, issued.direction,
				      max(change.now_ns, slot->inserted_ns) - slot->inserted_ns);
		slot->inserted_ns = 0;
	}
	raidtrace_done_counting(probe);
	local_irq_restore(flags);
}

void raidtrace_on_rq_issue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		issue(probe, rq);
}

void raidtrace_end_bio(struct raidtrace_probe *probe, struct raidtrace_account *account,
		       const struct bio *bio, enum raidtrace_direction direction, u64 now_ns)
{
	struct raidtrace_ticket *ticket = raidtrace_ticket_find(probe->tickets, bio);

	if (ticket) {
		u64 noted = ticket->noted;
		u64 queued_ns = raidtrace_ticket_queued_ns(noted);

		raidtrace_ticket_free(ticket);
		if (probe->groups & RAIDTRACE_GROUP_LATENCY)
			raidtrace_account_q2c(account, raidtrace_ticket_direction(noted),
					      max(now_ns, queued_ns) - queued_ns);
	} else if (probe->groups & RAIDTRACE_GROUP_LATENCY) {
		account->flow[direction].q2c_unknown++;
	}
}

/*
 * The bios that end with so many bytes of a request. In a flush sequence they
 * end when the request ends the second time; a passthrough request's bios have
 * no queue event.
 */
static void end_bios(struct raidtrace_probe *probe, struct raidtrace_account *account,
		     const struct request *rq, unsigned int bytes, u64 now_ns)
{
	enum raidtrace_direction direction = raidtrace_request_direction(rq);
	const struct bio *bio;

	if (rq->rq_flags & RQF_FLUSH_SEQ || direction == RAIDTRACE_DIRECTION_PASSTHROUGH)
		return;
	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= bytes; bio = bio->bi_next) {
		bytes -= bio->bi_iter.bi_size;
		raidtrace_end_bio(probe, account, bio, direction, now_ns);
	}
}

/*
 * The last completion of a request that is not in flight. Of one that no slot
 * knows: one that the driver was given was issued unseen; one that it never was
 * given ends without an issue. Else the second end of a flush sequence.
 */
static void end_aside(struct raidtrace_account *account, const struct request *rq, u64 slot,
		      bool error)
{
	bool sequenced = slot & SLOT_SEQUENCED;
	struct raidtrace_flow *flow = &account->flow[sequenced ? slot_direction(slot) :
						     raidtrace_request_direction(rq)];

	flow->errors += error;
	if (sequenced)
		return;
	if (blk_mq_request_started((struct request *)rq))
		flow->unmatched++;
	else
		flow->unissued++;
}

static void count_part(struct raidtrace_account *account, const struct request *rq, u64 slot,
		       bool error, unsigned int bytes)
{
	enum raidtrace_direction direction = slot_in_flight(slot) ?
		slot_direction(slot) : raidtrace_request_direction(rq);
	struct raidtrace_flow *flow = &account->flow[direction];

	flow->partial++;
	flow->errors += error;
	if (slot_in_flight(slot))
		flow->bytes_completed += bytes;
}

/* What is to come of a request's slot when all its bytes are done. */
static void clear_slot(struct raidtrace_slot *slot, const struct request *rq)
{
	if (!slot)
		return;
	slot->issued = (rq->rq_flags & RQF_FLUSH_SEQ) && !is_flush_request(rq) ?
		slot_sequenced(raidtrace_request_direction(rq)) : 0;
	slot->inserted_ns = 0;
}

/* The event comes before the request is changed: blk_rq_bytes() is what was left of it. */
static noinline void complete_request(struct raidtrace_probe *probe, struct request *rq,
				      bool error, unsigned int bytes)
{
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	u64 was = slot ? slot->issued : 0;
	struct raidtrace_account *account;
	struct raidtrace_change change;
	unsigned long flags;
	u64 now_ns;

	local_irq_save(flags);
	now_ns = ktime_get_ns();
	if (unlikely(bytes < blk_rq_bytes(rq))) {
		account = count_aside(probe);
		count_part(account, rq, was, error, bytes);
	} else if (likely(slot_in_flight(was))) {
		clear_slot(slot, rq);
		account = end_request(probe, was, now_ns, &change);
		raidtrace_account_complete(account, slot_direction(was), bytes, error,
					   slot_age(was, change.now_ns), slot_depth_row(was),
					   &change);
	} else {
		clear_slot(slot, rq);
		account = count_aside(probe);
		end_aside(account, rq, was, error);
	}
	if (probe->tickets)
		end_bios(probe, account, rq, bytes, now_ns);
	raidtrace_done_counting(probe);
	local_irq_restore(flags);
}

void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		complete_request(probe, rq, status != BLK_STS_OK, nr_bytes);
}

static noinline void requeue(struct raidtrace_probe *probe, struct request *rq)
{
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	struct raidtrace_account *account;
	struct raidtrace_change change;
	unsigned long flags;

	local_irq_save(flags);
	if (slot && slot_in_flight(slot->issued)) {
		account = end_request(probe, slot->issued, ktime_get_ns(), &change);
		raidtrace_account_requeue(account, slot_direction(slot->issued), &change);
		slot->issued = 0;
	} else {
		count_aside(probe)->flow[raidtrace_request_direction(rq)].requeued_unissued++;
	}
	raidtrace_done_counting(probe);
	local_irq_restore(flags);
}

void raidtrace_on_rq_requeue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		requeue(probe, rq);
}
