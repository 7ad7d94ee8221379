/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count the events of bios and requests. Inline, so that a group that is off costs no call and
 * no memory access.
 *
 * Times are CLOCK_MONOTONIC after raidtrace_queue_time(). Events of a disk come one after the
 * other.
 */
#ifndef RAIDTRACE_ACCOUNT_EVENTS_H
#define RAIDTRACE_ACCOUNT_EVENTS_H

#include "account.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#endif

/* A sector is 2^9 bytes. */
#define SECTOR_BITS 9

/* Parts are multiples of 8 sectors: products stay exact up to 256 TiB. */
#define PLACE_BITS 3

/* (a * b) / 2^64 */
static inline u64 multiply_high(u64 a, u64 b)
{
#ifdef __KERNEL__
	return mul_u64_u64_shr(a, b, 64);
#else
	return (u64)(((__uint128_t)a * b) >> 64);
#endif
}

static inline u64 divide(u64 a, u64 b)
{
#ifdef __KERNEL__
	return div64_u64(a, b);
#else
	return a / b;
#endif
}

/* Divide a disk of this capacity into parts. */
static inline void raidtrace_place_set(struct raidtrace_place *place, u64 capacity_sectors)
{
	u64 units = (capacity_sectors >> PLACE_BITS) / RAIDTRACE_PLACE_BINS + 1;

	/* The inverse of 1 does not fit. */
	if (units < 2)
		units = 2;
	place->sectors = units << PLACE_BITS;
	place->inverse = divide(~0ULL, units) + 1;
}

/* The part of a disk that contains a sector; the last part for a sector beyond the end. */
static inline u32 raidtrace_place_bin(const struct raidtrace_place *place, u64 sector)
{
	u64 bin = multiply_high(sector >> PLACE_BITS, place->inverse);

	return bin < RAIDTRACE_PLACE_BINS ? bin : RAIDTRACE_PLACE_BINS - 1;
}

/* Only reads and writes of data have a position. */
static inline bool has_position(enum raidtrace_direction direction, u32 bytes)
{
	return bytes >> SECTOR_BITS && direction <= RAIDTRACE_DIRECTION_WRITE;
}

/* Bytes in sectors, rounded up. */
static inline u64 round_sectors(u32 bytes)
{
	return ((u64)bytes + (1 << SECTOR_BITS) - 1) >> SECTOR_BITS;
}

static inline u64 distance_sectors(s64 distance)
{
	return distance < 0 ? -(u64)distance : (u64)distance;
}

/**
 * struct raidtrace_moves - counters of the positions of bios, or of requests, of a direction
 * @bins: distances
 * @sequential: number with distance 0
 * @sectors: sums of distances forward and backward
 * @stream: number in streams
 */
struct raidtrace_moves {
	u64 *bins;
	u64 *sequential;
	u64 *sectors;
	u64 *stream;
};

/* Count a position. Returns the bin of its distance from the previous end. */
static __always_inline unsigned int account_position(struct raidtrace_position *position,
						     const struct raidtrace_moves *moves,
						     u32 groups, u64 now_ns, u64 sector, u32 bytes)
{
	u64 end = sector + (bytes >> SECTOR_BITS);
	s64 distance = sector - position->end_sector;
	unsigned int bin = RAIDTRACE_SEEK_NONE;

	if (groups & RAIDTRACE_GROUP_STREAM)
		*moves->stream += raidtrace_streams_follow(&position->streams, sector, end, now_ns);
	if (position->placed) {
		bin = raidtrace_seek_bin(distance);
		if (groups & RAIDTRACE_GROUP_SEEK) {
			moves->bins[bin]++;
			if (!distance)
				++*moves->sequential;
			else if (distance > 0)
				moves->sectors[0] += distance;
			else
				moves->sectors[1] -= distance;
		}
	}
	position->placed = true;
	position->end_sector = end;
	return bin;
}

static inline bool is_seek(unsigned int bin)
{
	return bin != RAIDTRACE_SEEK_ZERO && bin != RAIDTRACE_SEEK_NONE;
}

