/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one event of a request changes: the state of the disk's queue and the
 * counters. Documentation/counters.rst says in words when each one moves.
 *
 * Plain C: the kernel module, raidctl and the tests compile this one file.
 * Nothing here locks or reads a clock; the caller does.
 */
#ifndef RAIDTRACE_ACCOUNT_H
#define RAIDTRACE_ACCOUNT_H

#include "histogram.h"

/* Directions a request can have; RAIDTRACE_DIRECTION_ALL is none. */
#define RAIDTRACE_DIRECTIONS	RAIDTRACE_DIRECTION_ALL

/**
 * enum raidtrace_depth_set - requests whose depth is followed in a histogram
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

/**
 * enum raidtrace_queue_counter - events before a request is issued
 * @RAIDTRACE_QUEUED: bios queued
 * @RAIDTRACE_BYTES_QUEUED: their bytes
 * @RAIDTRACE_GOT: requests allocated
 * @RAIDTRACE_BACK_MERGES: bios merged at the end of a request
 * @RAIDTRACE_FRONT_MERGES: bios merged in front of a request
 * @RAIDTRACE_REQUEST_MERGES: requests merged into another
 * @RAIDTRACE_SPLITS: bios cut in two
 * @RAIDTRACE_INSERTED: requests inserted
 * @RAIDTRACE_QUEUE_COUNTERS: number of counters
 */
enum raidtrace_queue_counter {
	RAIDTRACE_QUEUED,
	RAIDTRACE_BYTES_QUEUED,
	RAIDTRACE_GOT,
	RAIDTRACE_BACK_MERGES,
	RAIDTRACE_FRONT_MERGES,
	RAIDTRACE_REQUEST_MERGES,
	RAIDTRACE_SPLITS,
	RAIDTRACE_INSERTED,
	RAIDTRACE_QUEUE_COUNTERS,
};

/**
 * struct raidtrace_flow - requests of one direction from issue to completion
 * @issued: issues; a request that is issued again after a requeue counts again
 * @bytes_issued: bytes of @issued
 * @sequential: issues that begin at the sector where the previous one ended
 * @seek_forward_sectors: sum of the distances beyond the previous end
 * @seek_backward_sectors: sum of the distances before the previous end
 * @requeued: issues undone by a requeue
 * @requeued_unissued: requeues of a request whose issue was not counted
 * @completed: last completions of requests whose issue was counted
 * @bytes_completed: bytes of @completed and @partial
 * @d2c_sum_ns: nanoseconds from issue to last completion, sum over @completed
 * @partial: completions that left a part of the request
 * @errors: completions of any kind with a status other than success
 * @unmatched: last completions of requests whose issue was not counted
 * @unissued: ends of requests that never were issued
 * @abandoned: issues followed by neither a completion nor a requeue
 */
struct raidtrace_flow {
	u64 issued;
	u64 bytes_issued;
	u64 sequential;
	u64 seek_forward_sectors;
	u64 seek_backward_sectors;
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
};

/**
 * struct raidtrace_account - what events add up to; nothing but u64 counters
 * @flow: per direction
 * @size: issues by sectors
 * @seek: issues by distance from the previous end
 * @d2c: completions by nanoseconds since their issue
 * @depth_time: nanoseconds at each depth, per &enum raidtrace_depth_set
 * @depth_issue: issues by the depth of their set that they found
 */
struct raidtrace_account {
	struct raidtrace_flow flow[RAIDTRACE_DIRECTIONS];
	u64 size[RAIDTRACE_DIRECTIONS][RAIDTRACE_SIZE_BINS];
	u64 seek[RAIDTRACE_DIRECTIONS][RAIDTRACE_SEEK_BINS];
	u64 d2c[RAIDTRACE_DIRECTIONS][RAIDTRACE_D2C_BINS];
	u64 depth_time[RAIDTRACE_DEPTH_SETS][RAIDTRACE_DEPTH_BINS];
	u64 depth_issue[RAIDTRACE_DEPTH_SETS][RAIDTRACE_DEPTH_BINS];
};

