// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of what happens before a request is issued: bios queued, split and merged. */
#include "probe-handlers.h"

static noinline void count_bio(struct raidtrace_probe *probe, const struct bio *bio,
			       enum raidtrace_queue_counter counter)
{
	raidtrace_write_count(probe, raidtrace_bio_direction(bio), counter, 0);
}

static noinline void write_task(struct raidtrace_probe *probe, struct raidtrace_ring *ring,
				const struct raidtrace_task *task)
{
	u64 *record = raidtrace_ring_next(probe, ring);

	record[0] = raidtrace_clock_read(probe->by_counter);
	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_TASK, 0, 0, 0, task->pid);
	record[2] = task->comm[0];
	record[3] = task->comm[1];
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_TASK);
	ring->task = *task;
}

/*
 * Say whose events follow, unless they are of the same as before. A bio that an
 * interrupt queues has nothing to do with the task that it interrupts.
 */
static __always_inline void tell_task(struct raidtrace_probe *probe, struct raidtrace_ring *ring)
{
	static const char interrupt[TASK_COMM_LEN] = "(interrupt)";
	bool is_task = in_task();
	struct raidtrace_task task = { .pid = is_task ? current->tgid : 0 };

	static_assert(sizeof(task.comm) == TASK_COMM_LEN);
	memcpy(task.comm, is_task ? current->comm : interrupt, sizeof(task.comm));
	if (unlikely(task.pid != ring->task.pid || task.comm[0] != ring->task.comm[0] ||
		     task.comm[1] != ring->task.comm[1]))
		write_task(probe, ring, &task);
}

static noinline void queue(struct raidtrace_probe *probe, struct bio *bio)
{
	enum raidtrace_direction direction = raidtrace_bio_direction(bio);
	enum raidtrace_class class = RAIDTRACE_CLASS_OTHER;
	u32 groups = probe->groups, bytes = bio->bi_iter.bi_size;
	struct raidtrace_ring *ring;
	unsigned long flags;
	u64 *record;

	local_irq_save(flags);
	if (groups & RAIDTRACE_GROUPS_CLASSES && bytes && direction <= RAIDTRACE_DIRECTION_WRITE)
		class = raidtrace_class_of(&probe->journal, bio);
	ring = this_cpu_ptr(probe->ring);
	if (groups & RAIDTRACE_GROUP_SUBMITTER)
		tell_task(probe, ring);
	record = raidtrace_ring_next(probe, ring);
	record[0] = raidtrace_clock_read(probe->by_counter);
	record[1] = raidtrace_event_head(RAIDTRACE_EVENT_QUEUE, direction, class,
					 (bio->bi_opf & REQ_RAHEAD ? RAIDTRACE_EVENT_AHEAD : 0) |
					 (bio->bi_opf & REQ_NOWAIT ? RAIDTRACE_EVENT_NOWAIT : 0) |
					 raidtrace_unplaced(bio_op(bio)), bytes);
	record[2] = (uintptr_t)bio;
	record[3] = bio->bi_iter.bi_sector;
	raidtrace_ring_publish(ring, RAIDTRACE_EVENT_QUEUE);
	local_irq_restore(flags);
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
 * partition moved, has its queue event still to come. Of a member that is a partition
 * there are two of these events; the second, by the partition, is where on the disk.
 */
void raidtrace_on_bio_remap(void *data, struct bio *bio, dev_t from, sector_t sector)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);
	struct block_device *bdev = bio->bi_bdev;

	if (probe && bio_flagged(bio, BIO_TRACE_COMPLETION) &&
	    (!bdev_is_partition(bdev) || from == bdev->bd_dev))
		queue(probe, bio);
}

void raidtrace_on_getrq(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		this_cpu_inc(probe->ring->got[raidtrace_bio_direction(bio)]);
}

void raidtrace_on_bio_backmerge(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		count_bio(probe, bio, RAIDTRACE_BACK_MERGES);
}

void raidtrace_on_bio_frontmerge(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (probe)
		count_bio(probe, bio, RAIDTRACE_FRONT_MERGES);
}

/*
 * The piece that goes first is a bio of its own, chained to the one that was
 * queued, which goes on with the rest. Bio-based drivers split otherwise, and
 * end the bio that they were given as a whole.
 */
void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	if (!probe)
		return;
	count_bio(probe, bio, RAIDTRACE_SPLITS);
	if (probe->groups & RAIDTRACE_GROUPS_BIOS && probe->has_requests)
		raidtrace_write_event(probe, RAIDTRACE_EVENT_SPLIT, 0, bio, bio->bi_private);
}

/*
 * A bio ends that no request carried to its end: on a bio-based disk each one,
 * else one that was refused. A request that ends its bios itself takes this
 * event away from them.
 */
void raidtrace_on_bio_complete(void *data, struct request_queue *q, struct bio *bio)
{
	struct raidtrace_probe *probe = raidtrace_probe_of_bio(bio);

	bool refused = bio->bi_status == BLK_STS_AGAIN;

	if (probe && (refused || probe->groups & RAIDTRACE_GROUPS_BIOS))
		raidtrace_write_event(probe, RAIDTRACE_EVENT_END,
				      raidtrace_event_head(RAIDTRACE_EVENT_END,
							   raidtrace_bio_direction(bio), 0,
							   refused ? RAIDTRACE_EVENT_NOWAIT : 0, 0),
				      bio, NULL);
}

static __always_inline void write_request(struct request *rq, enum raidtrace_event kind)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(rq->q);

	if (probe)
		raidtrace_write_event(probe, kind,
				      raidtrace_event_head(kind, raidtrace_request_direction(rq),
							   0, 0, 0), rq, NULL);
}

void raidtrace_on_rq_insert(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_INSERT);
}

void raidtrace_on_rq_merge(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_MERGE);
}

void raidtrace_on_rq_requeue(void *data, struct request *rq)
{
	write_request(rq, RAIDTRACE_EVENT_REQUEUE);
}
