/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of a disk and the state of its queue. Documentation/counters.rst says when each
 * counter changes. Plain C, for the module, raidctl and the tests. The caller locks and reads the
 * clock.
 */
#ifndef RAIDTRACE_ACCOUNT_H
#define RAIDTRACE_ACCOUNT_H

#include "histogram.h"

/* Groups that need the class of a bio. */
#define RAIDTRACE_GROUPS_CLASSES	(RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME)

/*
 * A hash table finds a stream by its end. A ring has the streams in the order in which they last
 * moved; the one after the newest is the oldest. All places are in use from the start, with ends
 * that no sector has.
 */

/* Most streams that are remembered, and their default number. */
#define RAIDTRACE_STREAMS_MAX		64
#define RAIDTRACE_STREAMS_DEFAULT	16

#define RAIDTRACE_STREAM_HASH_BITS	8

/* A stream is named by its index. */
#define RAIDTRACE_STREAM_NONE		RAIDTRACE_STREAMS_MAX

/* A stream that did not move for this time has ended. */
#define RAIDTRACE_STREAM_ALIVE_NS	1000000000ULL

/**
 * struct raidtrace_streams - ends of the last streams
 * @end: sector after the last one of each stream
 * @moved_ns: when each stream began or continued last; long ago for never
 * @forgotten: streams that were replaced while they were alive
 * @newer: the stream that moved next after it; the oldest for the newest
 * @older: the stream that moved next before it; the newest for the oldest
 * @next: the next stream whose end has the same hash
 * @first: by hash of an end, the first stream that has it
 * @continued: streams that were continued at least once
 * @nr: number of streams that are remembered
 * @newest: the stream that moved last
 */
struct raidtrace_streams {
	u64 end[RAIDTRACE_STREAMS_MAX];
	u64 moved_ns[RAIDTRACE_STREAMS_MAX];
	u64 forgotten;
	unsigned char newer[RAIDTRACE_STREAMS_MAX];
	unsigned char older[RAIDTRACE_STREAMS_MAX];
	unsigned char next[RAIDTRACE_STREAMS_MAX];
	unsigned char first[1 << RAIDTRACE_STREAM_HASH_BITS];
	bool continued[RAIDTRACE_STREAMS_MAX];
	unsigned int nr;
	unsigned int newest;
};

static inline unsigned int stream_hash(u64 sector)
{
	return (sector * 0x9e3779b97f4a7c15ULL) >> (64 - RAIDTRACE_STREAM_HASH_BITS);
}

/* Remove a stream from the chain of its end. */
static inline void stream_unchain(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned char *link = &streams->first[stream_hash(streams->end[stream])];

	while (*link != stream)
		link = &streams->next[*link];
	*link = streams->next[stream];
}

static inline void stream_chain(struct raidtrace_streams *streams, unsigned int stream, u64 end)
{
	unsigned char *first = &streams->first[stream_hash(end)];

	streams->end[stream] = end;
	streams->next[stream] = *first;
	*first = stream;
}

static inline void stream_renew(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned int newest = streams->newest;
	unsigned int oldest = streams->newer[newest];

	if (stream == newest)
		return;
	streams->newest = stream;
	if (stream == oldest)
		return;
	streams->newer[streams->older[stream]] = streams->newer[stream];
	streams->older[streams->newer[stream]] = streams->older[stream];
	streams->older[stream] = newest;
	streams->newer[stream] = oldest;
	streams->newer[newest] = stream;
	streams->older[oldest] = stream;
}

/* Whether a stream is alive. */
static inline bool stream_moved(const struct raidtrace_streams *streams, unsigned int stream,
				u64 now_ns)
{
	return (s64)(now_ns - streams->moved_ns[stream]) < (s64)RAIDTRACE_STREAM_ALIVE_NS;
}

/* Begin a stream in the place of the oldest. */
static __always_inline void stream_begin(struct raidtrace_streams *streams, u64 end, u64 now_ns)
{
	unsigned int stream = streams->newer[streams->newest];

	streams->forgotten += stream_moved(streams, stream, now_ns);
	stream_unchain(streams, stream);
	stream_chain(streams, stream, end);
	streams->newest = stream;
	streams->moved_ns[stream] = now_ns;
	streams->continued[stream] = false;
}

