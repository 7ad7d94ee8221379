// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of what happens before a request is issued: bios queued, split and merged. */
#include "probe-handlers.h"
#include "probe-ticket.h"

#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

/* These events only ever add; they need no order and no lock. */
static void count_queue(struct raidtrace_probe *probe, enum raidtrace_direction direction,
			enum raidtrace_queue_counter counter)
{
	this_cpu_inc(probe->cpu->queued.count[direction][counter]);
}

static void count_bio(struct raidtrace_probe *probe, const struct bio *bio,
		      enum raidtrace_queue_counter counter)
{
	if (bio->bi_bdev->bd_disk == READ_ONCE(probe->disk))
		count_queue(probe, raidtrace_op_direction(bio_op(bio), bio->bi_iter.bi_size),
			    counter);
}

/* The class comes from here, so that a request can tell it of its bios. */
static void note(struct raidtrace_probe *probe, struct bio *bio, const struct raidtrace_bio *queued)
{
	u64 now_ns = probe->groups & RAIDTRACE_GROUP_LATENCY ? ktime_get_ns() : 0;

	raidtrace_ticket_put(probe->tickets, bio,
			     raidtrace_ticket_note(now_ns, queued->direction, queued->class));
}

static noinline void queue(struct raidtrace_probe *probe, struct bio *bio)
{
	struct raidtrace_bio queued = {
		.direction = raidtrace_op_direction(bio_op(bio), bio->bi_iter.bi_size),
		.class = RAIDTRACE_CLASS_OTHER,
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.submitter = RAIDTRACE_SUBMITTER_REST,
		.ahead = bio->bi_opf & REQ_RAHEAD,
	};
	struct raidtrace_account *account;
	struct raidtrace_step step;
	unsigned long flags;

	if (probe->groups & RAIDTRACE_GROUPS_CLASSES)
		queued.class = raidtrace_class_of(&probe->journal, bio);
	if (probe->tickets)
		note(probe, bio, &queued);
	raw_spin_lock_irqsave(&probe->arrival_lock, flags);
	raidtrace_arrival_bio(&probe->arrival, &queued, &step);
	if (probe->groups & RAIDTRACE_GROUP_SUBMITTER)
		queued.submitter = raidtrace_submitter_row(&probe->submitters);
	account = raidtrace_begin_counting(probe);
	raw_spin_unlock(&probe->arrival_lock);
	raidtrace_account_bio(account, &queued, &step);
	raidtrace_done_counting(probe);
	local_irq_restore(flags);
}

void raidtrace_on_bio_queue(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = data;

	if (bio->bi_bdev->bd_disk == READ_ONCE(probe->disk))
		queue(probe, bio);
}

/*
 * md sends the very bio that it was given on to a member, and that one has no
 * queue event any more. A bio that begins its way here, such as one that a
 * partition moved, has its queue event still to come.
 */
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector)
{
	struct raidtrace_probe *probe = data;

	if (bio->bi_bdev->bd_disk == READ_ONCE(probe->disk) &&
	    bio_flagged(bio, BIO_TRACE_COMPLETION))
		queue(probe, bio);
}

void raidtrace_on_getrq(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_GOT);
}

void raidtrace_on_bio_backmerge(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_BACK_MERGES);
}

void raidtrace_on_bio_frontmerge(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_FRONT_MERGES);
}

/*
 * The piece that goes first is a bio of its own, chained to the one that was
 * queued, which goes on with the rest. Bio-based drivers split otherwise, and
 * end the bio that they were given as a whole.
 */
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	struct raidtrace_probe *probe = data;
	struct raidtrace_ticket *whole;

	if (bio->bi_bdev->bd_disk != READ_ONCE(probe->disk))
		return;
	count_bio(probe, bio, RAIDTRACE_SPLITS);
	if (!probe->tickets || !probe->slot)
		return;
	whole = raidtrace_ticket_find(probe->tickets, bio->bi_private);
	if (whole)
		raidtrace_ticket_put(probe->tickets, bio, whole->noted);
}

/*
 * A bio ends that no request carried to its end: on a bio-based disk each one,
 * else one that was refused. A request that ends its bios itself takes this
 * event away from them.
 */
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct raidtrace_probe *probe = data;
	struct raidtrace_account *account;
	unsigned long flags;

	if (bio->bi_bdev->bd_disk != READ_ONCE(probe->disk))
		return;
	raw_spin_lock_irqsave(&probe->arrival_lock, flags);
	account = raidtrace_begin_counting(probe);
	raw_spin_unlock(&probe->arrival_lock);
	raidtrace_end_bio(probe, account, bio,
			  raidtrace_op_direction(bio_op(bio), bio->bi_iter.bi_size),
			  ktime_get_ns());
	raidtrace_done_counting(probe);
	local_irq_restore(flags);
}

void raidtrace_on_rq_insert(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;
	struct raidtrace_slot *slot;

	if (rq->q != READ_ONCE(probe->queue))
		return;
	count_queue(probe, raidtrace_request_direction(rq), RAIDTRACE_INSERTED);
	if (!(probe->groups & RAIDTRACE_GROUP_LATENCY))
		return;
	slot = raidtrace_slot_of(probe, rq);
	if (slot)
		slot->inserted_ns = ktime_get_ns();
}

void raidtrace_on_rq_merge(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;
	struct raidtrace_slot *slot;

	if (rq->q != READ_ONCE(probe->queue))
		return;
	count_queue(probe, raidtrace_request_direction(rq), RAIDTRACE_REQUEST_MERGES);
	/* The request goes away without an issue, the next one to have its tag was not inserted. */
	slot = raidtrace_slot_of(probe, rq);
	if (slot)
		slot->inserted_ns = 0;
}
