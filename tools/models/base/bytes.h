/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of little-endian bytes, at any address. */
#ifndef RL_BYTES_H
#define RL_BYTES_H

#include "types.h"

static inline u16 rl_get16(const u8 *at)
{
	return (u16)(at[0] | at[1] << 8);
}

static inline u32 rl_get32(const u8 *at)
{
	return rl_get16(at) | (u32)rl_get16(at + 2) << 16;
}

static inline u64 rl_get64(const u8 *at)
{
	return rl_get32(at) | (u64)rl_get32(at + 4) << 32;
}

/* The lowest @bytes of @value. */
static inline void rl_put(u8 *at, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		*at++ = (u8)(value & 0xff);
}

static inline void rl_put16(u8 *at, u32 value)
{
	rl_put(at, value, 2);
}

static inline void rl_put32(u8 *at, u32 value)
{
	rl_put(at, value, 4);
}

#endif
