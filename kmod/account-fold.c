// SPDX-License-Identifier: GPL-2.0-only
/* Taking over what one CPU counted: most of an account is zero most of the time. */
#include "account.h"
#include "account-lot.h"

/*
 * Nothing of a direction was counted. What goes in its histograms is counted in
 * its flow too, but for the end of a bio that took no time at all.
 */
static bool is_idle(const struct raidtrace_account *account, enum raidtrace_direction direction)
{
	const u64 *flow = (const u64 *)&account->flow[direction];

	return !account->q2c[direction][0] &&
	       !raidtrace_any(flow, sizeof(account->flow[direction]) / sizeof(*flow));
}

/* struct fold - one account that is being taken over */
struct fold {
	u64 *sum;
	u64 *part;
	u64 *changed;
	u64 now;
};

static void move_lot(const struct fold *fold, unsigned int lot, unsigned int end)
{
	unsigned int i;

	for (i = lot * RAIDTRACE_LOT; i < end; i++) {
		if (fold->sum)
			fold->sum[i] += fold->part[i];
		fold->part[i] = 0;
	}
	if (fold->changed)
		fold->changed[lot] = fold->now;
}

/* Move the lots that some counters lie in. They are read far more often than they hold something. */
static void move(const struct fold *fold, const u64 *from, unsigned int counters)
{
	const unsigned int all = sizeof(struct raidtrace_account) / sizeof(u64);
	unsigned int lot = (unsigned int)(from - fold->part) / RAIDTRACE_LOT;
	unsigned int end = (unsigned int)(from - fold->part + counters - 1) / RAIDTRACE_LOT + 1;
	unsigned int whole = end < all / RAIDTRACE_LOT ? end : all / RAIDTRACE_LOT;
	const u64 *at = fold->part + lot * RAIDTRACE_LOT;

	for (; lot < whole; lot++, at += RAIDTRACE_LOT) {
		if (!raidtrace_lot_empty(at))
			move_lot(fold, lot, (lot + 1) * RAIDTRACE_LOT);
	}
	/* What is behind the last whole lot. */
	if (lot < end)
		move_lot(fold, lot, all);
}

/* The histograms that each direction has lie together. */
static void move_direction(const struct fold *fold, const struct raidtrace_account *part,
			   enum raidtrace_direction direction)
{
	move(fold, part->size[direction], RAIDTRACE_SIZE_BINS);
	move(fold, part->seek[direction], RAIDTRACE_SEEK_BINS);
	move(fold, part->seek_queued[direction], RAIDTRACE_SEEK_BINS);
	move(fold, part->d2c[direction], RAIDTRACE_D2C_BINS);
	move(fold, part->i2d[direction], RAIDTRACE_D2C_BINS);
	move(fold, part->q2c[direction], RAIDTRACE_D2C_BINS);
}

/**
 * raidtrace_account_move() - add an account to another and leave zeroes
 * @sum: added to; NULL to forget what was counted
 * @part: what was counted
 * @changed: for each lot of @sum when it changed last, NULL if nobody asks
 * @now: what is put there
 */
void raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part,
			    u64 *changed, u64 now)
{
	const struct fold fold = { (u64 *)sum, (u64 *)part, changed, now };
	const u64 *common = (const u64 *)part->depth_time;
	enum raidtrace_direction direction;
	bool idle = true;

	for (direction = 0; direction < RAIDTRACE_DIRECTIONS; direction++) {
		if (is_idle(part, direction))
			continue;
		idle = false;
		move_direction(&fold, part, direction);
	}
	/* Nothing is counted of no direction: a CPU that had nothing to do with the disk costs no more. */
	if (idle)
		return;
	move(&fold, common, (const u64 *)(part + 1) - common);
	/* The flow goes last, it says what is idle. */
	move(&fold, (const u64 *)part, (const u64 *)part->size - (const u64 *)part);
}
