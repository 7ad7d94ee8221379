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
	this_cpu_inc(probe->queued->count[direction][counter]);
}

static __always_inline void count_bio(const struct bio *bio, enum raidtrace_queue_counter counter)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		count_queue(probe, raidtrace_bio_direction(bio), counter);
}

static noinline void queue(struct raidtrace_probe *probe, struct bio *bio)
{
	u32 groups = probe->groups;
	struct raidtrace_bio queued = {
		.direction = raidtrace_bio_direction(bio),
		.class = RAIDTRACE_CLASS_OTHER,
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.submitter = RAIDTRACE_SUBMITTER_REST,
		.ahead = bio->bi_opf & REQ_RAHEAD,
	};
	unsigned long flags;
	u64 now_ns;

	local_irq_save(flags);
	if (groups & RAIDTRACE_GROUPS_CLASSES && queued.bytes &&
	    queued.direction <= RAIDTRACE_DIRECTION_WRITE)
		queued.class = raidtrace_class_of(&probe->journal, bio);
	now_ns = groups & RAIDTRACE_GROUP_LATENCY ? ktime_get_ns() : 0;
	raw_spin_lock(&probe->arrival_lock);
	if (groups & RAIDTRACE_GROUP_SUBMITTER)
		queued.submitter = raidtrace_submitter_row(&probe->submitters);
	/* A request asks its bios' tickets for what is decided here. */
	if (probe->tickets)
		raidtrace_ticket_put(probe->tickets, bio,
				     raidtrace_ticket_note(now_ns, queued.direction, queued.class));
	raidtrace_count_bio(&probe->arrival, raidtrace_account_of(probe), &queued);
	raw_spin_unlock_irqrestore(&probe->arrival_lock, flags);
}

void raidtrace_on_bio_queue(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		queue(probe, bio);
}

/*
 * md sends the very bio that it was given on to a member, and that one has no
 * queue event any more. A bio that begins its way here, such as one that a
 * partition moved, has its queue event still to come.
 */
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe && bio_flagged(bio, BIO_TRACE_COMPLETION))
		queue(probe, bio);
}

void raidtrace_on_getrq(void *data, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_GOT);
}

void raidtrace_on_bio_backmerge(void *data, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_BACK_MERGES);
}

void raidtrace_on_bio_frontmerge(void *data, struct bio *bio)
{
	count_bio(bio, RAIDTRACE_FRONT_MERGES);
}

/*
 * The piece that goes first is a bio of its own, chained to the one that was
 * queued, which goes on with the rest. Bio-based drivers split otherwise, and
 * end the bio that they were given as a whole.
 */
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);
	struct raidtrace_ticket *whole;
	unsigned long flags;

	if (!probe)
		return;
	count_bio(bio, RAIDTRACE_SPLITS);
	if (!probe->tickets || !probe->slot)
		return;
	whole = raidtrace_ticket_find(probe->tickets, bio->bi_private);
	if (!whole)
		return;
	raw_spin_lock_irqsave(&probe->arrival_lock, flags);
	raidtrace_ticket_put(probe->tickets, bio, whole->noted);
	raw_spin_unlock_irqrestore(&probe->arrival_lock, flags);
}

/*
 * A bio ends that no request carried to its end: on a bio-based disk each one,
 * else one that was refused. A request that ends its bios itself takes this
 * event away from them.
 */
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);
	unsigned long flags;

	if (!probe || !probe->tickets)
		return;
	raw_spin_lock_irqsave(&probe->arrival_lock, flags);
	raidtrace_end_bio(probe, raidtrace_account_of(probe), bio, ktime_get_ns());
	raw_spin_unlock_irqrestore(&probe->arrival_lock, flags);
}

void raidtrace_on_rq_insert(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);
	struct raidtrace_slot *slot;

	if (!probe)
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
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);
	struct raidtrace_slot *slot;

	if (!probe)
		return;
	count_queue(probe, raidtrace_request_direction(rq), RAIDTRACE_REQUEST_MERGES);
	/* The request goes away without an issue, the next one to have its tag was not inserted. */
	slot = raidtrace_slot_of(probe, rq);
	if (slot)
		slot->inserted_ns = 0;
}
