/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of one disk: takes its events, one after the other, and counts them.
 *
 * It knows the bios between queue and issue and the requests between insert and
 * completion, by their addresses, in two hash tables of a fixed size. An address
 * has one of eight places; of requests in flight, when eight did not do once, one of
 * 64.
 *
 * Plain C: the kernel module and the tests compile this one file. Nothing here
 * locks or reads a clock; the caller does.
 */
#ifndef RAIDTRACE_ENGINE_H
#define RAIDTRACE_ENGINE_H

#include "account.h"

/*
 * Events are records of some words; the first two, time and head, are the same in all. Addresses
 * of bios and requests are names: they are compared and never followed.
 */

/**
 * enum raidtrace_event - what a record tells, and its words behind time and head
 * @RAIDTRACE_EVENT_TASK: those that follow from this CPU are of another task: its name, in
 *	two words, and the cgroup; the process is in place of the bytes
 * @RAIDTRACE_EVENT_QUEUE: a bio is queued: bio, sector
 * @RAIDTRACE_EVENT_SPLIT: a bio is cut in two: the piece that goes first, the bio
 * @RAIDTRACE_EVENT_END: a bio ends: bio
 * @RAIDTRACE_EVENT_INSERT: a request is inserted: request
 * @RAIDTRACE_EVENT_MERGE: a request is merged into another: request
 * @RAIDTRACE_EVENT_ISSUE_BIO: a bio of several that the next issue of a request has:
 *	request, bio
 * @RAIDTRACE_EVENT_ISSUE: a request is issued: request, sector, its only bio or 0
 * @RAIDTRACE_EVENT_ISSUE_HWQ: RAIDTRACE_EVENT_ISSUE of a disk whose hardware queues are
 *	counted; the head has the row of the queue, too
 * @RAIDTRACE_EVENT_REQUEUE: an issue is undone: request
 * @RAIDTRACE_EVENT_REQUEUE_HWQ: RAIDTRACE_EVENT_REQUEUE of such a disk
 * @RAIDTRACE_EVENT_COMPLETE: a request or a part of it ends: request, its only bio when
 *	that ends with it or 0
 * @RAIDTRACE_EVENT_COMPLETE_HWQ: RAIDTRACE_EVENT_COMPLETE of such a disk
 * @RAIDTRACE_EVENT_COUNT: something that is only counted; no words
 * @RAIDTRACE_EVENTS: number of kinds
 */
enum raidtrace_event {
	RAIDTRACE_EVENT_TASK,
	RAIDTRACE_EVENT_QUEUE,
	RAIDTRACE_EVENT_SPLIT,
	RAIDTRACE_EVENT_END,
	RAIDTRACE_EVENT_INSERT,
	RAIDTRACE_EVENT_MERGE,
	RAIDTRACE_EVENT_ISSUE_BIO,
	RAIDTRACE_EVENT_ISSUE,
	RAIDTRACE_EVENT_ISSUE_HWQ,
	RAIDTRACE_EVENT_REQUEUE,
	RAIDTRACE_EVENT_REQUEUE_HWQ,
	RAIDTRACE_EVENT_COMPLETE,
	RAIDTRACE_EVENT_COMPLETE_HWQ,
	RAIDTRACE_EVENT_COUNT,
	RAIDTRACE_EVENTS,
};

/* Words of the longest record. */
#define RAIDTRACE_EVENT_WORDS		5

/*
 * Head of a record: kind, direction, class (of a bio) or counter (of what is only
 * counted), flags, bytes.
 */
#define RAIDTRACE_EVENT_DIRECTION	4
#define RAIDTRACE_EVENT_CLASS		8
#define RAIDTRACE_EVENT_BYTES		32
#define RAIDTRACE_EVENT_NIBBLE		15

