// SPDX-License-Identifier: GPL-2.0-only
/* Taking over what one CPU counted: most of an account is zero most of the time. */
#include "account.h"

/*
 * Nothing of a direction was counted. What goes in its histograms is counted in
 * its flow too, but for the end of a bio that took no time at all.
 */
static bool is_idle(const struct raidtrace_account *account, enum raidtrace_direction direction)
{
	const u64 *flow = (const u64 *)&account->flow[direction];
	u64 any = account->q2c[direction][0];
	unsigned int i;

	for (i = 0; i < sizeof(account->flow[direction]) / sizeof(*flow); i++)
		any |= flow[i];
	return !any;
}

/* Move words of @part. They are read far more often than they hold something. */
static void move(struct raidtrace_account *sum, struct raidtrace_account *part, u64 *from,
		 unsigned int words)
{
	u64 *to = sum ? (u64 *)sum + (from - (u64 *)part) : NULL;
	unsigned int i;

	for (i = 0; i < words; i++) {
		if (!from[i])
			continue;
		if (to)
			to[i] += from[i];
		from[i] = 0;
	}
}

/**
 * raidtrace_account_move() - add an account to another and leave zeroes
 * @sum: added to; NULL to forget what was counted
 * @part: what was counted
 */
void raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part)
{
	enum raidtrace_direction direction;
	u64 *first = (u64 *)part;
	u64 *own = (u64 *)part->size;
	u64 *common = (u64 *)part->depth_time;

	/* The histograms that each direction has lie together. */
	for (direction = 0; direction < RAIDTRACE_DIRECTIONS; direction++) {
		if (is_idle(part, direction))
			continue;
		move(sum, part, part->size[direction], RAIDTRACE_SIZE_BINS);
		move(sum, part, part->seek[direction], RAIDTRACE_SEEK_BINS);
		move(sum, part, part->seek_queued[direction], RAIDTRACE_SEEK_BINS);
		move(sum, part, part->d2c[direction], RAIDTRACE_D2C_BINS);
		move(sum, part, part->i2d[direction], RAIDTRACE_D2C_BINS);
		move(sum, part, part->q2c[direction], RAIDTRACE_D2C_BINS);
	}
	move(sum, part, common, (u64 *)(part + 1) - common);
	/* The flow goes last, it says what is idle. */
	move(sum, part, first, own - first);
}
