/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kmod/clock.c uses of the kernel, for a process; the clocks are those of clock.c here. */
#ifndef RAIDTRACE_CLOCK_KERNEL_H
#define RAIDTRACE_CLOCK_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define BIT_ULL(n)	(1ULL << (n))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define max(a, b)	((a) > (b) ? (a) : (b))

typedef uint64_t u64;

struct system_time_snapshot {
	u64 cycles;
};

u64 rdtsc_ordered(void);
u64 ktime_get_ns(void);
void ktime_get_snapshot(struct system_time_snapshot *snapshot);

static inline unsigned int fls64(u64 value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((__uint128_t)a * b >> shift);
}

#endif
