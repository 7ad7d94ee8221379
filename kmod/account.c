// SPDX-License-Identifier: GPL-2.0-only
/* What one event of a request changes: the state of the disk's queue and the counters. */
#include "account.h"
#include "account-position.h"

/* The set that a direction has for itself, that of all for none. */
static enum raidtrace_depth_set own_set(enum raidtrace_direction direction)
{
	if (direction == RAIDTRACE_DIRECTION_READ)
		return RAIDTRACE_DEPTH_READ;
	if (direction == RAIDTRACE_DIRECTION_WRITE)
		return RAIDTRACE_DEPTH_WRITE;
	return RAIDTRACE_DEPTH_ALL;
}

static enum raidtrace_direction set_direction(enum raidtrace_depth_set set)
{
	if (set == RAIDTRACE_DEPTH_READ)
		return RAIDTRACE_DIRECTION_READ;
	if (set == RAIDTRACE_DEPTH_WRITE)
		return RAIDTRACE_DIRECTION_WRITE;
	return RAIDTRACE_DIRECTION_ALL;
}

/*
 * The clock is read before the event's turn comes, so two events can come in
 * the other order than their times. The later one then counts as happening at
 * the time of the earlier: no time is lost or negative, sums stay exact.
 */
static u64 not_before_last(const struct raidtrace_queue *state, u64 now_ns)
{
	u64 last_ns = state->changed_ns[RAIDTRACE_DEPTH_ALL];

	return now_ns > last_ns ? now_ns : last_ns;
}

/* What one set spent at its depth until now; its time begins anew. */
static u64 spend(struct raidtrace_queue *state, enum raidtrace_depth_set set, u64 now_ns)
{
	u64 spent_ns = now_ns - state->changed_ns[set];

	state->changed_ns[set] = now_ns;
	return spent_ns;
}

/* The part that all events of a request have in common. */
static void begin(struct raidtrace_queue *state, u64 now_ns, enum raidtrace_direction direction,
		  struct raidtrace_change *change)
{
	change->groups = state->groups;
	change->now_ns = not_before_last(state, now_ns);
	change->placed = false;
	change->stream = false;
	change->own = own_set(direction);
	if (change->own != RAIDTRACE_DEPTH_ALL) {
		change->depth.own = state->in_flight[direction];
		change->spent_ns.own = spend(state, change->own, change->now_ns);
	}
	change->depth.all = state->in_flight[RAIDTRACE_DIRECTION_ALL];
	change->spent_ns.all = spend(state, RAIDTRACE_DEPTH_ALL, change->now_ns);
}

static void raise_depth(struct raidtrace_queue *state, enum raidtrace_direction direction)
{
	if (++state->in_flight[direction] > state->in_flight_max[direction])
		state->in_flight_max[direction] = state->in_flight[direction];
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
	state->since_ns = now_ns;
	state->groups = groups;
	raidtrace_streams_start(&state->streams, streams);
}

/**
 * raidtrace_queue_issue() - a request goes to the driver
 * @state: of its disk
 * @now_ns: CLOCK_MONOTONIC
 * @issue: the request
 * @change: filled in; for raidtrace_account_issue()
 */
void raidtrace_queue_issue(struct raidtrace_queue *state, u64 now_ns,
			   const struct raidtrace_issue *issue, struct raidtrace_change *change)
{
	u64 end;

	begin(state, now_ns, issue->direction, change);
	raise_depth(state, issue->direction);
	raise_depth(state, RAIDTRACE_DIRECTION_ALL);
	if (!has_position(issue->direction, issue->bytes))
		return;
	end = issue->sector + (issue->bytes >> SECTOR_BITS);
	change->placed = state->placed;
	change->distance = (s64)(issue->sector - state->end_sector);
	change->from = state->end_class;
	if (state->groups & RAIDTRACE_GROUP_STREAM)
		change->stream = raidtrace_streams_follow(&state->streams, issue->sector, end);
	state->placed = true;
	state->end_sector = end;
	state->end_class = issue->class;
}

/**
 * raidtrace_queue_end() - a request that was issued is in flight no more
 * @state: of its disk; has a request of @direction in flight
 * @now_ns: CLOCK_MONOTONIC
 * @direction: of the request, as it was when issued
 * @change: filled in; for raidtrace_account_complete(), _requeue() or _abandon()
 */
void raidtrace_queue_end(struct raidtrace_queue *state, u64 now_ns,
			 enum raidtrace_direction direction, struct raidtrace_change *change)
{
	begin(state, now_ns, direction, change);
	state->in_flight[direction]--;
	state->in_flight[RAIDTRACE_DIRECTION_ALL]--;
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
	settled->now_ns = not_before_last(state, now_ns);
	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++) {
		settled->depth[set] = state->in_flight[set_direction(set)];
		settled->spent_ns[set] = spend(state, set, settled->now_ns);
	}
}

/**
 * raidtrace_queue_reset() - begin anew; what is in flight stays known
 * @state: of a disk, just settled
 */
