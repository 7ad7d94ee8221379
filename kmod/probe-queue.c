// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of what happens before a request is issued: bios queued, split and merged. */
#include "probe-handlers.h"

#include <linux/percpu.h>

/* Events before the issue only ever add; they need no order and no lock. */
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

void raidtrace_on_bio_queue(void *data, struct bio *bio)
{
	struct raidtrace_probe *probe = data;
	unsigned int bytes = bio->bi_iter.bi_size;
	enum raidtrace_direction direction;

	if (bio->bi_bdev->bd_disk != READ_ONCE(probe->disk))
		return;
	direction = raidtrace_op_direction(bio_op(bio), bytes);
	count_queue(probe, direction, RAIDTRACE_QUEUED);
	this_cpu_add(probe->cpu->queued.count[direction][RAIDTRACE_BYTES_QUEUED], bytes);
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

void raidtrace_on_split(void *data, struct bio *bio, unsigned int new_sector)
{
	count_bio(data, bio, RAIDTRACE_SPLITS);
}

void raidtrace_on_rq_insert(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		count_queue(probe, raidtrace_request_direction(rq), RAIDTRACE_INSERTED);
}

void raidtrace_on_rq_merge(void *data, struct request *rq)
{
	struct raidtrace_probe *probe = data;

	if (rq->q == READ_ONCE(probe->queue))
		count_queue(probe, raidtrace_request_direction(rq), RAIDTRACE_REQUEST_MERGES);
}
