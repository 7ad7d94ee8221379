// SPDX-License-Identifier: GPL-2.0-only
/* Beginning, settling and adding up. What each event changes is in the headers, inline. */
#include "account.h"
#include "account-request.h"

static enum raidtrace_direction set_direction(enum raidtrace_depth_set set)
{
	if (set == RAIDTRACE_DEPTH_READ)
		return RAIDTRACE_DIRECTION_READ;
	if (set == RAIDTRACE_DEPTH_WRITE)
		return RAIDTRACE_DIRECTION_WRITE;
	return RAIDTRACE_DIRECTION_ALL;
}

/**
 * raidtrace_arrival_start() - begin to follow the bios of a disk
 * @state: all zero
 * @groups: what to count, &enum raidtrace_group flags
 * @streams: how many streams to remember
 */
void raidtrace_arrival_start(struct raidtrace_arrival *state, u32 groups, unsigned int streams)
{
	state->groups = groups;
	raidtrace_streams_start(&state->streams, streams);
}

/**
 * raidtrace_arrival_reset() - begin anew
 * @state: of a disk
 */
void raidtrace_arrival_reset(struct raidtrace_arrival *state)
{
	state->placed = false;
	raidtrace_streams_start(&state->streams, state->streams.nr);
}

/**
 * raidtrace_queue_start() - begin to follow a queue, nothing in flight
 * @state: all zero
 * @groups: what to count, &enum raidtrace_group flags
 * @streams: how many streams to remember
 * @now_ns: CLOCK_MONOTONIC
 */
void raidtrace_queue_start(struct raidtrace_queue *state, u32 groups, unsigned int streams,
			   u64 now_ns)
{
	enum raidtrace_depth_set set;

	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		state->changed_ns[set] = now_ns;
	state->last_ns = now_ns;
	state->since_ns = now_ns;
	state->groups = groups;
	raidtrace_streams_start(&state->streams, streams);
}

/**
 * raidtrace_queue_settle() - bring the time spent at the present depths up to now
 * @state: of a disk
 * @now_ns: CLOCK_MONOTONIC
 * @settled: filled in; for raidtrace_account_settle()
 */
void raidtrace_queue_settle(struct raidtrace_queue *state, u64 now_ns,
			    struct raidtrace_settled *settled)
{
	enum raidtrace_depth_set set;

	settled->groups = state->groups;
	settled->now_ns = raidtrace_queue_time(state, now_ns);
	state->last_ns = settled->now_ns;
	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++) {
		settled->depth[set] = state->in_flight[set_direction(set)];
		settled->spent_ns[set] = settled->now_ns - state->changed_ns[set];
		state->changed_ns[set] = settled->now_ns;
	}
}

/**
 * raidtrace_queue_reset() - begin anew; what is in flight stays known
 * @state: of a disk, just settled
 */
void raidtrace_queue_reset(struct raidtrace_queue *state)
{
	unsigned int i;

	state->since_ns = state->last_ns;
	state->placed = false;
	raidtrace_streams_start(&state->streams, state->streams.nr);
	for (i = 0; i <= RAIDTRACE_DIRECTIONS; i++)
		state->in_flight_max[i] = state->in_flight[i];
	for (i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		state->carried[i] = state->in_flight[i];
}

/**
 * raidtrace_account_settle() - add the time spent at each depth until a moment
 * @account: to add to
 * @settled: from raidtrace_queue_settle()
 */
void raidtrace_account_settle(struct raidtrace_account *account,
			      const struct raidtrace_settled *settled)
{
	enum raidtrace_depth_set set;

	if (!(settled->groups & RAIDTRACE_GROUP_DEPTH))
		return;
	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		account->depth_time[set][raidtrace_depth_bin(settled->depth[set])] +=
			settled->spent_ns[set];
}

/**
 * raidtrace_account_add() - add one account to another
 * @sum: added to
 * @part: added
 */
void raidtrace_account_add(struct raidtrace_account *sum, const struct raidtrace_account *part)
{
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)part;
	unsigned int i;

	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}
