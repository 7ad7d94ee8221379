// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the block layer's tracepoints to the account of one disk.
 *
 * A tracepoint calls its handler once for every target, with the target's
 * probe; the first line of each handler leaves when the event is of another
 * disk. Where one order of events matters (depth, position of the previous
 * request, which bank is counted in) a handler takes the probe's lock for a few
 * dozen instructions; everything else is counted on the CPU's own account.
 * Documentation/design.rst weighs this against atomic operations.
 */
#include "probe.h"
#include "compat.h"

#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/tracepoint.h>
#include <linux/u64_stats_sync.h>
#include <linux/vmalloc.h>
#include <trace/events/block.h>

/*
 * Requests of a queue with an I/O scheduler are told apart by their scheduler
 * tag: the driver tag is given back before the requeue event. The block layer
 * allows at most this many (MAX_SCHED_RQ in block/blk-mq-sched.h).
 */
#define SCHED_TAGS 2048

/*
 * A slot is 0 when its request is not in flight, else the issue time shifted
 * up, the direction, and whether only the end of a flush sequence is to come:
 * the data of such a request is completed first, and the request a second time
 * when the flush behind it is done.
 */
#define SLOT_DIRECTION	7
#define SLOT_SEQUENCED	8
#define SLOT_SHIFT	4

static u64 slot_issued(u64 now_ns, enum raidtrace_direction direction)
{
	return now_ns << SLOT_SHIFT | direction;
}

static u64 slot_sequenced(enum raidtrace_direction direction)
{
	return SLOT_SEQUENCED | direction;
}

static bool slot_in_flight(u64 slot)
{
	return slot && !(slot & SLOT_SEQUENCED);
}

static enum raidtrace_direction slot_direction(u64 slot)
{
	return slot & SLOT_DIRECTION;
}

static bool is_flush_request(const struct request *rq)
{
	return req_op(rq) == REQ_OP_FLUSH && (rq->rq_flags & RQF_FLUSH_SEQ);
}

static size_t slots_per_queue(const struct raidtrace_probe *probe)
{
	return probe->nr_tags + SCHED_TAGS + 1;
}

/*
 * Slot of a request, NULL when it has none: the queue got more hardware queues
 * since attach. The flush request of a hardware queue borrows the tag of a
 * request that waits for it; there is only one at a time, with a slot of its own.
 */
static u64 *slot_of(struct raidtrace_probe *probe, const struct request *rq)
{
	const struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	unsigned int index;

	if (!hctx || hctx->queue_num >= probe->nr_queues)
		return NULL;
	if (is_flush_request(rq))
		index = probe->nr_tags + SCHED_TAGS;
	else if (rq->internal_tag >= 0 && rq->internal_tag < SCHED_TAGS)
		index = probe->nr_tags + rq->internal_tag;
	else if (rq->internal_tag < 0 && rq->tag >= 0 && rq->tag < probe->nr_tags)
		index = rq->tag;
	else
		return NULL;
	return &probe->slot[hctx->queue_num * slots_per_queue(probe) + index];
}

static enum raidtrace_direction op_direction(enum req_op op, unsigned int bytes)
{
	switch (op) {
	case REQ_OP_READ:
		return RAIDTRACE_DIRECTION_READ;
	case REQ_OP_WRITE:
		/* A flush without data is an empty write until the flush machinery takes it up. */
		return bytes ? RAIDTRACE_DIRECTION_WRITE : RAIDTRACE_DIRECTION_FLUSH;
	case REQ_OP_ZONE_APPEND:
		return RAIDTRACE_DIRECTION_WRITE;
	case REQ_OP_DISCARD:
		return RAIDTRACE_DIRECTION_DISCARD;
	case REQ_OP_FLUSH:
		return RAIDTRACE_DIRECTION_FLUSH;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		return RAIDTRACE_DIRECTION_PASSTHROUGH;
	default:
		return RAIDTRACE_DIRECTION_OTHER;
	}
}

