/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last streams of a disk: whether a bio or request goes on where one of
 * them ended. Plain C, as account.h.
 *
 * Streams are found by their ends in a hash table, and stand in a ring in the
 * order in which they moved: the one behind the newest is the oldest, and is
 * made the newest by turning the ring. As many as are remembered are there from
 * the beginning, with ends that no sector has. Each step takes a bounded time,
 * and for ends that are spread by the hash a constant one.
 */
#ifndef RAIDTRACE_ACCOUNT_STREAM_H
#define RAIDTRACE_ACCOUNT_STREAM_H

#include "histogram.h"

/* Most streams that can be remembered, and how many are unless asked otherwise. */
#define RAIDTRACE_STREAMS_MAX		64
#define RAIDTRACE_STREAMS_DEFAULT	16

#define RAIDTRACE_STREAM_HASH_BITS	6

/* No stream; each stream is named by its index. */
#define RAIDTRACE_STREAM_NONE		RAIDTRACE_STREAMS_MAX

/* A stream that did not move for so long has ended. */
#define RAIDTRACE_STREAM_ALIVE_NS	1000000000ULL

/**
 * struct raidtrace_streams - ends of the last streams
 * @end: sector after the last one of each stream
 * @moved_ns: when each stream began or went on last, 0 for a place that had none yet
 * @newer: the stream that moved next after it; of the newest the oldest
 * @older: the stream that moved next before it; of the oldest the newest
 * @next: the next stream whose end has the same hash
 * @first: by hash of an end, the first stream that has it
 * @continued: each stream that was continued at least once
 * @forgotten: streams that were forgotten while they might have gone on
 * @nr: how many are remembered
 * @newest: the stream that moved last
 */
struct raidtrace_streams {
	u64 end[RAIDTRACE_STREAMS_MAX];
	u64 moved_ns[RAIDTRACE_STREAMS_MAX];
	u64 forgotten;
	unsigned char newer[RAIDTRACE_STREAMS_MAX];
	unsigned char older[RAIDTRACE_STREAMS_MAX];
	unsigned char next[RAIDTRACE_STREAMS_MAX];
	unsigned char first[1 << RAIDTRACE_STREAM_HASH_BITS];
	bool continued[RAIDTRACE_STREAMS_MAX];
	unsigned int nr;
	unsigned int newest;
};

static inline unsigned int stream_hash(u64 sector)
{
	return (sector * 0x9e3779b97f4a7c15ULL) >> (64 - RAIDTRACE_STREAM_HASH_BITS);
}

/* Take a stream out of the chain of its end; chains are no longer than there are streams. */
static inline void stream_unchain(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned char *link = &streams->first[stream_hash(streams->end[stream])];

	while (*link != stream)
		link = &streams->next[*link];
	*link = streams->next[stream];
}

static inline void stream_chain(struct raidtrace_streams *streams, unsigned int stream, u64 end)
{
	unsigned char *first = &streams->first[stream_hash(end)];

	streams->end[stream] = end;
	streams->next[stream] = *first;
	*first = stream;
}

/* Make a stream the newest. */
static inline void stream_renew(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned int newest = streams->newest;
	unsigned int oldest = streams->newer[newest];

	if (stream == newest)
		return;
	streams->newest = stream;
	if (stream == oldest)
		return;
	streams->newer[streams->older[stream]] = streams->newer[stream];
	streams->older[streams->newer[stream]] = streams->older[stream];
	streams->older[stream] = newest;
	streams->newer[stream] = oldest;
	streams->newer[newest] = stream;
	streams->older[oldest] = stream;
}

/* Whether a stream moved lately. */
static inline bool stream_moved(const struct raidtrace_streams *streams, unsigned int stream,
				u64 now_ns)
{
	u64 moved_ns = streams->moved_ns[stream];

	return moved_ns && now_ns < moved_ns + RAIDTRACE_STREAM_ALIVE_NS;
}

/* A stream of its own, in the place of the oldest. */
static inline void stream_begin(struct raidtrace_streams *streams, u64 end, u64 now_ns)
{
	unsigned int stream = streams->newer[streams->newest];

	streams->forgotten += stream_moved(streams, stream, now_ns);
	stream_unchain(streams, stream);
	stream_chain(streams, stream, end);
	streams->newest = stream;
	streams->moved_ns[stream] = now_ns;
	streams->continued[stream] = false;
}

/*
 * A bio or request comes, @end is the sector after its last one: does it begin where a
 * stream ended?
 */
static inline bool raidtrace_streams_follow(struct raidtrace_streams *streams, u64 sector,
					    u64 end, u64 now_ns)
{
	unsigned int stream = streams->first[stream_hash(sector)];

	while (stream != RAIDTRACE_STREAM_NONE && streams->end[stream] != sector)
		stream = streams->next[stream];
	if (stream == RAIDTRACE_STREAM_NONE) {
		stream_begin(streams, end, now_ns);
		return false;
	}
	stream_unchain(streams, stream);
	stream_chain(streams, stream, end);
	stream_renew(streams, stream);
	streams->moved_ns[stream] = now_ns;
	streams->continued[stream] = true;
	return true;
}

/* Remember streams from now on, 1 to RAIDTRACE_STREAMS_MAX of them. */
static inline void raidtrace_streams_start(struct raidtrace_streams *streams, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < sizeof(streams->first); i++)
		streams->first[i] = RAIDTRACE_STREAM_NONE;
	for (i = 0; i < nr; i++) {
		stream_chain(streams, i, ~(u64)i);
		streams->newer[i] = i + 1 < nr ? i + 1 : 0;
		streams->older[i] = i ? i - 1 : nr - 1;
		streams->continued[i] = false;
		streams->moved_ns[i] = 0;
	}
	streams->forgotten = 0;
	streams->nr = nr;
	streams->newest = nr - 1;
}

/* How many streams were continued at least once, and moved lately. */
static inline unsigned int raidtrace_streams_alive(const struct raidtrace_streams *streams,
						   u64 now_ns)
{
	unsigned int i, alive = 0;

	for (i = 0; i < streams->nr; i++)
		alive += streams->continued[i] && stream_moved(streams, i, now_ns);
	return alive;
}

#endif /* RAIDTRACE_ACCOUNT_STREAM_H */