/* Count a bio for its class and its process. */
static __always_inline void account_owner(struct raidtrace_account *account, u32 groups,
					  const struct raidtrace_bio *bio, bool seek)
{
	if (groups & RAIDTRACE_GROUP_ORIGIN) {
		struct raidtrace_origin *origin = &account->origin[bio->class];

		origin->queued++;
		origin->bytes_queued += bio->bytes;
		origin->seeks_queued += seek;
	}
	if (groups & RAIDTRACE_GROUP_SUBMITTER) {
		struct raidtrace_submitted *submitted = &account->submitted[bio->submitter];

		submitted->queued++;
		submitted->bytes_queued += bio->bytes;
		submitted->seeks_queued += seek;
	}
}

/* Count a bio that is queued. */
static __always_inline void raidtrace_count_bio(struct raidtrace_position *position,
						struct raidtrace_account *account, u32 groups,
						const struct raidtrace_bio *bio)
{
	struct raidtrace_flow *flow = &account->flow[bio->direction];
	bool seek = false;

	flow->queued++;
	flow->bytes_queued += bio->bytes;
	if (bio->ahead && groups & RAIDTRACE_GROUP_READAHEAD) {
		flow->ahead_queued++;
		flow->bytes_ahead_queued += bio->bytes;
	}
	if (has_position(bio->direction, bio->bytes) && !bio->unplaced) {
		const struct raidtrace_moves moves = {
			account->seek_queued[bio->direction], &flow->sequential_queued,
			flow->seek_queued_sectors, &flow->stream_queued,
		};

		seek = is_seek(account_position(position, &moves, groups, bio->queued_ns,
						bio->sector, bio->bytes));
	}
	account_owner(account, groups, bio, seek);
}

/* Count a piece of a bio that completes @q2c_ns after its bio was queued. */
static __always_inline void raidtrace_count_q2c(struct raidtrace_account *account,
						enum raidtrace_direction direction, u64 q2c_ns)
{
	account->flow[direction].q2c_sum_ns += q2c_ns;
	account->q2c[direction][raidtrace_d2c_bin(q2c_ns)]++;
}

/*
 * The time at which an event counts, which is the time of the last event from now on. Handlers read
 * the clock before the event is in order, so two events can arrive against their times. The later
 * one then counts at the time of the earlier: no time is lost or negative.
 */
static inline u64 raidtrace_queue_time(struct raidtrace_queue *state, u64 now_ns)
{
	if (now_ns < state->last_ns)
		now_ns = state->last_ns;
	state->last_ns = now_ns;
	return now_ns;
}

/* Count the time that a set spent at the depth that it leaves now. */
static __always_inline void account_time(struct raidtrace_queue *state,
					 struct raidtrace_account *account, unsigned int set,
					 u32 depth, u64 now_ns)
{
	u64 spent_ns = now_ns - state->changed_ns[set];

	account->depth_time[set][raidtrace_depth_bin(depth)] += spent_ns;
	account->depth_sum_ns[set] += depth * spent_ns;
	state->changed_ns[set] = now_ns;
}

/* Reads and writes each have their own set, with the same number. */
static __always_inline bool has_own_set(enum raidtrace_direction direction)
{
	return direction <= RAIDTRACE_DIRECTION_WRITE;
}

static __always_inline void raise_depth(struct raidtrace_queue *state,
					enum raidtrace_direction direction)
{
	u32 depth = ++state->in_flight[direction];

	if (depth > state->in_flight_max[direction])
		state->in_flight_max[direction] = depth;
}