/* Whether a bio or request begins where a stream ended; @end is the sector behind it. */
static __always_inline bool raidtrace_streams_follow(struct raidtrace_streams *streams, u64 sector,
						     u64 end, u64 now_ns)
{
	unsigned int stream = streams->first[stream_hash(sector)];

	while (stream != RAIDTRACE_STREAM_NONE && streams->end[stream] != sector)
		stream = streams->next[stream];
	if (stream == RAIDTRACE_STREAM_NONE) {
		stream_begin(streams, end, now_ns);
		return false;
	}
	stream_unchain(streams, stream);
	stream_chain(streams, stream, end);
	stream_renew(streams, stream);
	streams->moved_ns[stream] = now_ns;
	streams->continued[stream] = true;
	return true;
}

/* Begin to remember @nr streams, 1 to RAIDTRACE_STREAMS_MAX. */
static inline void raidtrace_streams_start(struct raidtrace_streams *streams, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < sizeof(streams->first); i++)
		streams->first[i] = RAIDTRACE_STREAM_NONE;
	for (i = 0; i < nr; i++) {
		stream_chain(streams, i, ~(u64)i);
		streams->newer[i] = i + 1 < nr ? i + 1 : 0;
		streams->older[i] = i ? i - 1 : nr - 1;
		streams->moved_ns[i] = -RAIDTRACE_STREAM_ALIVE_NS;
	}
	streams->forgotten = 0;
	streams->nr = nr;
	streams->newest = nr - 1;
}

/* Number of streams that are alive and were continued. */
static inline unsigned int raidtrace_streams_alive(const struct raidtrace_streams *streams,
						   u64 now_ns)
{
	unsigned int i, alive = 0;

	for (i = 0; i < streams->nr; i++)
		alive += streams->continued[i] && stream_moved(streams, i, now_ns);
	return alive;
}

/* Number of directions of a request. */
#define RAIDTRACE_DIRECTIONS	RAIDTRACE_DIRECTION_ALL

/**
 * enum raidtrace_depth_set - requests whose depth has histograms
 * @RAIDTRACE_DEPTH_READ: reads in flight
 * @RAIDTRACE_DEPTH_WRITE: writes in flight
 * @RAIDTRACE_DEPTH_ALL: all requests in flight, passthrough too
 * @RAIDTRACE_DEPTH_SETS: number of sets
 */
enum raidtrace_depth_set {
	RAIDTRACE_DEPTH_READ,
	RAIDTRACE_DEPTH_WRITE,
	RAIDTRACE_DEPTH_ALL,
	RAIDTRACE_DEPTH_SETS,
};

/* Events that have a counter and no state: those with a direction, then the others. */
enum raidtrace_event_counter {
	RAIDTRACE_GOT,	/* counted only by raidctl import */
	RAIDTRACE_BACK_MERGES,
	RAIDTRACE_FRONT_MERGES,
	RAIDTRACE_REQUEST_MERGES,
	RAIDTRACE_SPLITS,
	RAIDTRACE_INSERTED,
	RAIDTRACE_QUEUE_COUNTERS,
	RAIDTRACE_PLUGS = RAIDTRACE_QUEUE_COUNTERS,
	RAIDTRACE_UNPLUGS_EXPLICIT,
	RAIDTRACE_UNPLUGS_SCHEDULE,
	RAIDTRACE_RA_SYNC_SECTORS,
	RAIDTRACE_RA_ASYNC_SECTORS,
	RAIDTRACE_EVENT_COUNTERS,
};

/* Counters of a direction, a disk, a class and a process, named as in the specification. */
struct raidtrace_flow {
	u64 queued;
	u64 bytes_queued;
	u64 ahead_queued;
	u64 bytes_ahead_queued;
	u64 sequential_queued;
	union {
		u64 seek_queued_sectors[2];
		struct {
			u64 seek_queued_forward_sectors;
			u64 seek_queued_backward_sectors;
		};
	};
	u64 stream_queued;
	u64 refused;
	u64 q2c_sum_ns;
	u64 q2c_unknown;
	u64 issued;
	u64 reissued;
	u64 bytes_issued;
	u64 sequential;
	union {
		u64 seek_sectors[2];
		struct {
			u64 seek_forward_sectors;
			u64 seek_backward_sectors;
		};
	};
	u64 stream;
	u64 i2d_sum_ns;
	u64 requeued;
	u64 requeued_unissued;
	u64 completed;
	u64 bytes_completed;
	u64 d2c_sum_ns;
	u64 partial;
	u64 errors;
	u64 unmatched;
	u64 unissued;
	u64 abandoned;
	union {
		u64 events[RAIDTRACE_QUEUE_COUNTERS];
		struct {
			u64 got;
			u64 back_merges;
			u64 front_merges;
			u64 request_merges;
			u64 splits;
			u64 inserted;
		};
	};
};

