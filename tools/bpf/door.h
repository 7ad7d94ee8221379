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

/*
 * Rings: one for each CPU, in one map that both sides have mapped. A program reserves room by moving @head, and stores
 * the record's time last: until then its first word is 0. Only then the reader takes it, fills the room with zeroes and
 * moves @limit.
 */
#define DOOR_BEYOND	128	/* behind the words, for a record that reaches beyond the end */

/**
 * struct door_ring - records of a CPU
 * @head: end of the reserved bytes
 * @limit: the most that @head may be, which is a ring's bytes behind those that were read
 * @words: a power of two of bytes, and DOOR_BEYOND
 */
struct door_ring {
	u64 head;
	u64 head_line[7];
	u64 limit;
	u64 limit_line[7];
	u64 words[];
};

/* Places for disks, by their sequence number, and how many of them a number may have. */
#define DOOR_PLACES	256
#define DOOR_TRIES	8
#define DOOR_GONE	(~0ULL)	/* diskseq of a place that is free again */

/**
 * struct door_disk - a disk that is counted
 * @diskseq: its sequence number, which no other disk gets; 0 for a place that was never used
 * @groups: enum raidtrace_group flags
 * @number: of the disk, below DOOR_DISKS
 * @has_requests: it is not bio-based
 * @has_journal: struct door_journal has extents
 */
struct door_disk {
	u64 diskseq;
	u32 groups;
	u32 number;
	u32 has_requests;
	u32 has_journal;
};

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

/*
 * Constants of the running kernel, which its BTF names: values, and bits of words, 0 for one that the kernel has not.
 * X(member, name, value or number of the bit if it has no such name).
 */
#define DOOR_NONE	255
#define DOOR_VALUES(X)							\
	X(op_discard, "REQ_OP_DISCARD", 3)				\
	X(op_zone_append, "REQ_OP_ZONE_APPEND", DOOR_NONE)		\
	X(op_write_zeroes, "REQ_OP_WRITE_ZEROES", 9)			\
	X(op_drv_in, "REQ_OP_DRV_IN", 34)				\
	X(op_drv_out, "REQ_OP_DRV_OUT", 35)
#define DOOR_BITS(X)							\
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
	u64 ring_mask;	/* bytes of a ring less one */
#define X(member, name, otherwise) u64 member;
	DOOR_VALUES(X)
	DOOR_BITS(X)
#undef X
};

#endif /* DOOR_H */
