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

static noinline void issue(struct raidtrace_probe *probe, struct request *rq)
{
	struct raidtrace_issue issued = {
		.direction = raidtrace_request_direction(rq),
		.class = RAIDTRACE_CLASS_OTHER,
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

/*
 * The last completion of a request that no slot knows. One that the driver was
 * given was issued unseen; one that it never was given ends without an issue.
 */
static void end_unknown(struct raidtrace_probe *probe, struct request *rq, bool error)
{
	struct raidtrace_flow *flow = &count_aside(probe)->flow[raidtrace_request_direction(rq)];

	flow->errors += error;
	if (blk_mq_request_started(rq))
		flow->unmatched++;
	else
		flow->unissued++;
	raidtrace_done_counting(probe);
}

static void complete_part(struct raidtrace_probe *probe, struct request *rq, u64 slot, bool error,
			  unsigned int bytes)
{
	enum raidtrace_direction direction = slot_in_flight(slot) ?
		slot_direction(slot) : raidtrace_request_direction(rq);
	struct raidtrace_flow *flow = &count_aside(probe)->flow[direction];

	flow->partial++;
	flow->errors += error;
	if (slot_in_flight(slot))
		flow->bytes_completed += bytes;
	raidtrace_done_counting(probe);
}

static void complete_rest(struct raidtrace_probe *probe, struct request *rq, u64 slot, bool error,
			  unsigned int bytes)
{
	struct raidtrace_account *account;
	struct raidtrace_change change;

	if (slot_in_flight(slot)) {
		account = end_request(probe, slot, ktime_get_ns(), &change);
		raidtrace_account_complete(account, slot_direction(slot), bytes, error,
					   slot_age(slot, change.now_ns), slot_depth_row(slot),
					   &change);
		raidtrace_done_counting(probe);
	} else if (!(slot & SLOT_SEQUENCED)) {
		end_unknown(probe, rq, error);
	} else if (error) {
		count_aside(probe)->flow[slot_direction(slot)].errors++;
		raidtrace_done_counting(probe);
	}
}

/* The event comes before the request is changed: blk_rq_bytes() is what was left of it. */
static noinline void complete_request(struct raidtrace_probe *probe, struct request *rq,
				      bool error, unsigned int bytes)
{
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	u64 was = slot ? slot->issued : 0;
	unsigned long flags;

	local_irq_save(flags);
	if (unlikely(bytes < blk_rq_bytes(rq))) {
		complete_part(probe, rq, was, error, bytes);
	} else {
		if (slot) {
			slot->issued = (rq->rq_flags & RQF_FLUSH_SEQ) && !is_flush_request(rq) ?
				slot_sequenced(raidtrace_request_direction(rq)) : 0;
			slot->inserted_ns = 0;
		}
		complete_rest(probe, rq, was, error, bytes);
	}
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
