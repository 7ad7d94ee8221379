/* SPDX-License-Identifier: GPL-2.0-only */
/* What a bio changes when it is queued and when it completes. Inline, as account-request.h. */
#ifndef RAIDTRACE_ACCOUNT_BIO_H
#define RAIDTRACE_ACCOUNT_BIO_H

#include "account.h"
#include "account-position.h"

static inline void account_seek_queued(struct raidtrace_account *account,
				       enum raidtrace_direction direction, s64 distance)
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
static inline void account_owner(struct raidtrace_account *account, u32 groups,
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

/* Where a bio lies, as seen from those before it. Returns whether that is a seek. */
static inline bool account_arrival(struct raidtrace_arrival *state,
				   struct raidtrace_account *account,
				   const struct raidtrace_bio *bio)
{
	u64 end = bio->sector + (bio->bytes >> SECTOR_BITS);
	s64 distance = bio->sector - state->end_sector;
	bool placed = state->placed;

	if (state->groups & RAIDTRACE_GROUP_STREAM)
		account->flow[bio->direction].stream_queued +=
			raidtrace_streams_follow(&state->streams, bio->sector, end,
						 bio->queued_ns);
	if (placed && state->groups & RAIDTRACE_GROUP_SEEK)
		account_seek_queued(account, bio->direction, distance);
	state->placed = true;
	state->end_sector = end;
	return placed && distance;
}

/**
 * raidtrace_count_bio() - a bio is queued
 * @state: of its disk
 * @account: to count in
 * @bio: the bio
 */
static inline void raidtrace_count_bio(struct raidtrace_arrival *state,
				       struct raidtrace_account *account,
				       const struct raidtrace_bio *bio)
{
	struct raidtrace_flow *flow = &account->flow[bio->direction];
	u32 groups = state->groups;
	bool seek = false;

	flow->queued++;
	flow->bytes_queued += bio->bytes;
	if (bio->ahead && groups & RAIDTRACE_GROUP_READAHEAD) {
		flow->ahead_queued++;
		flow->bytes_ahead_queued += bio->bytes;
	}
	if (has_position(bio->direction, bio->bytes) && !bio->unplaced)
		seek = account_arrival(state, account, bio);
	account_owner(account, groups, bio, seek);
}

/**
 * raidtrace_count_q2c() - count a piece of a bio that completed
 * @account: to count in
 * @direction: of the bio
 * @q2c_ns: nanoseconds since the bio was queued
 */
static inline void raidtrace_count_q2c(struct raidtrace_account *account,
				       enum raidtrace_direction direction, u64 q2c_ns)
{
	account->flow[direction].q2c_sum_ns += q2c_ns;
	account->q2c[direction][raidtrace_d2c_bin(q2c_ns)]++;
}

#endif /* RAIDTRACE_ACCOUNT_BIO_H */