/* A request is in flight from now on. The counted depths do not include it. */
static __always_inline void enter_flight(struct raidtrace_queue *state,
					 struct raidtrace_account *account, u32 groups,
					 u64 now_ns, enum raidtrace_direction direction)
{
	u32 own = state->in_flight[direction], all = state->in_flight[RAIDTRACE_DIRECTION_ALL];

	if (groups & RAIDTRACE_GROUP_DEPTH) {
		if (has_own_set(direction)) {
			account->depth_issue[direction][raidtrace_depth_bin(own)]++;
			account_time(state, account, direction, own, now_ns);
		}
		account->depth_issue[RAIDTRACE_DEPTH_ALL][raidtrace_depth_bin(all)]++;
		account_time(state, account, RAIDTRACE_DEPTH_ALL, all, now_ns);
	}
	raise_depth(state, direction);
	raise_depth(state, RAIDTRACE_DIRECTION_ALL);
}

/* A request of this direction leaves flight. */
static __always_inline void leave_flight(struct raidtrace_queue *state,
					 struct raidtrace_account *account, u32 groups,
					 u64 now_ns, enum raidtrace_direction direction)
{
	u32 own = state->in_flight[direction]--;
	u32 all = state->in_flight[RAIDTRACE_DIRECTION_ALL]--;

	if (!(groups & RAIDTRACE_GROUP_DEPTH))
		return;
	if (has_own_set(direction))
		account_time(state, account, direction, own, now_ns);
	account_time(state, account, RAIDTRACE_DEPTH_ALL, all, now_ns);
}

/*
 * Count the position of a request, and a seek by the classes before and after it. Returns the bin of
 * its distance.
 */
static __always_inline unsigned int account_move(struct raidtrace_queue *state,
						 struct raidtrace_account *account, u32 groups,
						 u64 now_ns, const struct raidtrace_issue *issue)
{
	struct raidtrace_flow *flow = &account->flow[issue->direction];
	const struct raidtrace_moves moves = {
		account->seek[issue->direction], &flow->sequential, flow->seek_sectors,
		&flow->stream,
	};
	s64 distance = issue->sector - state->position.end_sector;
	unsigned int bin = account_position(&state->position, &moves, groups, now_ns, issue->sector,
					    issue->bytes);

	if (groups & RAIDTRACE_GROUPS_CLASSES && is_seek(bin)) {
		unsigned int blame = state->end_class * RAIDTRACE_CLASSES + issue->class;

		account->blame[blame]++;
		account->blame_distance[blame] += distance_sectors(distance);
	}
	state->end_class = issue->class;
	return bin;
}

/* Count bytes of an issue, those that no earlier issue of the request had. */
static __always_inline void raidtrace_count_bytes(struct raidtrace_account *account, u32 groups,
						  const struct raidtrace_issue *issue, u32 bytes)
{
	account->flow[issue->direction].bytes_issued += bytes;
	if (groups & RAIDTRACE_GROUP_PLACE && has_own_set(issue->direction))
		account->place[issue->direction][issue->place] += bytes;
	if (groups & RAIDTRACE_GROUP_ORIGIN)
		account->origin[issue->class].bytes_issued += bytes;
}

/* Count a request that is issued to the driver. Returns the bin of its distance. */
static __always_inline u32 raidtrace_count_issue(struct raidtrace_queue *state,
						 struct raidtrace_account *account, u32 groups,
						 u64 now_ns, const struct raidtrace_issue *issue)
{
	enum raidtrace_direction direction = issue->direction;
	struct raidtrace_flow *flow = &account->flow[direction];

	flow->issued++;
	enter_flight(state, account, groups, now_ns, direction);
	if (issue->again) {
		flow->reissued++;
		return RAIDTRACE_SEEK_NONE;
	}
	raidtrace_count_bytes(account, groups, issue, issue->bytes);
	/* Passthrough commands move any number of bytes: a part of a sector counts as one. */
	if (groups & RAIDTRACE_GROUP_SIZE)
		account->size[direction][raidtrace_size_bin(round_sectors(issue->bytes))]++;
	if (groups & RAIDTRACE_GROUP_ORIGIN)
		account->origin[issue->class].issued++;
	if (has_position(direction, issue->bytes) && !issue->unplaced)
		return account_move(state, account, groups, now_ns, issue);
	return RAIDTRACE_SEEK_NONE;
}

