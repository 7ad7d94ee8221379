// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of what happens to a request with the driver: issue, requeue,
 * completion.
 *
 * Depth, position of the previous request and the bank that is counted in need
 * one order of events: a handler takes the probe's lock for the hundred
 * instructions that it counts for. Documentation/design.rst weighs this against
 * atomic operations.
 */
#include "account-place.h"
#include "account-request.h"
#include "probe-handlers.h"
#include "probe-ticket.h"

#include <linux/ktime.h>
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

/* @depth: that the issue found. */
static u64 slot_issued(u64 now_ns, u32 depth, enum raidtrace_direction direction)
{
	return now_ns << SLOT_TIME | raidtrace_depth_row(depth) << SLOT_DEPTH | SLOT_IN_FLIGHT |
	       direction;
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

/* A tag is issued that is in flight: its last request ended without telling. */
static noinline void abandon(struct raidtrace_probe *probe, u64 slot, u64 now_ns)
{
	raidtrace_count_abandon(&probe->state, raidtrace_account_of(probe),
				raidtrace_queue_time(&probe->state, now_ns), slot_direction(slot));
}

/*
 * Class of a request's bios: theirs if they agree. As many as the block layer
 * puts in one request; a bio whose queueing was not seen says nothing.
 */
static enum raidtrace_class class_of_bios(struct raidtrace_probe *probe,
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

static noinline void issue(struct raidtrace_probe *probe, struct request *rq,
			   enum raidtrace_class class)
{
	struct raidtrace_issue issued = {
		.direction = raidtrace_request_direction(rq),
		.class = class,
		.sector = blk_rq_pos(rq),
		.bytes = blk_rq_bytes(rq),
		.place = probe->groups & RAIDTRACE_GROUP_PLACE ?
			raidtrace_place_bin(&probe->place, blk_rq_pos(rq)) : 0,
	};
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	struct raidtrace_account *account;
	unsigned long flags;
	u64 now_ns;

	if (unlikely(!slot))
		return;
	local_irq_save(flags);
	now_ns = ktime_get_ns();
	raw_spin_lock(&probe->lock);
	if (unlikely(slot_in_flight(slot->issued)))
		abandon(probe, slot->issued, now_ns);
	account = raidtrace_account_of(probe);
	now_ns = raidtrace_queue_time(&probe->state, now_ns);
	slot->issued = slot_issued(now_ns, probe->state.in_flight[RAIDTRACE_DIRECTION_ALL],
				   issued.direction);
	raidtrace_count_issue(&probe->state, account, now_ns, &issued);
	if (slot->inserted_ns) {
		/* The insert may have had another CPU's clock, a little ahead. */
		raidtrace_count_i2d(account, issued.direction,
				    max(now_ns, slot->inserted_ns) - slot->inserted_ns);
		slot->inserted_ns = 0;
	}
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

static noinline void issue_bios(struct raidtrace_probe *probe, struct request *rq)
{
	issue(probe, rq, class_of_bios(probe, rq));
}

void raidtrace_on_rq_issue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);
	const struct raidtrace_ticket *ticket;

	if (!probe)
		return;
	if (!(probe->groups & RAIDTRACE_GROUPS_CLASSES)) {
		issue(probe, rq, RAIDTRACE_CLASS_OTHER);
		return;
	}
	ticket = raidtrace_ticket_home(probe->tickets, rq->bio);
	if (rq->bio && !rq->bio->bi_next && READ_ONCE(ticket->bio) == rq->bio)
		issue(probe, rq, raidtrace_ticket_class(ticket->noted));
	else
		issue_bios(probe, rq);
}

/*
 * The bios that end with so many bytes of a request. In a flush sequence they
 * end when the request ends the second time; a passthrough request's bios have
 * no queue event.
 */
static void end_bios(struct raidtrace_probe *probe, struct raidtrace_account *account,
		     const struct request *rq, unsigned int bytes, u64 now_ns)
{
	const struct bio *bio;

	if (rq->rq_flags & RQF_FLUSH_SEQ || blk_op_is_passthrough(req_op(rq)))
		return;
	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= bytes; bio = bio->bi_next) {
		bytes -= bio->bi_iter.bi_size;
		raidtrace_end_bio(probe, account, bio, now_ns);
	}
}

