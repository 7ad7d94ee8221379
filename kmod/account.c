// SPDX-License-Identifier: GPL-2.0-only
/* What one event of a request changes: the state of the disk's queue and the counters. */
#include "account.h"

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

/* A flush has no place on the disk, and the one a passthrough command means is not known. */
static bool has_position(enum raidtrace_direction direction, u64 nr_sectors)
{
	return nr_sectors && direction != RAIDTRACE_DIRECTION_FLUSH &&
	       direction != RAIDTRACE_DIRECTION_PASSTHROUGH;
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
	change->now_ns = not_before_last(state, now_ns);
	change->placed = false;
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
 * @now_ns: CLOCK_MONOTONIC
 */
void raidtrace_queue_start(struct raidtrace_queue *state, u64 now_ns)
{
	enum raidtrace_depth_set set;

	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		state->changed_ns[set] = now_ns;
	state->since_ns = now_ns;
}

/**
 * raidtrace_queue_issue() - a request goes to the driver
 * @state: of its disk
 * @now_ns: CLOCK_MONOTONIC
 * @direction: of the request
 * @sector: where it begins
 * @nr_sectors: how long it is
 * @change: filled in; for raidtrace_account_issue()
 */
void raidtrace_queue_issue(struct raidtrace_queue *state, u64 now_ns,
			   enum raidtrace_direction direction, u64 sector, u64 nr_sectors,
			   struct raidtrace_change *change)
{
	begin(state, now_ns, direction, change);
	raise_depth(state, direction);
	raise_depth(state, RAIDTRACE_DIRECTION_ALL);
	if (!has_position(direction, nr_sectors))
		return;
	change->placed = state->placed;
	change->distance = (s64)(sector - state->end_sector);
	state->placed = true;
	state->end_sector = sector + nr_sectors;
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

	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		account->depth_time[set][raidtrace_depth_bin(settled->depth[set])] +=
			settled->spent_ns[set];
}

static void account_time(struct raidtrace_account *account, const struct raidtrace_change *change)
{
	if (change->own != RAIDTRACE_DEPTH_ALL)
		account->depth_time[change->own][raidtrace_depth_bin(change->depth.own)] +=
			change->spent_ns.own;
	account->depth_time[RAIDTRACE_DEPTH_ALL][raidtrace_depth_bin(change->depth.all)] +=
		change->spent_ns.all;
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

/**
 * raidtrace_account_issue() - count an issue
 * @account: to count in
 * @direction: of the request
 * @nr_sectors: size for the histogram of sizes
 * @bytes: size for the sum of bytes
 * @change: from raidtrace_queue_issue()
 */
void raidtrace_account_issue(struct raidtrace_account *account, enum raidtrace_direction direction,
			     u64 nr_sectors, u64 bytes, const struct raidtrace_change *change)
{
	struct raidtrace_flow *flow = &account->flow[direction];

	flow->issued++;
	flow->bytes_issued += bytes;
	account->size[direction][raidtrace_size_bin(nr_sectors)]++;
	if (change->placed)
		account_distance(account, direction, change->distance);
	if (change->own != RAIDTRACE_DEPTH_ALL)
		account->depth_issue[change->own][raidtrace_depth_bin(change->depth.own)]++;
	account->depth_issue[RAIDTRACE_DEPTH_ALL][raidtrace_depth_bin(change->depth.all)]++;
	account_time(account, change);
}

/**
 * raidtrace_account_complete() - count the last completion of a request
 * @account: to count in
 * @direction: of the request when it was issued
 * @bytes: completed by this event
 * @error: its status is not success
 * @issued_ns: &raidtrace_change.now_ns of its issue
 * @change: from raidtrace_queue_end()
 */
void raidtrace_account_complete(struct raidtrace_account *account,
				enum raidtrace_direction direction, u64 bytes, bool error,
				u64 issued_ns, const struct raidtrace_change *change)
{
	struct raidtrace_flow *flow = &account->flow[direction];
	u64 d2c_ns = change->now_ns - issued_ns;

	flow->completed++;
	flow->bytes_completed += bytes;
	flow->errors += error;
	flow->d2c_sum_ns += d2c_ns;
	account->d2c[direction][raidtrace_d2c_bin(d2c_ns)]++;
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

/**
 * raidtrace_account_bins() - bins of one histogram
 * @account: that holds it
 * @kind: what it counts
 * @direction: whose it is; RAIDTRACE_DIRECTION_ALL for the depth of all requests
 *
 * Return: raidtrace_hist_bins(@kind) counts, NULL when no such histogram is kept.
 */
const u64 *raidtrace_account_bins(const struct raidtrace_account *account,
				  enum raidtrace_histogram_kind kind,
				  enum raidtrace_direction direction)
{
	enum raidtrace_depth_set set = own_set(direction);
	bool depth = kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME ||
		     kind == RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE;

	if (depth ? direction != set_direction(set) : direction >= RAIDTRACE_DIRECTIONS)
		return NULL;
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
		return account->size[direction];
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
		return account->seek[direction];
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
		return account->depth_time[set];
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
		return account->depth_issue[set];
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
		return account->d2c[direction];
	default:
		return NULL;
	}
}