/* Count a request that is issued @i2d_ns after its insert. */
static __always_inline void raidtrace_count_i2d(struct raidtrace_account *account,
						enum raidtrace_direction direction, u64 i2d_ns)
{
	account->flow[direction].i2d_sum_ns += i2d_ns;
	account->i2d[direction][raidtrace_d2c_bin(i2d_ns)]++;
}

/**
 * struct raidtrace_completion - the last completion of a request that was issued
 * @direction: of the issue
 * @bytes: completed by this event
 * @error: its status is not success
 * @d2c_ns: nanoseconds since its issue
 * @depth_row: raidtrace_depth_row() of the depth of all that its issue found
 * @size_row: raidtrace_size_row() of its issue
 * @seek_row: raidtrace_seek_row() of its issue, or RAIDTRACE_SEEK_ROW_NONE
 * @submitter: row of the process that queued its first bio
 */
struct raidtrace_completion {
	enum raidtrace_direction direction;
	u32 bytes;
	bool error;
	u64 d2c_ns;
	u32 depth_row;
	u32 size_row;
	u32 seek_row;
	u32 submitter;
};

/* Count a read or write that ends, by what its issue was like. @bin: of d2c. */
static __always_inline void account_d2c(struct raidtrace_account *account,
					const struct raidtrace_completion *completion, unsigned int bin)
{
	enum raidtrace_direction direction = completion->direction;
	u64 d2c_ns = completion->d2c_ns;

	account->depth_d2c[direction][completion->depth_row * RAIDTRACE_D2C_COLUMNS +
				      raidtrace_d2c_column(bin)]++;
	account->depth_d2c_ns[direction][completion->depth_row] += d2c_ns;
	account->size_d2c[direction][completion->size_row]++;
	account->size_d2c_ns[direction][completion->size_row] += d2c_ns;
	if (completion->seek_row != RAIDTRACE_SEEK_ROW_NONE) {
		account->seek_d2c[direction][completion->seek_row]++;
		account->seek_d2c_ns[direction][completion->seek_row] += d2c_ns;
	}
}

/* Count a request that ends. One of its direction is in flight. */
static __always_inline void
raidtrace_count_completion(struct raidtrace_queue *state, struct raidtrace_account *account,
			   u32 groups, u64 now_ns, const struct raidtrace_completion *completion)
{
	enum raidtrace_direction direction = completion->direction;
	struct raidtrace_flow *flow = &account->flow[direction];
	u64 d2c_ns = completion->d2c_ns;

	flow->completed++;
	flow->bytes_completed += completion->bytes;
	if (completion->error)
		flow->errors++;
	flow->d2c_sum_ns += d2c_ns;
	if (groups & RAIDTRACE_GROUP_LATENCY) {
		unsigned int bin = raidtrace_d2c_bin(d2c_ns);

		account->d2c[direction][bin]++;
		if (has_own_set(direction))
			account_d2c(account, completion, bin);
	}
	if (groups & RAIDTRACE_GROUP_SUBMITTER) {
		account->submitted[completion->submitter].completed++;
		account->submitted[completion->submitter].d2c_sum_ns += d2c_ns;
	}
	leave_flight(state, account, groups, now_ns, direction);
}

/* Count an issue that is undone. A request of its direction is in flight. */
static inline void raidtrace_count_requeue(struct raidtrace_queue *state,
					   struct raidtrace_account *account, u64 now_ns,
					   enum raidtrace_direction direction)
{
	account->flow[direction].requeued++;
	leave_flight(state, account, state->groups, now_ns, direction);
}

/* Count a request without an observed end. One of its direction is in flight. */
static inline void raidtrace_count_abandon(struct raidtrace_queue *state,
					   struct raidtrace_account *account, u64 now_ns,
					   enum raidtrace_direction direction)
{
	account->flow[direction].abandoned++;
	leave_flight(state, account, state->groups, now_ns, direction);
}

#endif /* RAIDTRACE_ACCOUNT_EVENTS_H */