#define RAIDTRACE_EVENT_AHEAD		0x10000	/* bio: reads ahead */
#define RAIDTRACE_EVENT_UNPLACED	0x20000	/* bio, issue: its sector is no position */
#define RAIDTRACE_EVENT_ERROR		0x40000	/* completion: status is not success */
#define RAIDTRACE_EVENT_PART		0x80000	/* completion: the request goes on */
#define RAIDTRACE_EVENT_SEQUENCE	0x100000	/* completion: of a flush sequence's data */
#define RAIDTRACE_EVENT_NOWAIT		0x400000	/* end: the bio was refused, as it was not to wait */
#define RAIDTRACE_EVENT_STARTED		0x200000	/* completion: the driver had the request */

/* Issue: where the row of the hardware queue is in the head, and its bits there. */
#define RAIDTRACE_EVENT_ROW		23
#define RAIDTRACE_EVENT_ROW_MASK	255

static inline u64 raidtrace_event_head(enum raidtrace_event kind,
				       enum raidtrace_direction direction, u32 class, u32 flags,
				       u32 bytes)
{
	return (u64)bytes << RAIDTRACE_EVENT_BYTES | flags | class << RAIDTRACE_EVENT_CLASS |
	       (u32)direction << RAIDTRACE_EVENT_DIRECTION | kind;
}

static inline enum raidtrace_event raidtrace_event_kind(u64 head)
{
	return head & RAIDTRACE_EVENT_NIBBLE;
}

static inline enum raidtrace_direction raidtrace_event_direction(u64 head)
{
	return head >> RAIDTRACE_EVENT_DIRECTION & RAIDTRACE_EVENT_NIBBLE;
}

static inline u32 raidtrace_event_class(u64 head)
{
	return head >> RAIDTRACE_EVENT_CLASS & RAIDTRACE_EVENT_NIBBLE;
}

/* Row of the hardware queue, of RAIDTRACE_EVENT_ISSUE_HWQ alone. */
static inline u32 raidtrace_event_row(u64 head)
{
	return head >> RAIDTRACE_EVENT_ROW & RAIDTRACE_EVENT_ROW_MASK;
}

static inline u32 raidtrace_event_bytes(u64 head)
{
	return head >> RAIDTRACE_EVENT_BYTES;
}

/* Words of a record, time and head among them. */
static inline unsigned int raidtrace_event_words(enum raidtrace_event kind)
{
	static const unsigned char words[RAIDTRACE_EVENTS] = {
		[RAIDTRACE_EVENT_TASK] = 5,
		[RAIDTRACE_EVENT_QUEUE] = 4,
		[RAIDTRACE_EVENT_SPLIT] = 4,
		[RAIDTRACE_EVENT_END] = 3,
		[RAIDTRACE_EVENT_INSERT] = 3,
		[RAIDTRACE_EVENT_MERGE] = 3,
		[RAIDTRACE_EVENT_ISSUE_BIO] = 4,
		[RAIDTRACE_EVENT_ISSUE] = 5,
		[RAIDTRACE_EVENT_ISSUE_HWQ] = 5,
		[RAIDTRACE_EVENT_REQUEUE] = 3,
		[RAIDTRACE_EVENT_REQUEUE_HWQ] = 3,
		[RAIDTRACE_EVENT_COMPLETE] = 4,
		[RAIDTRACE_EVENT_COMPLETE_HWQ] = 4,
		[RAIDTRACE_EVENT_COUNT] = 2,
	};

	return words[kind];
}

/* Words of a task's name, TASK_COMM_LEN bytes. */
#define RAIDTRACE_COMM_WORDS	2

/* Rows that are looked at for one process, so that the way is short when the table is full. */
#define RAIDTRACE_SUBMITTER_TRIES 16

/**
 * struct raidtrace_task - who queues bios
 * @comm: name of the thread, as its bytes lie in memory
 * @cgroup: whose bios they are, which is not the thread's when it writes back; 0 for nobody's
 * @pid: the process (thread group), 0 for an interrupt
 */
struct raidtrace_task {
	u64 comm[RAIDTRACE_COMM_WORDS];
	u64 cgroup;
	u32 pid;
};

static inline bool raidtrace_is_task(const struct raidtrace_task *one,
				     const struct raidtrace_task *other)
{
	return one->pid == other->pid && one->cgroup == other->cgroup &&
	       one->comm[0] == other->comm[0] && one->comm[1] == other->comm[1];
}