static enum raidtrace_direction request_direction(const struct request *rq)
{
	return op_direction(req_op(rq), blk_rq_bytes(rq));
}

/*
 * Say which account this CPU counts in, until done_counting(). Interrupts stay
 * off from here to there, so that the account has one writer.
 */
static struct raidtrace_account *begin_counting(struct raidtrace_probe *probe)
{
	lockdep_assert_held(&probe->lock);
	WRITE_ONCE(this_cpu_ptr(probe->cpu)->busy, probe->bank);
	return probe->bank->cpu[smp_processor_id()];
}

/* Pairs with the smp_load_acquire() in raidtrace_probe_swap(). */
static void done_counting(struct raidtrace_probe *probe)
{
	smp_store_release(&this_cpu_ptr(probe->cpu)->busy, NULL);
}

/* Begin to count an event that leaves the state of the queue alone. */
static struct raidtrace_account *count_aside(struct raidtrace_probe *probe)
{
	struct raidtrace_account *account;

	raw_spin_lock(&probe->lock);
	account = begin_counting(probe);
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
	account = begin_counting(probe);
	raw_spin_unlock(&probe->lock);
	return account;
}

/*
 * Handlers. Context: any, hard interrupts included, and from 7.2 on with
 * preemption enabled. No sleeping, no allocation, no printk, no lock but the
 * probe's.
 */

static void on_rq_issue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;
	enum raidtrace_direction direction;
	struct raidtrace_account *account;
	struct raidtrace_change change;
	unsigned long flags;
	u64 *slot, now_ns;

	if (rq->q != READ_ONCE(probe->queue))
		return;
	slot = slot_of(probe, rq);
	if (!slot)
		return;
	direction = request_direction(rq);
	local_irq_save(flags);
	now_ns = ktime_get_ns();
	if (slot_in_flight(*slot)) {
		account = end_request(probe, *slot, now_ns, &change);
		raidtrace_account_abandon(account, slot_direction(*slot), &change);
		done_counting(probe);
	}
	raw_spin_lock(&probe->lock);
	raidtrace_queue_issue(&probe->state, now_ns, direction, blk_rq_pos(rq),
			      blk_rq_sectors(rq), &change);
	account = begin_counting(probe);
	raw_spin_unlock(&probe->lock);
	*slot = slot_issued(change.now_ns, direction);
	/* Passthrough commands move any number of bytes; a part of a sector counts as one. */
	raidtrace_account_issue(account, direction,
				DIV_ROUND_UP(blk_rq_bytes(rq), SECTOR_SIZE), blk_rq_bytes(rq),
				&change);
	done_counting(probe);
	local_irq_restore(flags);
}

/*
 * The last completion of a request that no slot knows. One that the driver was
 * given was issued unseen; one that it never was given ends without an issue.
 */
static void end_unknown(struct raidtrace_probe *probe, struct request *rq, bool error)
{
	struct raidtrace_flow *flow = &count_aside(probe)->flow[request_direction(rq)];

	flow->errors += error;
	if (blk_mq_request_started(rq))
		flow->unmatched++;
	else
		flow->unissued++;
	done_counting(probe);
}

static void complete_part(struct raidtrace_probe *probe, struct request *rq, u64 slot, bool error,
			  unsigned int bytes)
{
	bool known = slot_in_flight(slot);
	struct raidtrace_flow *flow;

	flow = &count_aside(probe)->flow[known ? slot_direction(slot) : request_direction(rq)];
	flow->partial++;
	flow->errors += error;
	if (known)
		flow->bytes_completed += bytes;
	done_counting(probe);
}

static void complete_rest(struct raidtrace_probe *probe, struct request *rq, u64 slot, bool error,
			 unsigned int bytes)
{
	struct raidtrace_account *account;
	struct raidtrace_change change;

	if (slot_in_flight(slot)) {
		account = end_request(probe, slot, ktime_get_ns(), &change);
		raidtrace_account_complete(account, slot_direction(slot), bytes, error,
					   slot >> SLOT_SHIFT, &change);
		done_counting(probe);
	} else if (!slot) {
		end_unknown(probe, rq, error);
	} else if (error) {
		count_aside(probe)->flow[slot_direction(slot)].errors++;
		done_counting(probe);
	}
}

