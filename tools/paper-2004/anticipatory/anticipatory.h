/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules by which the default scheduler of Linux 2.6.5, "anticipatory", chose the next request, for the multi-queue block
 * layer of Linux 6.1: what a benchmark of 2004 waited for. Written anew from the rules; constants are those of 2.6
 * (drivers/block/as-iosched.c, 1000 ticks a second). For experiments in the lab, not for use.
 *
 * - Reads, and writes by a process that waits for them (fsync), are one class, "sync"; write-back and the journal's thread
 *   are the other. A batch is of one class; it ends after 500 or 125 ms if the other class waits.
 * - Between two batches the disk does all that it has: no depth across a change.
 * - After a sync request is done nothing else is sent for up to 6 ms, if its process, as it used to, will soon ask for the
 *   next one, and nothing nearer waits.
 *
 * Not implemented: the end of a process is not noticed, so the scheduler waits for it once, for 6 ms.
 */
#ifndef ANTICIPATORY_H
#define ANTICIPATORY_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

/* In ticks of 1 ms, as 2.6.5 had them. */
#define EXPIRE_SYNC		125	/* then the oldest of its class goes first */
#define EXPIRE_ASYNC		250
#define BATCH_SYNC		500
#define BATCH_ASYNC		125
#define ANTICIPATE		6
#define THINKTIME_MOST		19

enum request_class { ASYNC, SYNC, CLASSES };

/**
 * struct reader - What one process did lately
 * @pid: Which
 * @list: All of them
 * @queued: Requests in the scheduler
 * @started: A sync request of it came
 * @finished: And one was done
 * @end: When the last one was, ticks
 * @position: Where its last sync request ended, sectors
 * @think_samples: Weight of what was learnt, 256 for one; a new sample has an eighth
 * @think_total: ticks times 256
 * @think: Mean time from the end of a sync request to the next one, ticks
 * @seek_samples: As above
 * @seek_total: sectors times 256
 * @seek: Mean distance between two, sectors
 */
struct reader {
	pid_t pid;
	struct list_head list;
	unsigned int queued;
	bool started;
	bool finished;
	u64 end;
	sector_t position;
	unsigned int think_samples;
	unsigned int think_total;
	unsigned int think;
	unsigned int seek_samples;
	u64 seek_total;
	sector_t seek;
};

enum waiting {
	NOT_WAITING,
	WAITS_FOR_END,		/* of the request after which it will anticipate */
	WAITS_FOR_NEXT,		/* request of the same process */
	HAS_WAITED,		/* came, or did not */
};

/**
 * struct anticipation - Of one queue
 * @lock: Of all else
 * @queue: Whose
 * @sorted: By sector and class
 * @fifo: By age and class
 * @head: What goes before all others
 * @next: Next one in sort order, by class
 * @last: Where the last one sent ended, sectors, by class
 * @readers: Processes
 * @reader: Whose sync request was the last one sent; none after a write
 * @reader_done: It was done
 * @waiting: What for
 * @since: When that request was done, ticks
 * @timer: Ends the waiting
 * @batch: Class of the present batch
 * @changed: Waits for the last of the batch before
 * @fresh: Waits for the first of a sync batch
 * @batch_end: ticks
 * @writes: How many more in this batch
 * @writes_most: In a batch, adapted to what 125 ms allow
 * @writes_idled: The batch of writes found nobody waiting, so it says nothing
 * @looked: When for the oldest of a class, ticks
 * @dispatched: With the driver
 * @strangers_think: What processes of which nothing is known did next, ticks times 256, and
 * @strangers_seek: sectors times 256
 * @leave: How likely one is never to come again, of 256
 */
struct anticipation {
	spinlock_t lock; /* of all else */
	struct request_queue *queue;
	struct rb_root sorted[CLASSES];
	struct list_head fifo[CLASSES];
	struct list_head head;
	struct request *next[CLASSES];
	sector_t last[CLASSES];
	struct list_head readers;
	struct reader *reader;
	bool reader_done;
	enum waiting waiting;
	u64 since;
	struct hrtimer timer;
	enum request_class batch;
	bool changed;
	bool fresh;
	u64 batch_end;
	unsigned int writes;
	unsigned int writes_most;
	bool writes_idled;
	u64 looked[CLASSES];
	unsigned int dispatched;
	unsigned int strangers_think;
	u64 strangers_seek;
	unsigned int leave;
};

/* Data of a request, in elv.priv: its state and class, and its process. */
enum request_state { NEVER_INSERTED, QUEUED, DISPATCHED };

static inline enum request_state state_of(struct request *rq)
{
	return (uintptr_t)rq->elv.priv[0] & 3;
}

static inline enum request_class class_of(struct request *rq)
{
	return (uintptr_t)rq->elv.priv[0] >> 2;
}

static inline void set_state(struct request *rq, enum request_state state, enum request_class class)
{
	rq->elv.priv[0] = (void *)(uintptr_t)(state | class << 2);
}

static inline struct reader *reader_of(struct request *rq)
{
	return rq->elv.priv[1];
}

static inline u64 ticks(void)
{
	return div_u64(ktime_get_ns(), NSEC_PER_MSEC);
}

static inline bool is_waiting(struct anticipation *ant)
{
	return ant->waiting == WAITS_FOR_END || ant->waiting == WAITS_FOR_NEXT;
}

/* reader.c; all under the lock */
struct reader *reader_find(struct anticipation *ant, pid_t pid);
void reader_asks(struct anticipation *ant, struct reader *reader, struct request *rq);
bool worth_waiting(struct anticipation *ant, struct request *rq);
void readers_free(struct anticipation *ant);

/* dispatch.c; all under the lock */
struct request *nearer(struct anticipation *ant, enum request_class class, struct request *one, struct request *other);
void take_out(struct anticipation *ant, struct request *rq);
void stop_waiting(struct anticipation *ant);
struct request *choose(struct anticipation *ant);
void completed(struct anticipation *ant, struct request *rq);

#endif