struct raidtrace_disk {
	union {
		u64 events[RAIDTRACE_EVENT_COUNTERS - RAIDTRACE_QUEUE_COUNTERS];
		struct {
			u64 plugs;
			u64 unplugs_explicit;
			u64 unplugs_schedule;
			u64 ra_sync_sectors;
			u64 ra_async_sectors;
		};
	};
	u64 held_ns;
	u64 backlog_ns;
	u64 waiting_sum_ns;
	u64 waiting_unknown;
};

struct raidtrace_origin {
	u64 queued;
	u64 bytes_queued;
	u64 seeks_queued;
	u64 issued;
	u64 bytes_issued;
};

/* Processes with a row each, and the row of all others. */
#define RAIDTRACE_SUBMITTERS		64
#define RAIDTRACE_SUBMITTER_REST	RAIDTRACE_SUBMITTERS
#define RAIDTRACE_SUBMITTER_ROWS	(RAIDTRACE_SUBMITTERS + 1)

struct raidtrace_submitted {
	u64 queued;
	u64 bytes_queued;
	u64 seeks_queued;
	u64 completed;
	u64 d2c_sum_ns;
};

/* Hardware queues with a row each, and the row of all higher numbers. */
#define RAIDTRACE_HWQ_ROWS	(RAIDTRACE_HWQ_REST + 1)

/**
 * struct raidtrace_hwq - counters of a hardware queue, in a cache line
 * @issued: requests
 * @completed_same_cpu: requests ended on the CPU that issued them
 * @completed_other_cpu: requests that ended on another CPU of the same node
 * @completed_other_node: requests that ended on another node
 * @returned: issues that were undone: requeued, or without an observed end
 * @carried: requests in flight at the last reset
 * @depth_sum_ns: nanoseconds times requests in flight
 * @depth_rises: by how much the highest depth exceeds @carried
 *
 * All of them only grow, so that accounts can be added.
 */
struct raidtrace_hwq {
	u64 issued;
	u64 completed_same_cpu;
	u64 completed_other_cpu;
	u64 completed_other_node;
	u64 returned;
	u64 carried;
	u64 depth_sum_ns;
	u64 depth_rises;
};

/**
 * struct raidtrace_account - counters of a disk; nothing but u64
 * @flow: per direction
 * @origin: per class
 * @submitted: per row of the table of processes
 * @size: requests issued, by sectors
 * @seek: reads and writes issued, by distance from the previous end
 * @seek_queued: reads and writes queued, by distance from the previous end
 * @d2c: requests completed, by nanoseconds since their issue
 * @i2d: requests issued, by nanoseconds since their insert
 * @q2c: pieces of bios completed, by nanoseconds since their bio was queued
 * @depth_time: nanoseconds at each depth, per &enum raidtrace_depth_set
 * @depth_issue: requests issued, by the depth of their set that they found
 * @depth_d2c: reads and writes completed, by the depth of all that their issue found and @d2c
 * @depth_d2c_ns: sum of @d2c of these requests by depth
 * @size_d2c: reads and writes completed, by the size of their issue
 * @size_d2c_ns: sum of their @d2c
 * @seek_d2c: reads and writes completed, by the distance of their issue from the previous end
 * @seek_d2c_ns: sum of their @d2c
 * @depth_sum_ns: nanoseconds times requests in flight, per &enum raidtrace_depth_set
 * @place: bytes of reads and writes issued, per part of the disk
 * @blame: seeks, by the classes of the requests before and after
 * @blame_distance: sectors of these seeks
 * @disk: events without a direction; time by what waits
 * @unplug: unplugs, by requests sent
 * @window: windows read ahead by sectors, for a missing and for a marked page
 * @hwq: per hardware queue
 */
