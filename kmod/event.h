/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a disk as the handlers write them down and the engine takes them:
 * records of some words, the first two of which are the same in all of them.
 *
 * Addresses of bios and requests are names: they are compared, never followed.
 *
 * Plain C: the kernel module, raidctl and the tests compile this one file.
 */
#ifndef RAIDTRACE_EVENT_H
#define RAIDTRACE_EVENT_H

#include "histogram.h"

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

#endif /* RAIDTRACE_EVENT_H */
