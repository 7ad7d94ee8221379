/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the BPF programs and the process that counts: records, disks, losses. Records have the kinds and words of
 * kmod/engine.h, except those below; the highest bits of their time are the number of the disk.
 */
#ifndef DOOR_H
#define DOOR_H

#include "engine.h"

/* The first bit of a disk's number in a record's time: nine years of nanoseconds remain. */
#define DOOR_TIME_BITS	58
#define DOOR_DISKS	64	/* as RAIDTRACE_MAX_TARGETS */

/* Kinds in place of those that hold a task and one of several bios. */
#define DOOR_ISSUE_BIOS	14	/* several bios of the next issue of a request: request, bios */
#define DOOR_ENDS	15	/* several bios end: nothing, bios */
#define DOOR_BIOS	8	/* of such a record at most; the head has their number in place of the bytes */

/* Bios of a request that are written. A request of more is counted as of these. */
#define DOOR_BIOS_MOST	1024

/**
 * struct door_queue - a bio is queued, and by which task
 * @time: see above
 * @head: raidtrace_event_head()
 * @bio: address
 * @sector: first sector
 * @comm: name of the thread
 * @cgroup: that the bio is charged to, 0 for none
 * @pid: process, 0 for an interrupt
 */
struct door_queue {
	u64 time;
	u64 head;
	u64 bio;
	u64 sector;
	u64 comm[RAIDTRACE_COMM_WORDS];
	u64 cgroup;
	u64 pid;
};

/**
 * struct door_bios - several bios of a request
 * @time: see above
 * @head: raidtrace_event_head(), the number of bios as bytes
 * @request: address, for DOOR_ISSUE_BIOS
 * @bio: addresses
 */
struct door_bios {
	u64 time;
	u64 head;
	u64 request;
	u64 bio[DOOR_BIOS];
};

/* Places for disks, by a hash of their number, and how many of them a number may have. */
#define DOOR_PLACES	256
#define DOOR_TRIES	8
#define DOOR_GONE	0xffffffffU	/* dev of a place that is free again */

/**
 * struct door_disk - a disk that is counted
 * @dev: major << 20 | minor; 0 for a place that was never used
 * @groups: enum raidtrace_group flags
 * @diskseq: of the disk, 0 if the kernel has none: another disk may get the same number
 * @number: of the disk, below DOOR_DISKS
 * @has_requests: it is not bio-based
 */
struct door_disk {
	u32 dev;
	u32 groups;
	u64 diskseq;
	u32 number;
	u32 has_requests;
};

static inline u32 door_place(u32 dev)
{
	return (dev * 0x9e3779b1U) >> 24;
}

#define DOOR_EXTENTS	64	/* as the module takes */

/**
 * struct door_journal - sectors of the journal of a disk's file system
 * @nr: number of extents
 * @extent: first sector and length
 */
struct door_journal {
	u64 nr;
	struct {
		u64 sector;
		u64 nr_sectors;
	} extent[DOOR_EXTENTS];
};

/**
 * struct door_state - what both sides see; one instance
 * @disk: by place
 * @journal: by number of the disk
 * @lost: records for which a ring had no room, by number of the disk and kind
 */
struct door_state {
	struct door_disk disk[DOOR_PLACES];
	struct door_journal journal[DOOR_DISKS];
	u64 lost[DOOR_DISKS][RAIDTRACE_EVENT_NIBBLE + 1];
};

/* Constants of the running kernel, which its BTF names: X(member, name, value if it has no such name). */
#define DOOR_NONE	255	/* a bit that the kernel has not */
#define DOOR_CONSTANTS(X)						\
	X(op_discard, "REQ_OP_DISCARD", 3)				\
	X(op_zone_append, "REQ_OP_ZONE_APPEND", DOOR_NONE)		\
	X(op_write_zeroes, "REQ_OP_WRITE_ZEROES", 9)			\
	X(op_drv_in, "REQ_OP_DRV_IN", 34)				\
	X(op_drv_out, "REQ_OP_DRV_OUT", 35)				\
	X(req_meta, "__REQ_META", DOOR_NONE)				\
	X(req_prio, "__REQ_PRIO", DOOR_NONE)				\
	X(req_rahead, "__REQ_RAHEAD", DOOR_NONE)			\
	X(req_swap, "__REQ_SWAP", DOOR_NONE)				\
	X(rq_flush_seq, "__RQF_FLUSH_SEQ", 4)				\
	X(bio_page_pinned, "BIO_PAGE_PINNED", DOOR_NONE)		\
	X(bio_trace_completion, "BIO_TRACE_COMPLETION", DOOR_NONE)	\
	X(pg_locked, "PG_locked", 0)					\
	X(pg_reserved, "PG_reserved", DOOR_NONE)			\
	X(pg_uptodate, "PG_uptodate", DOOR_NONE)			\
	X(pg_swapcache, "PG_swapcache", DOOR_NONE)			\
	X(pg_swapbacked, "PG_swapbacked", DOOR_NONE)

struct door_constants {
#define X(member, name, otherwise) u32 member;
	DOOR_CONSTANTS(X)
#undef X
};

#endif /* DOOR_H */
