// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last streams of a disk, found by their ends in a hash table and kept in
 * the order in which they moved. Each step takes a bounded time, and for ends
 * that are spread by the hash a constant one.
 */
#include "account-stream.h"

#define NONE RAIDTRACE_STREAMS_MAX

static unsigned int hash(u64 sector)
{
	return (sector * 0x9e3779b97f4a7c15ULL) >> (64 - RAIDTRACE_STREAM_HASH_BITS);
}

/**
 * raidtrace_streams_start() - remember streams from now on
 * @streams: filled in
 * @nr: how many to remember, 1 to RAIDTRACE_STREAMS_MAX
 */
void raidtrace_streams_start(struct raidtrace_streams *streams, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < sizeof(streams->first); i++)
		streams->first[i] = NONE;
	streams->continued = 0;
	streams->nr = nr;
	streams->used = 0;
	streams->newest = NONE;
	streams->oldest = NONE;
}

/* Take a stream out of the chain of its end; chains are no longer than there are streams. */
static void unchain(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned char *link = &streams->first[hash(streams->end[stream])];

	while (*link != stream)
		link = &streams->next[*link];
	*link = streams->next[stream];
}

static void chain(struct raidtrace_streams *streams, unsigned int stream, u64 end)
{
	unsigned char *first = &streams->first[hash(end)];

	streams->end[stream] = end;
	streams->next[stream] = *first;
	*first = stream;
}

static void put_newest(struct raidtrace_streams *streams, unsigned int stream)
{
	streams->older[stream] = streams->newest;
	streams->newer[stream] = NONE;
	if (streams->newest != NONE)
		streams->newer[streams->newest] = stream;
	else
		streams->oldest = stream;
	streams->newest = stream;
}

static void make_newest(struct raidtrace_streams *streams, unsigned int stream)
{
	unsigned int newer = streams->newer[stream];
	unsigned int older = streams->older[stream];

	if (newer == NONE)
		return;
	streams->older[newer] = older;
	if (older != NONE)
		streams->newer[older] = newer;
	else
		streams->oldest = newer;
	put_newest(streams, stream);
}

/* A stream of its own, in the place of the oldest when there is no other. */
static void begin(struct raidtrace_streams *streams, u64 end)
{
	unsigned int stream = streams->used;

	if (stream < streams->nr) {
		streams->used++;
		put_newest(streams, stream);
	} else {
		stream = streams->oldest;
		unchain(streams, stream);
		make_newest(streams, stream);
		streams->continued &= ~(1ULL << stream);
	}
	chain(streams, stream, end);
}

/**
 * raidtrace_streams_follow() - a bio or request comes
 * @streams: of its disk; moved on
 * @sector: where it begins
 * @end: sector after its last one
 *
 * Return: whether it begins where one of the streams ended.
 */
bool raidtrace_streams_follow(struct raidtrace_streams *streams, u64 sector, u64 end)
{
	unsigned int stream = streams->first[hash(sector)];

	while (stream != NONE && streams->end[stream] != sector)
		stream = streams->next[stream];
	if (stream == NONE) {
		begin(streams, end);
		return false;
	}
	unchain(streams, stream);
	chain(streams, stream, end);
	make_newest(streams, stream);
	streams->continued |= 1ULL << stream;
	return true;
}

/**
 * raidtrace_streams_alive() - streams remembered that were continued at least once
 * @streams: of a disk
 *
 * Return: their number.
 */
unsigned int raidtrace_streams_alive(const struct raidtrace_streams *streams)
{
	u64 rest = streams->continued;
	unsigned int alive;

	for (alive = 0; rest; alive++)
		rest &= rest - 1;
	return alive;
}