/**
 * struct raidtrace_submitters - the rows; one that finds none free takes that of another
 * @task: found by the process
 * @queued_ns: when its last bio was queued, 0 for a free row
 * @replaced: a bit for each row that has another process than it had
 */
struct raidtrace_submitters {
	struct raidtrace_task task[RAIDTRACE_SUBMITTERS];
	u64 queued_ns[RAIDTRACE_SUBMITTERS];
	u64 replaced;
};

/*
 * Row of a task; another name or another cgroup has one of its own. When none is free it
 * is that of the process that queued nothing for longest: then its bit is set in replaced,
 * and what was counted there is another's.
 */
static inline u32 raidtrace_submitter_row(struct raidtrace_submitters *submitters,
					  const struct raidtrace_task *task)
{
	u32 first = ((task->pid ^ (u32)task->cgroup) * 0x61c88647U) >> 26, oldest = first;
	unsigned int i;

	for (i = 0; i < RAIDTRACE_SUBMITTER_TRIES; i++) {
		u32 index = (first + i) % RAIDTRACE_SUBMITTERS;
		struct raidtrace_task *row = &submitters->task[index];

		if (!submitters->queued_ns[index]) {
			*row = *task;
			return index;
		}
		if (raidtrace_is_task(row, task))
			return index;
		if (submitters->queued_ns[index] < submitters->queued_ns[oldest])
			oldest = index;
	}
	submitters->task[oldest] = *task;
	submitters->replaced |= 1ULL << oldest;
	return oldest;
}

/* How many are kept, a power of two. */
#define RAIDTRACE_HISTORY	4096

/**
 * struct raidtrace_ended - a request that ended
 * @queued_ns: when the first of its bios that was seen was queued, 0 when none was
 * @inserted_ns: when it was inserted, 0 when it was not
 * @issued_ns: its last issue
 * @completed_ns: its last completion
 * @sector: where it begins
 * @bytes: issued
 * @pid: the process that queued that bio, as @queued_ns
 * @row: of that process in the table, when it was queued
 * @depth: requests in flight that its issue found
 * @direction: of its last issue
 * @class: likewise
 * @error: its status is not success
 * @again: it was requeued and issued again
 */
struct raidtrace_ended {
	u64 queued_ns;
	u64 inserted_ns;
	u64 issued_ns;
	u64 completed_ns;
	u64 sector;
	u32 bytes;
	u32 pid;
	u32 row;
	u32 depth;
	unsigned char direction;
	unsigned char class;
	bool error;
	bool again;
};

/**
 * struct raidtrace_history - the last requests that ended
 * @ended: RAIDTRACE_HISTORY of them, in turn; NULL when none are kept
 * @nr: how many there were, each time one was put there
 */
struct raidtrace_history {
	struct raidtrace_ended *ended;
	u64 nr;
};

/* A request ended; it is copied. */
static inline void raidtrace_history_put(struct raidtrace_history *history,
					 const struct raidtrace_ended *ended)
{
	history->ended[history->nr++ % RAIDTRACE_HISTORY] = *ended;
}

/*
 * The request behind number @number, 0 before the first, as long as it is there; @number
 * is moved on to it.
 */
static inline const struct raidtrace_ended *
raidtrace_history_next(const struct raidtrace_history *history, u64 *number)
{
	u64 oldest = history->nr > RAIDTRACE_HISTORY ? history->nr - RAIDTRACE_HISTORY : 0;

	if (*number < oldest)
		*number = oldest;
	if (!history->ended || *number >= history->nr)
		return NULL;
	return &history->ended[(*number)++ % RAIDTRACE_HISTORY];
}

/*
 * Hardware queues. The caller has a queue's row: its number, or RAIDTRACE_HWQ_REST for all queues
 * from that number on.
 */

/**
 * struct raidtrace_cpu - a CPU
 * @number: its number
 * @node: its NUMA node
 */
struct raidtrace_cpu {
	u32 number;
	unsigned short node;
};

