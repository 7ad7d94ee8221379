// SPDX-License-Identifier: GPL-2.0-only
/* What a bio changes when it is queued and when it completes, and where on the disk it is. */
#include "account.h"
#include "account-position.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#endif

/* Parts are cut at multiples of 8 sectors, so that products stay exact up to 256 TiB. */
#define PLACE_BITS 3

/* (a * b) / 2^64 */
static u64 multiply_high(u64 a, u64 b)
{
#ifdef __KERNEL__
	return mul_u64_u64_shr(a, b, 64);
#else
	return (u64)(((__uint128_t)a * b) >> 64);
#endif
}

static u64 divide(u64 a, u64 b)
{
#ifdef __KERNEL__
	return div64_u64(a, b);
#else
	return a / b;
#endif
}

/**
 * raidtrace_place_set() - cut a disk in parts
 * @place: filled in
 * @capacity_sectors: size of the disk
 */
void raidtrace_place_set(struct raidtrace_place *place, u64 capacity_sectors)
{
	u64 units = (capacity_sectors >> PLACE_BITS) / RAIDTRACE_PLACE_BINS + 1;

	/* The inverse of 1 does not fit. */
	if (units < 2)
		units = 2;
	place->sectors = units << PLACE_BITS;
	place->inverse = divide(~0ULL, units) + 1;
}

/**
 * raidtrace_place_bin() - part of the disk that a sector lies in
 * @place: how the disk is cut
 * @sector: the sector
 *
 * Return: index of the part; the last for a sector beyond the end.
 */
u32 raidtrace_place_bin(const struct raidtrace_place *place, u64 sector)
{
	u64 bin = multiply_high(sector >> PLACE_BITS, place->inverse);

	return bin < RAIDTRACE_PLACE_BINS ? bin : RAIDTRACE_PLACE_BINS - 1;
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
 * raidtrace_arrival_bio() - a bio is queued
 * @state: of its disk
 * @bio: the bio
 * @step: filled in; for raidtrace_account_bio()
 */
void raidtrace_arrival_bio(struct raidtrace_arrival *state, const struct raidtrace_bio *bio,
			   struct raidtrace_step *step)
{
	u64 end = bio->sector + (bio->bytes >> SECTOR_BITS);

	step->groups = state->groups;
	step->placed = false;
	step->stream = false;
	if (!has_position(bio->direction, bio->bytes))
		return;
	step->placed = state->placed;
	step->distance = (s64)(bio->sector - state->end_sector);
	if (state->groups & RAIDTRACE_GROUP_STREAM)
		step->stream = raidtrace_streams_follow(&state->streams, bio->sector, end);
	state->placed = true;
	state->end_sector = end;
}

static void account_distance(struct raidtrace_account *account, enum raidtrace_direction direction,
			     s64 distance)
{
	struct raidtrace_flow *flow = &account->flow[direction];

	account->seek_queued[direction][raidtrace_seek_bin(distance)]++;
	if (!distance)
		flow->sequential_queued++;
	else if (distance > 0)
		flow->seek_queued_forward_sectors += distance;
	else
		flow->seek_queued_backward_sectors += -(u64)distance;
}

/* Whose bio it is: of which class, of which process. */
static void account_owner(struct raidtrace_account *account, const struct raidtrace_bio *bio,
			  const struct raidtrace_step *step)
{
	bool seek = step->placed && step->distance;

	if (step->groups & RAIDTRACE_GROUP_ORIGIN) {
		struct raidtrace_origin *origin = &account->origin[bio->class];

		origin->queued++;
		origin->bytes_queued += bio->bytes;
		origin->seeks_queued += seek;
	}
	if (step->groups & RAIDTRACE_GROUP_SUBMITTER) {
		struct raidtrace_submitted *submitted = &account->submitted[bio->submitter];

		submitted->queued++;
		submitted->bytes_queued += bio->bytes;
		submitted->seeks_queued += seek;
	}
}

/**
 * raidtrace_account_bio() - count a bio that is queued
 * @account: to count in
 * @bio: the bio
 * @step: from raidtrace_arrival_bio()
 */
void raidtrace_account_bio(struct raidtrace_account *account, const struct raidtrace_bio *bio,
			   const struct raidtrace_step *step)
{
	struct raidtrace_flow *flow = &account->flow[bio->direction];

	flow->queued++;
	flow->bytes_queued += bio->bytes;
	flow->stream_queued += step->stream;
	if (bio->ahead && step->groups & RAIDTRACE_GROUP_READAHEAD) {
		flow->ahead_queued++;
		flow->bytes_ahead_queued += bio->bytes;
	}
	if (step->placed && step->groups & RAIDTRACE_GROUP_SEEK)
		account_distance(account, bio->direction, step->distance);
	if (step->groups & (RAIDTRACE_GROUP_ORIGIN | RAIDTRACE_GROUP_SUBMITTER))
		account_owner(account, bio, step);
}

/**
 * raidtrace_account_q2c() - count a piece of a bio that completed
 * @account: to count in
 * @direction: of the bio
 * @q2c_ns: nanoseconds since the bio was queued
 */
void raidtrace_account_q2c(struct raidtrace_account *account, enum raidtrace_direction direction,
			   u64 q2c_ns)
{
	account->flow[direction].q2c_sum_ns += q2c_ns;
	account->q2c[direction][raidtrace_d2c_bin(q2c_ns)]++;
}