struct raidtrace_account {
	struct raidtrace_flow flow[RAIDTRACE_DIRECTIONS];
	struct raidtrace_origin origin[RAIDTRACE_CLASSES];
	struct raidtrace_submitted submitted[RAIDTRACE_SUBMITTER_ROWS];
	u64 size[RAIDTRACE_DIRECTIONS][RAIDTRACE_SIZE_BINS];
	u64 seek[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SEEK_BINS];
	u64 seek_queued[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SEEK_BINS];
	u64 d2c[RAIDTRACE_DIRECTIONS][RAIDTRACE_D2C_BINS];
	u64 i2d[RAIDTRACE_DIRECTIONS][RAIDTRACE_D2C_BINS];
	u64 q2c[RAIDTRACE_DIRECTIONS][RAIDTRACE_D2C_BINS];
	u64 depth_time[RAIDTRACE_DEPTH_SETS][RAIDTRACE_DEPTH_BINS];
	u64 depth_issue[RAIDTRACE_DEPTH_SETS][RAIDTRACE_DEPTH_BINS];
	u64 depth_d2c[RAIDTRACE_DEPTH_ALL][RAIDTRACE_DEPTH_D2C_BINS];
	u64 depth_d2c_ns[RAIDTRACE_DEPTH_ALL][RAIDTRACE_DEPTH_ROWS];
	u64 size_d2c[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SIZE_ROWS];
	u64 size_d2c_ns[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SIZE_ROWS];
	u64 seek_d2c[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SEEK_ROWS];
	u64 seek_d2c_ns[RAIDTRACE_DEPTH_ALL][RAIDTRACE_SEEK_ROWS];
	u64 depth_sum_ns[RAIDTRACE_DEPTH_SETS];
	u64 place[RAIDTRACE_DEPTH_ALL][RAIDTRACE_PLACE_BINS];
	u64 blame[RAIDTRACE_BLAME_BINS];
	u64 blame_distance[RAIDTRACE_BLAME_BINS];
	struct raidtrace_disk disk;
	u64 unplug[RAIDTRACE_DEPTH_BINS];
	u64 window[2][RAIDTRACE_SIZE_BINS];
	struct raidtrace_hwq hwq[RAIDTRACE_HWQ_ROWS];
};

/*
 * Most counters do not change from one snapshot to the next: changes are noted for lots of a cache
 * line. The last lot of an account may be shorter.
 */
#define RAIDTRACE_LOT	8 /* is_zero() tests so many */
#define RAIDTRACE_LOTS \
	((sizeof(struct raidtrace_account) / sizeof(u64) + RAIDTRACE_LOT - 1) / RAIDTRACE_LOT)
#define RAIDTRACE_BLOCK	16 /* lots */
#define RAIDTRACE_BLOCKS ((RAIDTRACE_LOTS + RAIDTRACE_BLOCK - 1) / RAIDTRACE_BLOCK)

/**
 * struct raidtrace_changes - the snapshots in which counters changed last
 * @lot: number of the snapshot, per lot
 * @block: the highest of a block of lots; a reader skips blocks that did not change
 */
struct raidtrace_changes {
	u64 lot[RAIDTRACE_LOTS];
	u64 block[RAIDTRACE_BLOCKS];
};

/* Note that the lot of a counter changed in the snapshot @now, the last one so far. */
static inline void raidtrace_changes_note(struct raidtrace_changes *changes, unsigned int counter,
					  u64 now)
{
	changes->lot[counter / RAIDTRACE_LOT] = now;
	changes->block[counter / RAIDTRACE_LOT / RAIDTRACE_BLOCK] = now;
}

/* The first of the lots [@lot, @end) that changed since the snapshot @base; @end for none. */
static inline unsigned int raidtrace_changes_next(const struct raidtrace_changes *changes, u64 base,
						  unsigned int lot, unsigned int end)
{
	while (lot < end) {
		if (changes->block[lot / RAIDTRACE_BLOCK] <= base)
			lot = (lot / RAIDTRACE_BLOCK + 1) * RAIDTRACE_BLOCK;
		else if (changes->lot[lot] <= base)
			lot++;
		else
			return lot;
	}
	return end;
}

/**
 * struct raidtrace_place - how a disk is cut in RAIDTRACE_PLACE_BINS parts
 * @sectors: of each part, a multiple of 8; the last part may be shorter
 * @inverse: 2^64 / (@sectors / 8), rounded up
 */
struct raidtrace_place {
	u64 sectors;
	u64 inverse;
};

/**
 * struct raidtrace_position - where the bios, or the requests, of a disk are
 * @end_sector: end of the last one that has a position
 * @placed: @end_sector is known
 * @streams: the last streams
 */
struct raidtrace_position {
	u64 end_sector;
	bool placed;
	struct raidtrace_streams streams;
};

/**
 * struct raidtrace_bio - a bio that is queued
 * @direction: read, write ...
 * @class: purpose of the bio
 * @queued_ns: CLOCK_MONOTONIC
 * @sector: first sector
 * @bytes: length
 * @submitter: row of the process that queued it
 * @ahead: it reads ahead
 * @unplaced: the disk decides where it goes (zone append)
 */
struct raidtrace_bio {
	enum raidtrace_direction direction;
	enum raidtrace_class class;
	u64 queued_ns;
	u64 sector;
	u32 bytes;
	u32 submitter;
	bool ahead;
	bool unplaced;
};

