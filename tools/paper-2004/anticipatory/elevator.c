// SPDX-License-Identifier: GPL-2.0-or-later
/* The scheduler as the block layer sees it. */

#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "anticipatory.h"
#include "elevator.h"
#include "blk.h"
#include "blk-mq.h"
#include "blk-mq-sched.h"

static struct anticipation *of_queue(struct request_queue *queue)
{
	return queue->elevator->elevator_data;
}

static enum hrtimer_restart waited(struct hrtimer *timer)
{
	struct anticipation *ant = container_of(timer, struct anticipation, timer);
	unsigned long flags;

	spin_lock_irqsave(&ant->lock, flags);
	if (is_waiting(ant)) {
		ant->waiting = HAS_WAITED;
		if (!ant->reader->think_samples)
			ant->leave = (7 * ant->leave + 256) / 8;
	}
	spin_unlock_irqrestore(&ant->lock, flags);
	blk_mq_run_hw_queues(ant->queue, true);
	return HRTIMER_NORESTART;
}

/*
 * A process that waits for its own write was of the class of reads in 2.6.5. Today's flag says the same, but for the thread
 * of ext3's journal, which marks its writes too and did not then.
 */
static enum request_class classify(struct request *rq)
{
	bool journal = current->flags & PF_KTHREAD && !strncmp(current->comm, "jbd2/", 5);

	return rq_data_dir(rq) == READ || (op_is_sync(rq->cmd_flags) && !journal) ? SYNC : ASYNC;
}

static void insert(struct anticipation *ant, struct request *rq, struct list_head *merged)
{
	enum request_class class = classify(rq);
	struct reader *reader;

	if (blk_mq_sched_try_insert_merge(ant->queue, rq, merged))
		return;
	reader = reader_find(ant, current->pid);
	rq->elv.priv[1] = reader;
	set_state(rq, QUEUED, class);
	if (reader) {
		if (class == SYNC)
			reader_asks(ant, reader, rq);
		reader->queued++;
	}
	elv_rb_add(&ant->sorted[class], rq);
	if (rq_mergeable(rq)) {
		elv_rqhash_add(ant->queue, rq);
		if (!ant->queue->last_merge)
			ant->queue->last_merge = rq;
	}
	rq->fifo_time = ticks() + (class == SYNC ? EXPIRE_SYNC : EXPIRE_ASYNC);
	list_add_tail(&rq->queuelist, &ant->fifo[class]);
	ant->next[class] = nearer(ant, class, rq, ant->next[class]);
	if (is_waiting(ant) && !worth_waiting(ant, rq))
		stop_waiting(ant);
}

static void insert_requests(struct blk_mq_hw_ctx *hctx, struct list_head *list, bool at_head)
{
	struct anticipation *ant = of_queue(hctx->queue);
	unsigned long flags;
	LIST_HEAD(merged);

	spin_lock_irqsave(&ant->lock, flags);
	while (!list_empty(list)) {
		struct request *rq = list_first_entry(list, struct request, queuelist);

		list_del_init(&rq->queuelist);
		if (at_head || blk_rq_is_passthrough(rq)) {
			list_add(&rq->queuelist, &ant->head);
			stop_waiting(ant);
		} else {
			insert(ant, rq, &merged);
		}
	}
	spin_unlock_irqrestore(&ant->lock, flags);
	blk_mq_free_requests(&merged);
}

static struct request *dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct anticipation *ant = of_queue(hctx->queue);
	struct request *rq;
	unsigned long flags;

	spin_lock_irqsave(&ant->lock, flags);
	rq = list_first_entry_or_null(&ant->head, struct request, queuelist);
	if (rq)
		list_del_init(&rq->queuelist);
	else
		rq = choose(ant);
	spin_unlock_irqrestore(&ant->lock, flags);
	if (rq)
		rq->rq_flags |= RQF_STARTED;
	return rq;
}

static bool has_work(struct blk_mq_hw_ctx *hctx)
{
	struct anticipation *ant = of_queue(hctx->queue);

	return !list_empty_careful(&ant->head) || !list_empty_careful(&ant->fifo[SYNC]) ||
	       !list_empty_careful(&ant->fifo[ASYNC]);
}

static void prepare_request(struct request *rq)
{
	set_state(rq, NEVER_INSERTED, ASYNC);
	rq->elv.priv[1] = NULL;
}

static void leave(struct request *rq)
{
	struct anticipation *ant = of_queue(rq->q);
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&ant->lock, flags);
	if (state_of(rq) == DISPATCHED)
		completed(ant, rq);
	set_state(rq, NEVER_INSERTED, ASYNC);
	more = !list_empty(&ant->fifo[SYNC]) || !list_empty(&ant->fifo[ASYNC]);
	spin_unlock_irqrestore(&ant->lock, flags);
	if (more)
		blk_mq_run_hw_queues(rq->q, true);
}