/**
 * struct raidtrace_hwq_depth - requests in flight on the queues of one row
 * @changed_ns: until when @in_flight is in the account's depth_sum_ns
 * @in_flight: issued and not yet ended
 * @in_flight_max: highest @in_flight since attach or reset
 */
struct raidtrace_hwq_depth {
	u64 changed_ns;
	u32 in_flight;
	u32 in_flight_max;
};

/**
 * struct raidtrace_hwq_issue - where a request in flight was issued
 * @cpu: number of the CPU
 * @node: its NUMA node
 * @row: of the hardware queue
 */
struct raidtrace_hwq_issue {
	u32 cpu;
	unsigned short node;
	unsigned short row;
};

/**
 * struct raidtrace_hwqs - the hardware queues of a disk
 * @rows: one more than the highest row that had a request
 * @depth: by row
 * @issue: of the request in each place of the engine's table; of one in flight alone
 */
struct raidtrace_hwqs {
	unsigned int rows;
	struct raidtrace_hwq_depth depth[RAIDTRACE_HWQ_ROWS];
	struct raidtrace_hwq_issue issue[];
};

/* Count the time that a row spent at the depth that it has until now. */
static inline void raidtrace_hwq_spend(struct raidtrace_hwq_depth *depth,
				       struct raidtrace_hwq *hwq, u64 now_ns)
{
	hwq->depth_sum_ns += depth->in_flight * (now_ns - depth->changed_ns);
	depth->changed_ns = now_ns;
}

/* A request is issued on a CPU; @issue is that of its place. */
static inline void raidtrace_hwq_count_issue(struct raidtrace_hwqs *hwqs,
					     struct raidtrace_account *account, u64 now_ns,
					     u32 row, const struct raidtrace_cpu *cpu,
					     struct raidtrace_hwq_issue *issue)
{
	struct raidtrace_hwq_depth *depth = &hwqs->depth[row];
	struct raidtrace_hwq *hwq = &account->hwq[row];

	*issue = (struct raidtrace_hwq_issue){
		.cpu = cpu->number, .node = cpu->node, .row = row,
	};
	if (row >= hwqs->rows)
		hwqs->rows = row + 1;
	raidtrace_hwq_spend(depth, hwq, now_ns);
	hwq->issued++;
	if (++depth->in_flight > depth->in_flight_max) {
		depth->in_flight_max++;
		hwq->depth_rises++;
	}
}

/* A request that was issued ends on a CPU, or its issue is undone: then @cpu is NULL. */
static inline void raidtrace_hwq_count_end(struct raidtrace_hwqs *hwqs,
					   struct raidtrace_account *account, u64 now_ns,
					   const struct raidtrace_cpu *cpu,
					   const struct raidtrace_hwq_issue *issue)
{
	struct raidtrace_hwq_depth *depth = &hwqs->depth[issue->row];
	struct raidtrace_hwq *hwq = &account->hwq[issue->row];

	raidtrace_hwq_spend(depth, hwq, now_ns);
	depth->in_flight--;
	if (!cpu)
		hwq->returned++;
	else if (cpu->number == issue->cpu)
		hwq->completed_same_cpu++;
	else if (cpu->node == issue->node)
		hwq->completed_other_cpu++;
	else
		hwq->completed_other_node++;
}

/* Count the time spent at the present depths up to now. */
static inline void raidtrace_hwqs_advance(struct raidtrace_hwqs *hwqs,
					  struct raidtrace_account *account, u64 now_ns)
{
	unsigned int row;

	for (row = 0; row < hwqs->rows; row++)
		raidtrace_hwq_spend(&hwqs->depth[row], &account->hwq[row], now_ns);
}

/* Begin anew, just advanced, in an account of zeroes; what is in flight stays known. */
static inline void raidtrace_hwqs_reset(struct raidtrace_hwqs *hwqs,
					struct raidtrace_account *account)
{
	unsigned int row;

	for (row = 0; row < hwqs->rows; row++) {
		struct raidtrace_hwq_depth *depth = &hwqs->depth[row];

		depth->in_flight_max = depth->in_flight;
		account->hwq[row].carried = depth->in_flight;
	}
}