/**
 * struct raidtrace_queue - state of a disk's queue
 * @groups: &enum raidtrace_group flags
 * @last_ns: time of the last event
 * @changed_ns: until when the time at the depth of a set is counted
 * @since_ns: attach or last reset
 * @position: of requests
 * @end_class: class of the last issued request that has a position
 * @in_flight: requests issued and not ended, per direction and of all
 * @in_flight_max: highest @in_flight since @since_ns
 * @carried: @in_flight at @since_ns
 *
 * The caller gives the events of a disk one after the other.
 */
struct raidtrace_queue {
	u32 groups;
	u64 last_ns;
	u64 changed_ns[RAIDTRACE_DEPTH_SETS];
	u64 since_ns;
	struct raidtrace_position position;
	enum raidtrace_class end_class;
	u32 in_flight[RAIDTRACE_DIRECTIONS + 1];
	u32 in_flight_max[RAIDTRACE_DIRECTIONS + 1];
	u32 carried[RAIDTRACE_DIRECTIONS];
};

/**
 * struct raidtrace_issue - a request that is issued
 * @direction: read, write ...
 * @class: of its bios; RAIDTRACE_CLASS_MIXED when they differ
 * @sector: first sector
 * @bytes: length
 * @place: part of the disk that @sector is in
 * @again: it was requeued; its first issue counted position, size and data
 * @unplaced: the disk decides where it goes
 */
struct raidtrace_issue {
	enum raidtrace_direction direction;
	enum raidtrace_class class;
	u64 sector;
	u32 bytes;
	u32 place;
	bool again;
	bool unplaced;
};

void raidtrace_position_start(struct raidtrace_position *position, unsigned int streams);
void raidtrace_queue_start(struct raidtrace_queue *state, u32 groups, unsigned int streams,
			   u64 now_ns);
void raidtrace_queue_advance(struct raidtrace_queue *state, struct raidtrace_account *account,
			     u64 now_ns);
void raidtrace_queue_reset(struct raidtrace_queue *state);

void raidtrace_count_event(struct raidtrace_account *account, enum raidtrace_direction direction,
			   enum raidtrace_event_counter counter, u32 amount);
void raidtrace_account_release(struct raidtrace_account *account, unsigned int row);
void raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part,
			    struct raidtrace_changes *changes, u64 now);

/**
 * struct raidtrace_counter - a u64 of a structure of counters
 * @attr: its attribute
 * @offset: in the structure
 * @group: its group
 * @event: event that it counts, which a kernel may lack; RAIDTRACE_EVENT_COUNTERS for none
 * @bios: bio-based disks have it
 */
struct raidtrace_counter {
	unsigned short attr;
	unsigned short offset;
	unsigned short group;
	unsigned char event;
	bool bios;
};

#define RAIDTRACE_COUNTER(set, attr_, type, member, group_, bios_, event_) \
	{ .attr = RAIDTRACE_A_##set##_##attr_, \
	  .offset = offsetof(struct raidtrace_##type, member), \
	  .group = RAIDTRACE_GROUP_##group_, .event = RAIDTRACE_##event_, .bios = bios_ }

#define RAIDTRACE_FLOW_COUNTERS	(sizeof(struct raidtrace_flow) / sizeof(u64))
#define RAIDTRACE_DISK_COUNTERS	(sizeof(struct raidtrace_disk) / sizeof(u64))
extern const struct raidtrace_counter raidtrace_flow_counters[RAIDTRACE_FLOW_COUNTERS];
extern const struct raidtrace_counter raidtrace_disk_counters[RAIDTRACE_DISK_COUNTERS];

/**
 * struct raidtrace_histogram - properties of a kind of histogram
 * @offset: of its first bin in an account, in counters
 * @bins: number of bins
 * @group: its group
 * @rows: the first directions that have one each
 * @all: all directions together have one, behind these
 * @bios: bio-based disks have it, too
 */
struct raidtrace_histogram {
	u32 offset;
	unsigned short bins;
	unsigned short group;
	unsigned char rows;
	bool all;
	bool bios;
};

#define RAIDTRACE_KINDS		(RAIDTRACE_HISTOGRAM_KIND_MAX + 1)
extern const struct raidtrace_histogram raidtrace_histograms[RAIDTRACE_KINDS];

unsigned int raidtrace_hist_bins(enum raidtrace_histogram_kind kind);
const u64 *raidtrace_account_bins(const struct raidtrace_account *account,
				  enum raidtrace_histogram_kind kind,
				  enum raidtrace_direction direction);

#endif /* RAIDTRACE_ACCOUNT_H */