/* The event comes before the request is changed: blk_rq_bytes() is what was left of it. */
static void on_rq_complete(void *data, struct request *rq, blk_status_t status,
			   unsigned int nr_bytes)
{
	struct raidtrace_probe *probe = data;
	bool error = status != BLK_STS_OK;
	unsigned long flags;
	u64 *slot, was;

	if (rq->q != READ_ONCE(probe->queue))
		return;
	slot = slot_of(probe, rq);
	was = slot ? *slot : 0;
	local_irq_save(flags);
	if (nr_bytes < blk_rq_bytes(rq)) {
		complete_part(probe, rq, was, error, nr_bytes);
	} else {
		if (slot && (rq->rq_flags & RQF_FLUSH_SEQ) && !is_flush_request(rq))
			*slot = slot_sequenced(request_direction(rq));
		else if (slot)
			*slot = 0;
		complete_rest(probe, rq, was, error, nr_bytes);
	}
	local_irq_restore(flags);
}

static void on_rq_requeue(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;
	struct raidtrace_account *account;
	struct raidtrace_change change;
	unsigned long flags;
	u64 *slot;

	if (rq->q != READ_ONCE(probe->queue))
		return;
	slot = slot_of(probe, rq);
	local_irq_save(flags);
	if (slot && slot_in_flight(*slot)) {
		account = end_request(probe, *slot, ktime_get_ns(), &change);
		raidtrace_account_requeue(account, slot_direction(*slot), &change);
		*slot = 0;
	} else {
		count_aside(probe)->flow[request_direction(rq)].requeued_unissued++;
	}
	done_counting(probe);
	local_irq_restore(flags);
}

/* Events before the issue only ever add; they need no order and no lock. */
static void count_queue(struct raidtrace_probe *probe, enum raidtrace_direction direction,
			enum raidtrace_queue_counter counter, u64 bytes)
{
	struct raidtrace_probe_cpu *cpu = get_cpu_ptr(probe->cpu);
	unsigned long flags = u64_stats_update_begin_irqsave(&cpu->syncp);

	u64_stats_inc(&cpu->counter[direction][counter]);
	if (bytes)
		u64_stats_add(&cpu->counter[direction][RAIDTRACE_BYTES_QUEUED], bytes);
	u64_stats_update_end_irqrestore(&cpu->syncp, flags);
	put_cpu_ptr(probe->cpu);
}

static void count_bio(struct raidtrace_probe *probe, const struct bio *bio,
		      enum raidtrace_queue_counter counter)
{
	unsigned int bytes = bio->bi_iter.bi_size;

	if (bio->bi_bdev->bd_disk != READ_ONCE(probe->disk))
		return;
	count_queue(probe, op_direction(bio_op(bio), bytes), counter,
		    counter == RAIDTRACE_QUEUED ? bytes : 0);
}

static void on_bio_queue(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_QUEUED);
}

static void on_getrq(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_GOT);
}

static void on_bio_backmerge(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_BACK_MERGES);
}

static void on_bio_frontmerge(void *data, struct bio *bio)
{
	count_bio(data, bio, RAIDTRACE_FRONT_MERGES);
}

static void on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	count_bio(data, bio, RAIDTRACE_SPLITS);
}

static void on_rq_insert(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		count_queue(probe, request_direction(rq), RAIDTRACE_INSERTED, 0);
}

static void on_rq_merge(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		count_queue(probe, request_direction(rq), RAIDTRACE_REQUEST_MERGES, 0);
}

/* For a row whose event is no &enum raidtrace_queue_counter. */
#define NO_COUNTER RAIDTRACE_QUEUE_COUNTERS

