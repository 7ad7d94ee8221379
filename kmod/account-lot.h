/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters in lots of a cache line: most of them do not move from one look to
 * the next, and a lot is looked at for little more than a single counter.
 *
 * Plain C: the kernel module, raidctl and the tests compile this one file.
 */
#ifndef RAIDTRACE_ACCOUNT_LOT_H
#define RAIDTRACE_ACCOUNT_LOT_H

#include "histogram.h"

/* Counters of a lot. */
#define RAIDTRACE_LOT		8

/* Lots of a structure that is nothing but u64 counters; the last may be shorter. */
#define RAIDTRACE_LOTS(type) \
	((sizeof(type) / sizeof(u64) + RAIDTRACE_LOT - 1) / RAIDTRACE_LOT)

/**
 * raidtrace_lot_end() - where a lot ends
 * @lot: number of the lot
 * @counters: how many there are in all
 *
 * Return: number of the first counter behind it.
 */
static inline unsigned int raidtrace_lot_end(unsigned int lot, unsigned int counters)
{
	unsigned int end = (lot + 1) * RAIDTRACE_LOT;

	return end < counters ? end : counters;
}

/**
 * raidtrace_lot_empty() - is nothing counted in a lot?
 * @counter: first of a whole lot
 *
 * Return: true when all of it is zero.
 */
static inline bool raidtrace_lot_empty(const u64 *counter)
{
	return !(counter[0] | counter[1] | counter[2] | counter[3] |
		 counter[4] | counter[5] | counter[6] | counter[7]);
}

/**
 * raidtrace_any() - is anything counted?
 * @counter: the first
 * @counters: how many, in whole lots or not
 *
 * Return: false when all of them are zero.
 */
static inline bool raidtrace_any(const u64 *counter, unsigned int counters)
{
	u64 found = 0;
	unsigned int i;

	for (i = 0; i < counters; i++)
		found |= counter[i];
	return found;
}

#endif /* RAIDTRACE_ACCOUNT_LOT_H */
