/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates that are exact to the nanosecond however many commands share them: the
 * part of a nanosecond that a division leaves is kept.
 *
 * A leaky bucket: each command pours its cost in, the bucket leaks at a steady
 * rate, and a command waits until the bucket holds no more than the burst. A link
 * is a bucket without burst; data has passed the link when its bucket is empty.
 */
#ifndef RL_LIMIT_H
#define RL_LIMIT_H

#include "base/types.h"

/* The largest values for which nothing overflows within a century of waiting commands. */
#define RL_MAX_RATE		0x10000000000ULL
#define RL_MAX_BURST		0x200000000ULL

/**
 * struct rl_bucket - see above
 * @rate: units that leak in a second; 0: there is no limit
 * @burst: units
 * @empty_ns: when it is empty if nothing more comes, rounded down
 * @rest: the fraction of a nanosecond beyond @empty_ns, in units of 1/@rate
 */
struct rl_bucket {
	u64 rate;
	u64 burst;
	u64 empty_ns;
	u64 rest;
};

void rl_bucket_create(struct rl_bucket *bucket, u64 rate, u64 burst);

/* Return: the first nanosecond from @now on at which a command may start. */
u64 rl_bucket_open_ns(const struct rl_bucket *bucket, u64 now);

/* A command that moves @bytes passes two buckets, of commands and of bytes. Return: when it may start. */
u64 rl_bucket_admit(struct rl_bucket *commands, struct rl_bucket *moved, u64 bytes, u64 now);

/* Pour @units, up to 2^32, in at @now. Return: the first nanosecond at which the bucket is empty. */
u64 rl_bucket_pour(struct rl_bucket *bucket, u64 now, u64 units);

#endif
