// SPDX-License-Identifier: GPL-2.0-or-later
/* Which request goes next, if any. */

#include "anticipatory.h"
#include "elevator.h"

#define BACK_MOST	(1024 * 1024)	/* sectors that it goes back, at the price of twice as many forward */

/* Cost of going there, sectors; U64_MAX: only after all that lies ahead. */
static u64 way(struct anticipation *ant, enum request_class class, struct request *rq)
{
	sector_t last = ant->last[class], at = blk_rq_pos(rq);

	if (at >= last)
		return at - last;
	return at + BACK_MOST >= last ? (last - at) * 2 : U64_MAX;
}

/* The one of the two, either of which may be missing, that is to go first. */
struct request *nearer(struct anticipation *ant, enum request_class class, struct request *one, struct request *other)
{
	u64 way_one, way_other;

	if (!one || !other)
		return one ?: other;
	way_one = way(ant, class, one);
	way_other = way(ant, class, other);
	if (way_one == way_other)
		return (blk_rq_pos(one) < blk_rq_pos(other)) == (way_one == U64_MAX) ? one : other;
	return way_one < way_other ? one : other;
}

static struct request *after(struct anticipation *ant, struct request *rq)
{
	enum request_class class = class_of(rq);
	struct rb_node *next = rb_next(&rq->rb_node), *before = rb_prev(&rq->rb_node);

	if (!next)
		next = rb_first(&ant->sorted[class]);
	if (next == &rq->rb_node)
		next = NULL;
	return nearer(ant, class, next ? rb_entry_rq(next) : NULL, before ? rb_entry_rq(before) : NULL);
}

/* It is in the scheduler no more. */
void take_out(struct anticipation *ant, struct request *rq)
{
	enum request_class class = class_of(rq);

	if (reader_of(rq))
		reader_of(rq)->queued--;
	if (ant->next[class] == rq)
		ant->next[class] = after(ant, rq);
	list_del_init(&rq->queuelist);
	elv_rb_del(&ant->sorted[class], rq);
	elv_rqhash_del(ant->queue, rq);
	if (ant->queue->last_merge == rq)
		ant->queue->last_merge = NULL;
}

static void wait_for_next(struct anticipation *ant)
{
	hrtimer_start(&ant->timer, ms_to_ktime(ant->since + ANTICIPATE), HRTIMER_MODE_ABS);
	ant->waiting = WAITS_FOR_NEXT;
}

static void start_waiting(struct anticipation *ant)
{
	if (ant->reader_done)
		wait_for_next(ant);
	else
		ant->waiting = WAITS_FOR_END;
}

/* Stop waiting. The next look at the queue decides what follows. */
void stop_waiting(struct anticipation *ant)
{
	if (is_waiting(ant))
		ant->waiting = HAS_WAITED;
	hrtimer_try_to_cancel(&ant->timer);
}

/* Looked at once in so long only. */
static bool oldest_expired(struct anticipation *ant, enum request_class class)
{
	u64 now = ticks();
	struct request *oldest;

	if (now - ant->looked[class] < (class == SYNC ? EXPIRE_SYNC : EXPIRE_ASYNC))
		return false;
	ant->looked[class] = now;
	oldest = list_first_entry_or_null(&ant->fifo[class], struct request, queuelist);
	return oldest && now > oldest->fifo_time;
}

static bool batch_expired(struct anticipation *ant)
{
	if (ant->changed || ant->fresh)
		return false;
	return ticks() > ant->batch_end || (ant->batch == ASYNC && !ant->writes);
}

/* The first of a sync batch is done: how long did the writes before it take? */
static void adapt_writes(struct anticipation *ant)
{
	s64 took = max_t(s64, (s64)(ticks() - ant->batch_end) + BATCH_ASYNC, 0);

	if (took > BATCH_ASYNC && !ant->writes_idled)
		ant->writes_most = took > 3 * BATCH_ASYNC ? ant->writes_most / 2 : ant->writes_most - 1;
	else if (took < BATCH_ASYNC && !ant->writes)
		ant->writes_most = BATCH_ASYNC > 3 * took ? ant->writes_most * 2 : ant->writes_most + 1;
	ant->writes_most = max(ant->writes_most, 1U);
}