/**
 * struct raidtrace_tracepoint - one row of the table
 * @name: of the tracepoint
 * @handler: its handler, of the type that check_handlers() holds it to
 * @counter: what it counts; not available when the tracepoint is not
 * @essential: without it no target can be added
 * @bios: means something for a bio-based disk too
 * @tracepoint: found at load, NULL when this kernel has none of that name
 */
struct raidtrace_tracepoint {
	const char *name;
	void *handler;
	enum raidtrace_queue_counter counter;
	bool essential;
	bool bios;
	struct tracepoint *tracepoint;
};

static struct raidtrace_tracepoint tracepoints[] = {
	{ "block_bio_queue", on_bio_queue, RAIDTRACE_QUEUED, .essential = true, .bios = true },
	{ "block_split", on_split, RAIDTRACE_SPLITS, .bios = true },
	{ "block_bio_backmerge", on_bio_backmerge, RAIDTRACE_BACK_MERGES },
	{ "block_bio_frontmerge", on_bio_frontmerge, RAIDTRACE_FRONT_MERGES },
	{ "block_getrq", on_getrq, RAIDTRACE_GOT },
	{ "block_rq_merge", on_rq_merge, RAIDTRACE_REQUEST_MERGES },
	{ "block_rq_insert", on_rq_insert, RAIDTRACE_INSERTED },
	{ "block_rq_issue", on_rq_issue, NO_COUNTER, .essential = true },
	{ "block_rq_requeue", on_rq_requeue, NO_COUNTER, .essential = true },
	{ "block_rq_complete", on_rq_complete, NO_COUNTER, .essential = true },
};

/*
 * Finding tracepoints by name loses the compiler's eye on the handlers' types.
 * These do nothing but give it back.
 */
static void __maybe_unused check_handlers(void)
{
	check_trace_callback_type_block_bio_queue(on_bio_queue);
	check_trace_callback_type_block_split(on_split);
	check_trace_callback_type_block_bio_backmerge(on_bio_backmerge);
	check_trace_callback_type_block_bio_frontmerge(on_bio_frontmerge);
	check_trace_callback_type_block_getrq(on_getrq);
	check_trace_callback_type_block_rq_merge(on_rq_merge);
	check_trace_callback_type_block_rq_insert(on_rq_insert);
	check_trace_callback_type_block_rq_issue(on_rq_issue);
	check_trace_callback_type_block_rq_requeue(on_rq_requeue);
	check_trace_callback_type_block_rq_complete(on_rq_complete);
}

static void find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (!strcmp(tracepoint->name, tracepoints[i].name))
			tracepoints[i].tracepoint = tracepoint;
	}
}

/**
 * raidtrace_probe_find_tracepoints() - look up what this kernel has
 *
 * Attaches to nothing. Context: once, at load.
 */
void raidtrace_probe_find_tracepoints(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
}

/**
 * raidtrace_probe_unavailable() - next tracepoint that this kernel lacks
 * @cursor: 0 at first, moved on
 *
 * Return: its name, NULL at the end.
 */
const char *raidtrace_probe_unavailable(unsigned int *cursor)
{
	while (*cursor < ARRAY_SIZE(tracepoints)) {
		struct raidtrace_tracepoint *row = &tracepoints[(*cursor)++];

		if (!row->tracepoint)
			return row->name;
	}
	return NULL;
}

/**
 * raidtrace_probe_counts() - whether a counter moves at all
 * @counter: an event before the issue
 * @bio_based: for a disk without requests
 *
 * Return: false when this kernel or this disk has no such event.
 */
bool raidtrace_probe_counts(enum raidtrace_queue_counter counter, bool bio_based)
{
	unsigned int i;

	if (counter == RAIDTRACE_BYTES_QUEUED)
		counter = RAIDTRACE_QUEUED;
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (tracepoints[i].counter == counter)
			return tracepoints[i].tracepoint && (tracepoints[i].bios || !bio_based);
	}
	return false;
}

