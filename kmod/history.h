/* SPDX-License-Identifier: GPL-2.0-only */
/* The last requests of a disk that ended. Plain C, as account.h. */
#ifndef RAIDTRACE_HISTORY_H
#define RAIDTRACE_HISTORY_H

#include "histogram.h"

/* How many are kept, a power of two. */
#define RAIDTRACE_HISTORY	4096

/**
 * struct raidtrace_ended - a request that ended
 * @queued_ns: when the first of its bios that was seen was queued, 0 when none was
 * @inserted_ns: when it was inserted, 0 when it was not
 * @issued_ns: its last issue
 * @completed_ns: its last completion
 * @sector: where it begins
 * @bytes: issued
 * @pid: the process that queued that bio, as @queued_ns
 * @row: of that process in the table, when it was queued
 * @depth: requests in flight that its issue found
 * @direction: of its last issue
 * @class: likewise
 * @error: its status is not success
 * @again: it was requeued and issued again
 */
struct raidtrace_ended {
	u64 queued_ns;
	u64 inserted_ns;
	u64 issued_ns;
	u64 completed_ns;
	u64 sector;
	u32 bytes;
	u32 pid;
	u32 row;
	u32 depth;
	unsigned char direction;
	unsigned char class;
	bool error;
	bool again;
};

/**
 * struct raidtrace_history - the last requests that ended
 * @ended: RAIDTRACE_HISTORY of them, in turn; NULL when none are kept
 * @nr: how many there were, each time one was put there
 */
struct raidtrace_history {
	struct raidtrace_ended *ended;
	u64 nr;
};

/* A request ended; it is copied. */
static inline void raidtrace_history_put(struct raidtrace_history *history,
					 const struct raidtrace_ended *ended)
{
	history->ended[history->nr++ % RAIDTRACE_HISTORY] = *ended;
}

/*
 * The request behind number @number, 0 before the first, as long as it is there; @number
 * is moved on to it.
 */
static inline const struct raidtrace_ended *
raidtrace_history_next(const struct raidtrace_history *history, u64 *number)
{
	u64 oldest = history->nr > RAIDTRACE_HISTORY ? history->nr - RAIDTRACE_HISTORY : 0;

	if (*number < oldest)
		*number = oldest;
	if (!history->ended || *number >= history->nr)
		return NULL;
	return &history->ended[(*number)++ % RAIDTRACE_HISTORY];
}

#endif /* RAIDTRACE_HISTORY_H */