void raidtrace_queue_reset(struct raidtrace_queue *state)
{
	unsigned int i;

	state->since_ns = state->changed_ns[RAIDTRACE_DEPTH_ALL];
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

static void account_time(struct raidtrace_account *account, const struct raidtrace_change *change)
{
	if (!(change->groups & RAIDTRACE_GROUP_DEPTH))
		return;
	if (change->own != RAIDTRACE_DEPTH_ALL)
		account->depth_time[change->own][raidtrace_depth_bin(change->depth.own)] +=
			change->spent_ns.own;
	account->depth_time[RAIDTRACE_DEPTH_ALL][raidtrace_depth_bin(change->depth.all)] +=
		change->spent_ns.all;
}

static void account_depth(struct raidtrace_account *account, const struct raidtrace_change *change)
{
	if (!(change->groups & RAIDTRACE_GROUP_DEPTH))
		return;
	if (change->own != RAIDTRACE_DEPTH_ALL)
		account->depth_issue[change->own][raidtrace_depth_bin(change->depth.own)]++;
	account->depth_issue[RAIDTRACE_DEPTH_ALL][raidtrace_depth_bin(change->depth.all)]++;
}

static void account_distance(struct raidtrace_account *account, enum raidtrace_direction direction,
			     s64 distance)
{
	struct raidtrace_flow *flow = &account->flow[direction];

	account->seek[direction][raidtrace_seek_bin(distance)]++;
	if (!distance)
		flow->sequential++;
	else if (distance > 0)
		flow->seek_forward_sectors += distance;
	else
		flow->seek_backward_sectors += -(u64)distance;
}

/* Whose request it is, and when it is a seek from whose request to whose. */
static void account_class(struct raidtrace_account *account, const struct raidtrace_issue *issue,
			  const struct raidtrace_change *change)
{
	struct raidtrace_origin *origin = &account->origin[issue->class];
	bool seek = change->placed && change->distance;
	u64 sectors = seek ? distance_sectors(change->distance) : 0;

	if (change->groups & RAIDTRACE_GROUP_ORIGIN) {
		origin->issued++;
		origin->bytes_issued += issue->bytes;
		origin->seeks += seek;
		origin->seek_sectors += sectors;
	}
	if (seek && change->groups & RAIDTRACE_GROUP_BLAME) {
		unsigned int bin = change->from * RAIDTRACE_CLASSES + issue->class;

		account->blame[bin]++;
		account->blame_distance[bin] += sectors;
	}
}

/**
 * raidtrace_account_issue() - count an issue
 * @account: to count in
 * @issue: the request
 * @change: from raidtrace_queue_issue()
 */
void raidtrace_account_issue(struct raidtrace_account *account,
			     const struct raidtrace_issue *issue,
			     const struct raidtrace_change *change)
{
	enum raidtrace_direction direction = issue->direction;
	struct raidtrace_flow *flow = &account->flow[direction];
	u32 groups = change->groups;

	flow->issued++;
	flow->bytes_issued += issue->bytes;
	flow->stream += change->stream;
	/* Passthrough commands move any number of bytes; a part of a sector counts as one. */
	if (groups & RAIDTRACE_GROUP_SIZE)
		account->size[direction][raidtrace_size_bin(round_sectors(issue->bytes))]++;
	if (change->placed && groups & RAIDTRACE_GROUP_SEEK)
		account_distance(account, direction, change->distance);
	if (change->own != RAIDTRACE_DEPTH_ALL && groups & RAIDTRACE_GROUP_PLACE)
		account->place[change->own][issue->place] += issue->bytes;
	if (groups & (RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_BLAME))
		account_class(account, issue, change);
	account_depth(account, change);
	account_time(account, change);
}

/**
 * raidtrace_account_i2d() - count an issue of a request that was inserted before
 * @account: to count in
 * @direction: of the request
 * @i2d_ns: nanoseconds since the insert
 */
void raidtrace_account_i2d(struct raidtrace_account *account, enum raidtrace_direction direction,
			   u64 i2d_ns)
{
	account->flow[direction].i2d_sum_ns += i2d_ns;
	account->i2d[direction][raidtrace_d2c_bin(i2d_ns)]++;
}

/**
 * raidtrace_account_complete() - count the last completion of a request
 * @account: to count in
 * @direction: of the request when it was issued
 * @bytes: completed by this event
 * @error: its status is not success
 * @d2c_ns: nanoseconds since its issue
 * @depth_row: raidtrace_depth_row() of the depth of all that its issue found
 * @change: from raidtrace_queue_end()
 */
void raidtrace_account_complete(struct raidtrace_account *account,
				enum raidtrace_direction direction, u64 bytes, bool error,
				u64 d2c_ns, unsigned int depth_row,
				const struct raidtrace_change *change)
{
	struct raidtrace_flow *flow = &account->flow[direction];

	flow->completed++;
	flow->bytes_completed += bytes;
	flow->errors += error;
	flow->d2c_sum_ns += d2c_ns;
	if (change->groups & RAIDTRACE_GROUP_LATENCY) {
		account->d2c[direction][raidtrace_d2c_bin(d2c_ns)]++;
		if (change->own != RAIDTRACE_DEPTH_ALL)
			account->depth_d2c[change->own][depth_row * RAIDTRACE_D2C_COLUMNS +
							raidtrace_d2c_column(d2c_ns)]++;
	}
	account_time(account, change);
}

/**
 * raidtrace_account_requeue() - count an issue undone
 * @account: to count in
 * @direction: of the request when it was issued
 * @change: from raidtrace_queue_end()
 */
void raidtrace_account_requeue(struct raidtrace_account *account,
			       enum raidtrace_direction direction,
			       const struct raidtrace_change *change)
{
	account->flow[direction].requeued++;
	account_time(account, change);
}

/**
 * raidtrace_account_abandon() - count an issue whose end was never seen
 * @account: to count in
 * @direction: of the request when it was issued
 * @change: from raidtrace_queue_end()
 */
void raidtrace_account_abandon(struct raidtrace_account *account,
			       enum raidtrace_direction direction,
			       const struct raidtrace_change *change)
{
	account->flow[direction].abandoned++;
	account_time(account, change);
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