/* What needs to know of a request's bios when and as what they were queued. */
#define RAIDTRACE_GROUPS_BIOS \
	(RAIDTRACE_GROUP_LATENCY | RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)

/* Places for bios, as a power of two. */
#define RAIDTRACE_ENGINE_BIO_BITS	14

/**
 * struct raidtrace_queued - a bio from queue to issue, or to its end
 * @bio: its address, 0 for a free place
 * @queued_ns: when it was queued
 * @pid: the process that queued it
 * @row: of that process
 * @class: what it is for
 * @direction: what it asks for
 *
 * A bio that ends without an event leaves its place behind, until one at the same
 * address takes it over.
 */
struct raidtrace_queued {
	u64 bio;
	u64 queued_ns;
	u32 pid;
	unsigned short row;
	unsigned char class;
	unsigned char direction;
};

/**
 * struct raidtrace_issued - a request that has been seen
 * @request: its address, 0 for a free place
 * @inserted_ns: when it was inserted, 0 when it was not since its last issue
 * @only: its only bio while it is in flight; without an address when it has none or
 *	several, or nothing is known of it
 * @ended: what will be known of it when it ends; its direction is that of the last issue
 * @depth_row: raidtrace_depth_row() of the depth of all that the issue found
 * @class: of the bios told of for the issue to come, RAIDTRACE_CLASSES for none yet
 * @in_flight: issued, and neither completed nor requeued
 * @sequenced: only the end of its flush sequence is to come
 * @requeued: the issue to come is not its first
 *
 * A place stays with its address as long as no other request needs it: the
 * block layer uses the same ones again and again.
 */
struct raidtrace_issued {
	u64 request;
	u64 inserted_ns;
	struct raidtrace_queued only;
	struct raidtrace_ended ended;
	unsigned char depth_row;
	unsigned char class;
	bool in_flight;
	bool sequenced;
	bool requeued;
};

/**
 * struct raidtrace_source - where events come from in the order of their times: a CPU
 * @cpu: that CPU
 * @task: that they are of
 * @row: its row of the table of processes
 * @table: as &raidtrace_engine.table when @row was found
 */
struct raidtrace_source {
	struct raidtrace_cpu cpu;
	struct raidtrace_task task;
	u32 row;
	u32 table;
};

/**
 * struct raidtrace_engine - one disk
 * @arrival: of the disk's bios
 * @queue: of the disk's requests; its groups are what is counted
 * @place: how the disk is cut in parts
 * @account: that is counted in; may be another from event to event
 * @submitters: processes that queued bios
 * @table: moves when a row of @submitters has another process
 * @bios: 1 << RAIDTRACE_ENGINE_BIO_BITS places, NULL when no group needs them
 * @requests: places for requests, NULL for a disk that has none
 * @request_bits: there are 1 << @request_bits
 * @reach: how many places a request may have
 * @history: the last requests
 * @hwqs: the hardware queues, NULL when they are not counted
 */
struct raidtrace_engine {
	struct raidtrace_arrival arrival;
	struct raidtrace_queue queue;
	struct raidtrace_place place;
	struct raidtrace_account *account;
	struct raidtrace_submitters submitters;
	u32 table;
	struct raidtrace_queued *bios;
	struct raidtrace_issued *requests;
	unsigned int request_bits;
	unsigned int reach;
	struct raidtrace_history history;
	struct raidtrace_hwqs *hwqs;
};

void raidtrace_engine_start(struct raidtrace_engine *engine, u32 groups, u32 streams, u64 now_ns);
u32 raidtrace_engine_count(struct raidtrace_engine *engine, struct raidtrace_source *source,
			   const u64 *words, u32 mask, u32 tail, u32 head, u64 until,
			   unsigned int *left);
void raidtrace_engine_advance(struct raidtrace_engine *engine, u64 now_ns);
void raidtrace_engine_reset(struct raidtrace_engine *engine);

#endif /* RAIDTRACE_ENGINE_H */
