// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaky buckets. */
#include "media.h"

void rl_bucket_create(struct rl_bucket *bucket, u64 rate, u64 burst)
{
	bucket->rate = rate;
	bucket->burst = burst;
	bucket->empty_ns = 0;
	bucket->rest = 0;
}

u64 rl_bucket_open_ns(const struct rl_bucket *bucket, u64 now)
{
	u64 burst = bucket->burst * RL_NS_PER_SECOND, early;

	if (!bucket->rate || bucket->empty_ns < now)
		return now;
	/* The burst has leaked this long before the bucket is empty. */
	if (burst < bucket->rest)
		return bucket->empty_ns + 1;
	early = (burst - bucket->rest) / bucket->rate;
	return early < bucket->empty_ns - now ? bucket->empty_ns - early : now;
}

u64 rl_bucket_pour(struct rl_bucket *bucket, u64 now, u64 units)
{
	u64 parts;

	if (!bucket->rate)
		return now;
	/* Keep the fraction if the command starts in the nanosecond in which the bucket becomes empty. */
	if (bucket->empty_ns + !!bucket->rest < now) {
		bucket->empty_ns = now;
		bucket->rest = 0;
	}
	parts = units * RL_NS_PER_SECOND + bucket->rest;
	bucket->empty_ns += parts / bucket->rate;
	bucket->rest = parts % bucket->rate;
	return bucket->empty_ns + !!bucket->rest;
}

u64 rl_bucket_admit(struct rl_bucket *commands, struct rl_bucket *moved, u64 bytes, u64 now)
{
	u64 start = rl_max(rl_bucket_open_ns(commands, now), rl_bucket_open_ns(moved, now));

	rl_bucket_pour(commands, start, 1);
	rl_bucket_pour(moved, start, bytes);
	return start;
}