/*
 * The last completion of a request that is not in flight. Of one that no slot
 * knows: one that the driver was given was issued unseen; one that it never was
 * given ends without an issue. Else the second end of a flush sequence.
 */
static noinline void end_aside(struct raidtrace_account *account, const struct request *rq,
			       u64 slot, bool error)
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

static noinline void count_part(struct raidtrace_account *account, const struct request *rq,
				u64 slot, bool error, unsigned int bytes)
{
	enum raidtrace_direction direction = slot_in_flight(slot) ?
		slot_direction(slot) : raidtrace_request_direction(rq);
	struct raidtrace_flow *flow = &account->flow[direction];

	flow->partial++;
	flow->errors += error;
	if (slot_in_flight(slot))
		flow->bytes_completed += bytes;
}

/* All bytes of a request are done; of one in a flush sequence its second end is to come. */
static void clear_slot(struct raidtrace_slot *slot, const struct request *rq)
{
	if (!slot)
		return;
	slot->issued = unlikely(rq->rq_flags & RQF_FLUSH_SEQ) && !raidtrace_is_flush_request(rq) ?
		slot_sequenced(raidtrace_request_direction(rq)) : 0;
	slot->inserted_ns = 0;
}

static void complete_issued(struct raidtrace_probe *probe, struct raidtrace_account *account,
			    u64 slot, unsigned int bytes, bool error, u64 now_ns)
{
	struct raidtrace_completion completion = {
		.direction = slot_direction(slot),
		.bytes = bytes,
		.error = error,
		.d2c_ns = slot_age(slot, now_ns),
		.depth_row = slot_depth_row(slot),
	};

	raidtrace_count_completion(&probe->state, account, now_ns, &completion);
}

/* The event comes before the request is changed: blk_rq_bytes() is what was left of it. */
static noinline void complete_request(struct raidtrace_probe *probe, struct request *rq,
				      bool error, unsigned int bytes)
{
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	u64 was = slot ? slot->issued : 0;
	struct raidtrace_account *account;
	unsigned long flags;
	u64 now_ns;

	local_irq_save(flags);
	now_ns = ktime_get_ns();
	raw_spin_lock(&probe->lock);
	account = raidtrace_account_of(probe);
	now_ns = raidtrace_queue_time(&probe->state, now_ns);
	if (unlikely(bytes < blk_rq_bytes(rq))) {
		count_part(account, rq, was, error, bytes);
	} else {
		if (likely(slot_in_flight(was)))
			complete_issued(probe, account, was, bytes, error, now_ns);
		else
			end_aside(account, rq, was, error);
		clear_slot(slot, rq);
	}
	if (probe->tickets)
		end_bios(probe, account, rq, bytes, now_ns);
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

void raidtrace_on_rq_complete(void *data, struct request *rq, blk_status_t status,
			      unsigned int nr_bytes)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (probe)
		complete_request(probe, rq, status != BLK_STS_OK, nr_bytes);
}

static noinline void requeue(struct raidtrace_probe *probe, struct request *rq)
{
	struct raidtrace_slot *slot = raidtrace_slot_of(probe, rq);
	struct raidtrace_account *account;
	unsigned long flags;

	raw_spin_lock_irqsave(&probe->lock, flags);
	account = raidtrace_account_of(probe);
	if (slot && slot_in_flight(slot->issued)) {
		enum raidtrace_direction direction = slot_direction(slot->issued);

		raidtrace_count_requeue(&probe->state, account,
					raidtrace_queue_time(&probe->state, ktime_get_ns()),
					direction);
		slot->issued = 0;
	} else {
		account->flow[raidtrace_request_direction(rq)].requeued_unissued++;
	}
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

void raidtrace_on_rq_requeue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (probe)
		requeue(probe, rq);
}
