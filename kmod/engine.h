/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine of a disk counts its events in order of time. Two hash tables of a fixed size have the
 * bios from queue to issue and the requests from insert to completion, by address. Plain C, for the
 * module and the tests. The caller locks and reads the clock.
 */
#ifndef RAIDTRACE_ENGINE_H
#define RAIDTRACE_ENGINE_H

#include "account.h"

/*
 * An event is a record of some words; the first two, time and head, are the same in all. Addresses
 * of bios and requests are compared, never dereferenced.
 */

/**
 * enum raidtrace_event - kinds of records, and their words behind time and head
 * @RAIDTRACE_EVENT_TASK: the task of the following records of this CPU: its name (two words),
 *	cgroup; the head has the process in place of the bytes
 * @RAIDTRACE_EVENT_QUEUE: a bio is queued: bio, sector
 * @RAIDTRACE_EVENT_SPLIT: a bio is split: the first piece, the bio
 * @RAIDTRACE_EVENT_END: a bio ends: bio
 * @RAIDTRACE_EVENT_INSERT: a request is inserted: request
 * @RAIDTRACE_EVENT_MERGE: a request is merged into another: request
 * @RAIDTRACE_EVENT_ISSUE_BIO: one of several bios of the next issue of a request: request, bio
 * @RAIDTRACE_EVENT_ISSUE: a request is issued: request, sector, its only bio or 0
 * @RAIDTRACE_EVENT_ISSUE_HWQ: the same when hardware queues are counted; the head has the row
 * @RAIDTRACE_EVENT_REQUEUE: an issue is undone: request
 * @RAIDTRACE_EVENT_REQUEUE_HWQ: the same when hardware queues are counted
 * @RAIDTRACE_EVENT_COMPLETE: a request or a part of it ends: request, its only bio if that ends
 * @RAIDTRACE_EVENT_COMPLETE_HWQ: the same when hardware queues are counted
 * @RAIDTRACE_EVENT_COUNT: an event without state
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

#define RAIDTRACE_EVENT_WORDS		5	/* of the longest record */

/* Head of a record: kind, direction, class of a bio or counter, flags, bytes. */
#define RAIDTRACE_EVENT_DIRECTION	4
#define RAIDTRACE_EVENT_CLASS		8
#define RAIDTRACE_EVENT_BYTES		32
#define RAIDTRACE_EVENT_NIBBLE		15

#define RAIDTRACE_EVENT_AHEAD		0x10000	/* bio: reads ahead */
#define RAIDTRACE_EVENT_UNPLACED	0x20000	/* bio, issue: its sector is no position */
#define RAIDTRACE_EVENT_ERROR		0x40000	/* completion: status is not success */
#define RAIDTRACE_EVENT_PART		0x80000	/* completion: the request goes on */
#define RAIDTRACE_EVENT_SEQUENCE	0x100000	/* completion: of a flush sequence's data */
#define RAIDTRACE_EVENT_NOWAIT		0x400000	/* end: refused, because the bio must not wait */
#define RAIDTRACE_EVENT_ALONE		0x800000	/* end: the disk has requests, the bio had none */
#define RAIDTRACE_EVENT_STARTED		0x200000	/* completion: the driver had the request */

/* Place of a hardware queue's row in the head of an issue. */
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

static inline u32 raidtrace_event_row(u64 head)
{
	return head >> RAIDTRACE_EVENT_ROW & RAIDTRACE_EVENT_ROW_MASK;
}

static inline u32 raidtrace_event_bytes(u64 head)
{
	return head >> RAIDTRACE_EVENT_BYTES;
}

