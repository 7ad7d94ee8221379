/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last streams of a disk: whether a bio or request goes on where one of
 * them ended. Plain C, as account.h.
 */
#ifndef RAIDTRACE_ACCOUNT_STREAM_H
#define RAIDTRACE_ACCOUNT_STREAM_H

#include "histogram.h"

/* Most streams that can be remembered, and how many are unless asked otherwise. */
#define RAIDTRACE_STREAMS_MAX		64
#define RAIDTRACE_STREAMS_DEFAULT	16

#define RAIDTRACE_STREAM_HASH_BITS	6

/**
 * struct raidtrace_streams - ends of the last streams
 * @end: sector after the last one of each stream
 * @newer: the stream that moved next after it
 * @older: the stream that moved next before it
 * @next: the next stream whose end has the same hash
 * @first: by hash of an end, the first stream that has it
 * @continued: bit of each stream that was continued at least once
 * @nr: how many are remembered
 * @used: how many there were so far, at most @nr
 * @newest: the stream that moved last
 * @oldest: the stream that has not moved for longest; forgotten first
 *
 * Streams are named by their index; RAIDTRACE_STREAMS_MAX is none.
 */
struct raidtrace_streams {
	u64 end[RAIDTRACE_STREAMS_MAX];
	unsigned char newer[RAIDTRACE_STREAMS_MAX];
	unsigned char older[RAIDTRACE_STREAMS_MAX];
	unsigned char next[RAIDTRACE_STREAMS_MAX];
	unsigned char first[1 << RAIDTRACE_STREAM_HASH_BITS];
	u64 continued;
	unsigned char nr;
	unsigned char used;
	unsigned char newest;
	unsigned char oldest;
};

void raidtrace_streams_start(struct raidtrace_streams *streams, unsigned int nr);
bool raidtrace_streams_follow(struct raidtrace_streams *streams, u64 sector, u64 end);
unsigned int raidtrace_streams_alive(const struct raidtrace_streams *streams);

#endif /* RAIDTRACE_ACCOUNT_STREAM_H */
