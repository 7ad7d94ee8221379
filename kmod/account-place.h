/* SPDX-License-Identifier: GPL-2.0-only */
/* Which part of the disk a sector lies in. Plain C, as account.h. */
#ifndef RAIDTRACE_ACCOUNT_PLACE_H
#define RAIDTRACE_ACCOUNT_PLACE_H

#include "account.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#endif

/* Parts are cut at multiples of 8 sectors, so that products stay exact up to 256 TiB. */
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

/* Cut a disk in parts. */
static inline void raidtrace_place_set(struct raidtrace_place *place, u64 capacity_sectors)
{
	u64 units = (capacity_sectors >> PLACE_BITS) / RAIDTRACE_PLACE_BINS + 1;

	/* The inverse of 1 does not fit. */
	if (units < 2)
		units = 2;
	place->sectors = units << PLACE_BITS;
	place->inverse = divide(~0ULL, units) + 1;
}

/* Part of the disk that a sector lies in; the last for one beyond the end. */
static inline u32 raidtrace_place_bin(const struct raidtrace_place *place, u64 sector)
{
	u64 bin = multiply_high(sector >> PLACE_BITS, place->inverse);

	return bin < RAIDTRACE_PLACE_BINS ? bin : RAIDTRACE_PLACE_BINS - 1;
}

#endif /* RAIDTRACE_ACCOUNT_PLACE_H */