static inline unsigned int raidtrace_event_words(enum raidtrace_event kind)
{
	static const unsigned char words[RAIDTRACE_EVENT_NIBBLE + 1] = {
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

#define RAIDTRACE_COMM_WORDS	2	/* TASK_COMM_LEN bytes */

/* Rows that a process may have: a full table is searched in a bounded time. */
#define RAIDTRACE_SUBMITTER_TRIES 16

/**
 * struct raidtrace_task - the task that queues bios
 * @comm: name of the thread
 * @cgroup: that the bios are charged to, not the thread's in writeback; 0 for none
 * @pid: process (thread group), 0 for an interrupt
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
 * struct raidtrace_submitters - processes that queue bios
 * @task: by row
 * @queued_ns: when the row's last bio was queued, 0 for a free row
 * @replaced: rows that another process has taken
 * @generation: by row, how often that was
 */
struct raidtrace_submitters {
	struct raidtrace_task task[RAIDTRACE_SUBMITTERS];
	u64 queued_ns[RAIDTRACE_SUBMITTERS];
	u64 replaced;
	unsigned char generation[RAIDTRACE_SUBMITTERS + 1];
};

/* The process that queued a bio: a row, and in the bits from this one on its generation. */
#define RAIDTRACE_OWNER_GENERATION	8
#define RAIDTRACE_OWNER_ROW		255

static inline unsigned short raidtrace_owner(const struct raidtrace_submitters *submitters, u32 row)
{
	return submitters->generation[row] << RAIDTRACE_OWNER_GENERATION | row;
}

/* The row of a process, that of the rest if another process has taken its own. */
static inline u32 raidtrace_owner_row(const struct raidtrace_submitters *submitters, u32 owner)
{
	u32 row = owner & RAIDTRACE_OWNER_ROW;

	return submitters->generation[row] == owner >> RAIDTRACE_OWNER_GENERATION ?
		       row : RAIDTRACE_SUBMITTER_REST;
}

/*
 * The row of a task, name and cgroup. If all rows that it may have are taken, it replaces the task
 * that has been idle longest.
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
	submitters->generation[oldest]++;
	return oldest;
}

/* Requests that a history keeps, a power of two. */
#define RAIDTRACE_HISTORY	4096

/**
 * struct raidtrace_ended - a request that ended, or is known so far
 * @queued_ns: when the first of its known bios was queued, 0 for unknown
 * @inserted_ns: 0 when it was not inserted
 * @issued_ns: last issue
 * @completed_ns: last completion
 * @sector: first sector
 * @bytes: issued
 * @pid: process that queued that bio
 * @row: row of that process then
 * @depth: requests in flight that its issue found
 * @direction: of its last issue
 * @class: of its last issue
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
 * struct raidtrace_history - the last requests that ended, those that were slow or failed
 * @slow_ns: nanoseconds from issue to completion of a request that is kept without an error
 * @nr: number of requests so far
 * @ended: ring of these requests
 * @known: requests on their way, by their place in the engine's table
 */
struct raidtrace_history {
	u64 slow_ns;
	u64 nr;
	struct raidtrace_ended ended[RAIDTRACE_HISTORY];
	struct raidtrace_ended known[];
};

/* The oldest request behind *@number that is kept; *@number becomes its number. NULL for none. */
static inline const struct raidtrace_ended *
raidtrace_history_next(const struct raidtrace_history *history, u64 *number)
{
	u64 oldest = history->nr > RAIDTRACE_HISTORY ? history->nr - RAIDTRACE_HISTORY : 0;

	if (*number < oldest)
		*number = oldest;
	if (*number >= history->nr)
		return NULL;
	return &history->ended[(*number)++ % RAIDTRACE_HISTORY];
}

/* Hardware queues. A queue's row is its number, or RAIDTRACE_HWQ_REST from that number on. */

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
 * struct raidtrace_hwq_depth - requests in flight on the queues of a row
 * @changed_ns: until when @in_flight is counted in depth_sum_ns
 * @in_flight: issued and not ended
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
 * @issue: by the request's place in the engine's table
 */
struct raidtrace_hwqs {
	unsigned int rows;
	struct raidtrace_hwq_depth depth[RAIDTRACE_HWQ_ROWS];
	struct raidtrace_hwq_issue issue[];
};

/* Count the time that a row spent at its depth. */
static inline void raidtrace_hwq_spend(struct raidtrace_hwq_depth *depth,
				       struct raidtrace_hwq *hwq, u64 now_ns)
{
	hwq->depth_sum_ns += depth->in_flight * (now_ns - depth->changed_ns);
	depth->changed_ns = now_ns;
}

/* Count an issue on a CPU; @issue is that of the request's place. */
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

/* Count the end of an issued request on a CPU, or, without @cpu, an issue that is undone. */
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

/* Reset, right after an advance, into an account of zeroes. Requests in flight stay known. */
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

/* Default: all groups up to this one. */
#define RAIDTRACE_GROUPS_DEFAULT	(2 * RAIDTRACE_GROUP_READAHEAD - 1)

/* Groups that need a request's bios, and when they were queued. */
#define RAIDTRACE_GROUPS_BIOS \
	(RAIDTRACE_GROUP_LATENCY | RAIDTRACE_GROUPS_CLASSES | RAIDTRACE_GROUP_SUBMITTER)

/**
 * struct raidtrace_queued - a bio from queue to its end
 * @bio: address, 0 for a free place
 * @queued_ns: CLOCK_MONOTONIC
 * @pid: process that queued it
 * @owner: row of that process, see raidtrace_owner()
 * @class: purpose of the bio
 * @direction: read, write ...
 * @waits: no request that was issued has it
 *
 * A bio that ends without an event leaves its place in use, until another has its address.
 */
struct raidtrace_queued {
	u64 bio;
	u64 queued_ns;
	u32 pid;
	unsigned short owner;
	unsigned char class;
	unsigned char direction : 7;
	unsigned char waits : 1;
};

/* The future events of a request. */
enum raidtrace_progress {
	RAIDTRACE_NOT_ISSUED,
	RAIDTRACE_IN_FLIGHT,
	RAIDTRACE_REQUEUED,	/* the next issue is not its first */
	RAIDTRACE_SEQUENCED,	/* only the end of its flush sequence is to come */
	RAIDTRACE_FAILED,	/* the same; the error of its data was counted */
};

/**
 * struct raidtrace_issued - a request that was observed
 * @request: address, 0 for a free place
 * @inserted_ns: 0 when it was not inserted since its last issue
 * @issued_ns: last issue
 * @bio: place of the only bio of its last issue, or another place
 * @bytes: of its last issue, less those that completed
 * @progress: what is to come
 * @class: of the bios of the next issue so far, RAIDTRACE_CLASSES for none
 * @direction: of its last issue
 * @depth_row: raidtrace_depth_row() of the depth of all that its issue found
 * @owner: of the first bio of its first issue
 * @size_row: raidtrace_size_row() of its first issue
 * @seek_row: raidtrace_seek_row() of its first issue, or RAIDTRACE_SEEK_ROW_NONE
 *
 * A place keeps its address until another request needs it: the block layer uses the same
 * requests again and again.
 */
struct raidtrace_issued {
	u64 request;
	u64 inserted_ns;
	u64 issued_ns;
	struct raidtrace_queued *bio;
	u32 bytes;
	unsigned char progress;
	unsigned char class;
	unsigned char direction;
	unsigned char depth_row;
	unsigned short owner;
	unsigned char size_row;
	unsigned char seek_row;
};

/**
 * struct raidtrace_source - the events of a CPU, in order of time
 * @words: ring of records, and room for one that reaches beyond the end
 * @mask: number of words, a power of two, less one
 * @tail: end of the counted words
 * @end: end of the words to count
 * @cpu: the CPU
 * @task: task of its events
 * @row: row of @task
 * @table: &raidtrace_engine.table when @row was found
 */
struct raidtrace_source {
	const u64 *words;
	u32 mask;
	u32 tail;
	u32 end;
	struct raidtrace_cpu cpu;
	struct raidtrace_task task;
	u32 row;
	u32 table;
};

/**
 * struct raidtrace_next - a source with events to count
 * @time: of the record at its tail
 * @source: the source
 *
 * Sources are in a heap, the earliest event first. Two behind the last one have the time U64_MAX.
 */
struct raidtrace_next {
	u64 time;
	struct raidtrace_source *source;
};

/**
 * struct raidtrace_engine - a disk
 * @arrival: position of bios
 * @queue: state of the queue; its groups are those counted
 * @place: parts of the disk
 * @account: counters; a snapshot exchanges it
 * @submitters: processes that queue bios
 * @table: changes when another process takes a row of @submitters
 * @bios: 1 << @bio_bits places, NULL when no group needs them
 * @requests: 1 << @request_bits places, NULL for a bio-based disk
 * @bio_bits: see @bios
 * @request_bits: see @requests
 * @reach: places that a request may have
 * @history: the last requests, NULL when they are not kept
 * @hwqs: hardware queues, NULL when they are not counted
 * @waiting: bios that wait: queued, and in no issued request; a requeued request waits as one
 * @waited_ns: until when the time with bios waiting is counted
 * @wait_ns: their waits since the last advance: the sum of the times of ends less that of begins
 */
struct raidtrace_engine {
	struct raidtrace_position arrival;
	struct raidtrace_queue queue;
	struct raidtrace_place place;
	struct raidtrace_account *account;
	struct raidtrace_submitters submitters;
	u32 table;
	struct raidtrace_queued *bios;
	struct raidtrace_issued *requests;
	unsigned int bio_bits;
	unsigned int request_bits;
	unsigned int reach;
	struct raidtrace_history *history;
	struct raidtrace_hwqs *hwqs;
	u32 waiting;
	u64 waited_ns;
	u64 wait_ns;
};

void raidtrace_engine_start(struct raidtrace_engine *engine, u32 groups, u32 streams, u64 now_ns);
unsigned int raidtrace_engine_count(struct raidtrace_engine *engine, struct raidtrace_next *next,
				    unsigned int nr, u64 until, unsigned int *left);
void raidtrace_heap_add(struct raidtrace_next *next, unsigned int nr, u64 time,
			struct raidtrace_source *source);
void raidtrace_engine_advance(struct raidtrace_engine *engine, u64 now_ns);
void raidtrace_engine_reset(struct raidtrace_engine *engine);

#endif /* RAIDTRACE_ENGINE_H */