/**
 * struct raidtrace_queue - where a disk's queue stands
 * @changed_ns: when the depth of a set last changed; of RAIDTRACE_DEPTH_ALL
 *	the time of the last event, since every one changes it
 * @since_ns: beginning of counting, attach or last reset
 * @end_sector: end of the request issued last that has a position
 * @placed: @end_sector is known
 * @in_flight: issued and not yet ended, per direction and for all
 * @in_flight_max: highest @in_flight since @since_ns
 * @carried: @in_flight at @since_ns
 *
 * Events of one disk must reach its state one after the other.
 */
struct raidtrace_queue {
	u64 changed_ns[RAIDTRACE_DEPTH_SETS];
	u64 since_ns;
	u64 end_sector;
	bool placed;
	u32 in_flight[RAIDTRACE_DIRECTIONS + 1];
	u32 in_flight_max[RAIDTRACE_DIRECTIONS + 1];
	u32 carried[RAIDTRACE_DIRECTIONS];
};

/**
 * struct raidtrace_change - what an event found in the state and left there
 * @now_ns: time of the event, never before that of the one before it
 * @distance: sectors from the previous end, when @placed
 * @placed: the request has a position and so had one before it
 * @own: the set that the request's direction has for itself;
 *	RAIDTRACE_DEPTH_ALL for none
 * @depth: depth of @own and of all before the event
 * @spent_ns: time that @own and all spent at @depth until the event
 */
struct raidtrace_change {
	u64 now_ns;
	s64 distance;
	bool placed;
	enum raidtrace_depth_set own;
	struct {
		u32 own;
		u32 all;
	} depth;
	struct {
		u64 own;
		u64 all;
	} spent_ns;
};

/**
 * struct raidtrace_settled - time that each set spent at its depth until a moment
 * @now_ns: that moment
 * @depth: of each set
 * @spent_ns: since it had that depth, or was settled last
 */
struct raidtrace_settled {
	u64 now_ns;
	u32 depth[RAIDTRACE_DEPTH_SETS];
	u64 spent_ns[RAIDTRACE_DEPTH_SETS];
};

void raidtrace_queue_start(struct raidtrace_queue *state, u64 now_ns);
void raidtrace_queue_issue(struct raidtrace_queue *state, u64 now_ns,
			   enum raidtrace_direction direction, u64 sector, u64 nr_sectors,
			   struct raidtrace_change *change);
void raidtrace_queue_end(struct raidtrace_queue *state, u64 now_ns,
			 enum raidtrace_direction direction, struct raidtrace_change *change);
void raidtrace_queue_settle(struct raidtrace_queue *state, u64 now_ns,
			    struct raidtrace_settled *settled);
void raidtrace_queue_reset(struct raidtrace_queue *state);

void raidtrace_account_issue(struct raidtrace_account *account, enum raidtrace_direction direction,
			     u64 nr_sectors, u64 bytes, const struct raidtrace_change *change);
void raidtrace_account_complete(struct raidtrace_account *account,
				enum raidtrace_direction direction, u64 bytes, bool error,
				u64 issued_ns, const struct raidtrace_change *change);
void raidtrace_account_requeue(struct raidtrace_account *account,
			       enum raidtrace_direction direction,
			       const struct raidtrace_change *change);
void raidtrace_account_abandon(struct raidtrace_account *account,
			       enum raidtrace_direction direction,
			       const struct raidtrace_change *change);
void raidtrace_account_settle(struct raidtrace_account *account,
			      const struct raidtrace_settled *settled);
void raidtrace_account_add(struct raidtrace_account *sum, const struct raidtrace_account *part);
const u64 *raidtrace_account_bins(const struct raidtrace_account *account,
				  enum raidtrace_histogram_kind kind,
				  enum raidtrace_direction direction);

#endif /* RAIDTRACE_ACCOUNT_H */