static struct request *send(struct anticipation *ant, struct request *rq)
{
	enum request_class class = class_of(rq);

	stop_waiting(ant);
	ant->waiting = NOT_WAITING;
	ant->last[class] = blk_rq_pos(rq) + blk_rq_sectors(rq);
	ant->reader = class == SYNC ? reader_of(rq) : NULL;
	if (class == ASYNC && ant->writes)
		ant->writes--;
	ant->reader_done = false;
	ant->next[class] = after(ant, rq);
	take_out(ant, rq);
	set_state(rq, DISPATCHED, class);
	ant->dispatched++;
	return rq;
}

/* The batch before is done. */
static void begin_batch(struct anticipation *ant)
{
	ant->changed = false;
	if (ant->batch == ASYNC)
		ant->batch_end = ticks() + BATCH_ASYNC;
	else
		ant->fresh = true;
}

/* Take the first of a batch, or the next; wait first until the batch before is done. */
static struct request *send_of_batch(struct anticipation *ant, struct request *rq)
{
	if (oldest_expired(ant, ant->batch))
		rq = list_first_entry(&ant->fifo[ant->batch], struct request, queuelist);
	if (ant->changed) {
		if (ant->dispatched)
			return NULL;
		begin_batch(ant);
	}
	return send(ant, rq);
}

/* The request to send now; none: there is none, or it is better to wait. */
struct request *choose(struct anticipation *ant)
{
	bool reads = !list_empty(&ant->fifo[SYNC]), writes = !list_empty(&ant->fifo[ASYNC]);

	if (ant->batch == ASYNC && !reads && (!ant->writes || !writes))
		ant->writes_idled = true;
	if ((!reads && !writes) || is_waiting(ant) || ant->changed)
		return NULL;
	if (!(reads && writes && batch_expired(ant))) {
		struct request *rq = ant->next[ant->batch];

		if (ant->batch == SYNC) {
			if (oldest_expired(ant, SYNC))
				return send_of_batch(ant, list_first_entry(&ant->fifo[SYNC], struct request, queuelist));
			if (ant->reader && ant->waiting != HAS_WAITED && worth_waiting(ant, rq)) {
				start_waiting(ant);
				return NULL;
			}
		}
		if (rq) {
			if (reads && !writes)
				ant->batch_end = ticks() + BATCH_SYNC;
			return send_of_batch(ant, rq);
		}
	}
	if (reads && !(writes && ant->batch == SYNC)) {
		ant->changed |= ant->batch == ASYNC;
		ant->batch = SYNC;
		ant->looked[SYNC] = ticks();
		return send_of_batch(ant, list_first_entry(&ant->fifo[SYNC], struct request, queuelist));
	}
	if (ant->batch == SYNC) {
		ant->changed = true;
		ant->fresh = false;
	}
	ant->batch = ASYNC;
	ant->writes = ant->writes_most;
	ant->writes_idled = false;
	return send_of_batch(ant, ant->next[ASYNC]);
}

/* The driver is done with it. */
void completed(struct anticipation *ant, struct request *rq)
{
	struct reader *reader = reader_of(rq);

	if (ant->changed && ant->dispatched == 1)
		begin_batch(ant);
	ant->dispatched--;
	if (ant->fresh && ant->batch == class_of(rq)) {
		adapt_writes(ant);
		ant->batch_end = ticks() + BATCH_SYNC;
		ant->fresh = false;
	}
	if (reader && reader == ant->reader) {
		ant->since = ticks();
		ant->reader_done = true;
		if (ant->waiting == WAITS_FOR_END)
			wait_for_next(ant);
	}
	if (reader && class_of(rq) == SYNC) {
		reader->finished = true;
		reader->end = ticks();
	}
}
