/* SPDX-License-Identifier: GPL-2.0-only */
/* Positions and distances, for bios and requests alike. Plain C, as account.h. */
#ifndef RAIDTRACE_ACCOUNT_POSITION_H
#define RAIDTRACE_ACCOUNT_POSITION_H

#include "histogram.h"

/* A sector is 2^9 bytes. */
#define SECTOR_BITS 9

/* Only where data is read or written something moves to. */
static inline bool has_position(enum raidtrace_direction direction, u32 bytes)
{
	return bytes >> SECTOR_BITS && direction <= RAIDTRACE_DIRECTION_WRITE;
}

/* Sectors that hold so many bytes. */
static inline u64 round_sectors(u32 bytes)
{
	return ((u64)bytes + (1 << SECTOR_BITS) - 1) >> SECTOR_BITS;
}

/* How far a distance is, whichever way. */
static inline u64 distance_sectors(s64 distance)
{
	return distance < 0 ? -(u64)distance : (u64)distance;
}

#endif /* RAIDTRACE_ACCOUNT_POSITION_H */