/* 2.6.5 had as many requests for writes as for reads; here half of a queue's are for reads alone. */
static unsigned int writes_in_word(struct blk_mq_hw_ctx *hctx)
{
	return max(1U << hctx->sched_tags->bitmap_tags.sb.shift >> 1, 1U);
}

static void limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	if (op_is_write(opf))
		data->shallow_depth = writes_in_word(data->hctx);
}

static void depth_updated(struct blk_mq_hw_ctx *hctx)
{
	sbitmap_queue_min_shallow_depth(&hctx->sched_tags->bitmap_tags, writes_in_word(hctx));
}

static int init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	depth_updated(hctx);
	return 0;
}

static bool bio_merge(struct request_queue *queue, struct bio *bio, unsigned int segments)
{
	struct anticipation *ant = of_queue(queue);
	struct request *merged = NULL;
	unsigned long flags;
	bool is_merged;

	spin_lock_irqsave(&ant->lock, flags);
	is_merged = blk_mq_sched_try_merge(queue, bio, segments, &merged);
	spin_unlock_irqrestore(&ant->lock, flags);
	if (merged)
		blk_mq_free_request(merged);
	return is_merged;
}

static int request_merge(struct request_queue *queue, struct request **rq, struct bio *bio)
{
	struct anticipation *ant = of_queue(queue);
	enum request_class class;

	for (class = ASYNC; class < CLASSES; class++) {
		struct request *found = elv_rb_find(&ant->sorted[class], bio_end_sector(bio));

		if (found && rq_data_dir(found) == bio_data_dir(bio) && elv_bio_merge_ok(found, bio)) {
			*rq = found;
			return ELEVATOR_FRONT_MERGE;
		}
	}
	return ELEVATOR_NO_MERGE;
}

static void request_merged(struct request_queue *queue, struct request *rq, enum elv_merge how)
{
	struct rb_root *root = &of_queue(queue)->sorted[class_of(rq)];

	if (how == ELEVATOR_FRONT_MERGE) {
		elv_rb_del(root, rq);
		elv_rb_add(root, rq);
	}
}

static void requests_merged(struct request_queue *queue, struct request *rq, struct request *gone)
{
	if (state_of(gone) != QUEUED) /* merged before it was inserted */
		return;
	if (gone->fifo_time < rq->fifo_time) {
		list_move(&rq->queuelist, &gone->queuelist);
		rq->fifo_time = gone->fifo_time;
	}
	take_out(of_queue(queue), gone);
	set_state(gone, NEVER_INSERTED, ASYNC);
}

static int init_sched(struct request_queue *queue, struct elevator_type *type)
{
	struct elevator_queue *elevator = elevator_alloc(queue, type);
	struct anticipation *ant = elevator ? kzalloc(sizeof(*ant), GFP_KERNEL) : NULL;
	enum request_class class;

	if (!ant) {
		if (elevator)
			kobject_put(&elevator->kobj);
		return -ENOMEM;
	}
	spin_lock_init(&ant->lock);
	ant->queue = queue;
	for (class = ASYNC; class < CLASSES; class++) {
		ant->sorted[class] = RB_ROOT;
		INIT_LIST_HEAD(&ant->fifo[class]);
	}
	INIT_LIST_HEAD(&ant->head);
	INIT_LIST_HEAD(&ant->readers);
	hrtimer_init(&ant->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	ant->timer.function = waited;
	ant->batch = SYNC;
	ant->batch_end = ticks() + BATCH_SYNC;
	ant->writes_most = BATCH_ASYNC / 10;
	elevator->elevator_data = ant;
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, queue);
	queue->elevator = elevator;
	return 0;
}

static void exit_sched(struct elevator_queue *elevator)
{
	struct anticipation *ant = elevator->elevator_data;

	hrtimer_cancel(&ant->timer);
	readers_free(ant);
	kfree(ant);
}

static struct elevator_type anticipatory = {
	.ops = {
		.insert_requests = insert_requests,
		.dispatch_request = dispatch_request,
		.has_work = has_work,
		.limit_depth = limit_depth,
		.depth_updated = depth_updated,
		.init_hctx = init_hctx,
		.prepare_request = prepare_request,
		.finish_request = leave,
		.requeue_request = leave,
		.next_request = elv_rb_latter_request,
		.former_request = elv_rb_former_request,
		.bio_merge = bio_merge,
		.request_merge = request_merge,
		.request_merged = request_merged,
		.requests_merged = requests_merged,
		.init_sched = init_sched,
		.exit_sched = exit_sched,
	},
	.elevator_name = "anticipatory",
	.elevator_owner = THIS_MODULE,
};

static int __init anticipatory_init(void)
{
	return elv_register(&anticipatory);
}

static void __exit anticipatory_exit(void)
{
	elv_unregister(&anticipatory);
}

module_init(anticipatory_init);
module_exit(anticipatory_exit);
MODULE_DESCRIPTION("The default scheduler of Linux 2.6.5, for experiments in raidtrace's lab");
MODULE_LICENSE("GPL");