static int alloc_counters(struct raidtrace_probe *probe, struct request_queue *queue)
{
	int cpu;

	probe->cpu = alloc_percpu(struct raidtrace_probe_cpu);
	if (!probe->cpu)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(probe->cpu, cpu)->syncp);
	if (!queue_is_mq(queue))
		return 0;
	probe->nr_queues = queue->tag_set->nr_hw_queues;
	probe->nr_tags = queue->tag_set->queue_depth;
	probe->slot = kvcalloc(probe->nr_queues, slots_per_queue(probe) * sizeof(*probe->slot),
			       GFP_KERNEL);
	probe->bank = raidtrace_bank_alloc();
	return probe->slot && probe->bank ? 0 : -ENOMEM;
}

static int attach_tracepoint(struct raidtrace_probe *probe, unsigned int i,
			     struct netlink_ext_ack *extack)
{
	const struct raidtrace_tracepoint *row = &tracepoints[i];
	int err;

	if (!row->tracepoint) {
		if (!row->essential)
			return 0;
		raidtrace_refuse(extack, "this kernel has no tracepoint %s, which counting needs",
				 row->name);
		return -EOPNOTSUPP;
	}
	err = tracepoint_probe_register(row->tracepoint, row->handler, probe);
	if (err) {
		raidtrace_refuse(extack, "the tracepoint %s cannot be attached to: error %d",
				 row->name, -err);
		return err;
	}
	probe->attached |= BIT(i);
	return 0;
}

/**
 * raidtrace_probe_attach() - register the handlers for a disk, counting nothing yet
 * @probe: all zero
 * @queue: of the disk
 * @extack: told why on failure
 *
 * Return: 0 or -errno; then raidtrace_probe_detach() is to be called all the same.
 * Context: may sleep.
 */
int raidtrace_probe_attach(struct raidtrace_probe *probe, struct request_queue *queue,
			   struct netlink_ext_ack *extack)
{
	unsigned int i;
	int err;

	raw_spin_lock_init(&probe->lock);
	err = alloc_counters(probe, queue);
	if (err) {
		raidtrace_refuse(extack, "not enough memory for the counters");
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (!tracepoints[i].bios && !queue_is_mq(queue))
			continue;
		err = attach_tracepoint(probe, i, extack);
		if (err)
			return err;
	}
	return 0;
}

/**
 * raidtrace_probe_start() - begin to count
 * @probe: attached
 * @disk: whose queue it was attached for
 */
void raidtrace_probe_start(struct raidtrace_probe *probe, struct gendisk *disk)
{
	raw_spin_lock_irq(&probe->lock);
	raidtrace_queue_start(&probe->state, ktime_get_ns());
	raw_spin_unlock_irq(&probe->lock);
	/* A handler that sees the queue sees the state: it takes the lock after the unlock above. */
	smp_store_release(&probe->disk, disk);
	smp_store_release(&probe->queue, disk->queue);
}

/**
 * raidtrace_probe_stop() - count no more
 * @probe: started
 *
 * Handlers that began before may still end. The disk and its queue may be
 * freed when this has returned. Context: any.
 */
void raidtrace_probe_stop(struct raidtrace_probe *probe)
{
	unsigned long flags;

	WRITE_ONCE(probe->queue, NULL);
	WRITE_ONCE(probe->disk, NULL);
	raw_spin_lock_irqsave(&probe->lock, flags);
	probe->stopped_ns = ktime_get_ns();
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}

/**
 * raidtrace_probe_detach() - undo raidtrace_probe_attach()
 * @probe: attached, also in part
 *
 * Context: may sleep; waits for handlers that are running.
 */
void raidtrace_probe_detach(struct raidtrace_probe *probe)
{
	unsigned int i;

	WRITE_ONCE(probe->queue, NULL);
	WRITE_ONCE(probe->disk, NULL);
	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (probe->attached & BIT(i))
			tracepoint_probe_unregister(tracepoints[i].tracepoint,
						    tracepoints[i].handler, probe);
	}
	if (probe->attached)
		tracepoint_synchronize_unregister();
	raidtrace_bank_free(probe->bank);
	kvfree(probe->slot);
	free_percpu(probe->cpu);
}
