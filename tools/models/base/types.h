/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only environment that a model knows: fixed-width types, and memory moved by
 * the compiler's own builtins.
 */
#ifndef RL_TYPES_H
#define RL_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed long long s64;
#endif

#define RL_SECTOR_BYTES		512U
#define RL_NEVER		(~0ULL)
#define RL_NS_PER_US		1000ULL
#define RL_NS_PER_SECOND	1000000000ULL

#define RL_COUNT(table)		(sizeof(table) / sizeof((table)[0]))

static inline void rl_copy(void *to, const void *from, size_t bytes)
{
	__builtin_memcpy(to, from, bytes);
}

static inline void rl_fill(void *to, u8 byte, size_t bytes)
{
	__builtin_memset(to, byte, bytes);
}

static inline u64 rl_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 rl_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Time to move @bytes at @kib_s KiB/s; @bytes up to 2^34. */
static inline u64 rl_transfer_ns(u64 bytes, u32 kib_s)
{
	return bytes * (RL_NS_PER_SECOND / 1024) / kib_s;
}

#endif
