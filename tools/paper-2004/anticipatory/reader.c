// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of a process, and whether its next request is worth waiting for. */

#include <linux/slab.h>

#include "anticipatory.h"

/* Longest seek that is learnt at once, beside four times the mean; further while little is known. */
#define SEEK_MOST	(2 * 1024 * 64)
#define SEEK_MOST_NEW	(2 * 1024 * 1024)
#define FEW_SAMPLES	60
#define CLOSE_SECTORS	64	/* doubled with each tick of waiting */

/* None when there is no memory; then its requests are nobody's. */
struct reader *reader_find(struct anticipation *ant, pid_t pid)
{
	struct reader *reader;

	list_for_each_entry(reader, &ant->readers, list)
		if (reader->pid == pid)
			return reader;
	reader = kzalloc(sizeof(*reader), GFP_ATOMIC);
	if (reader) {
		reader->pid = pid;
		list_add(&reader->list, &ant->readers);
	}
	return reader;
}

static void learn_think(struct anticipation *ant, struct reader *reader, unsigned int think)
{
	if (!reader->think_samples) {
		ant->strangers_think = (7 * ant->strangers_think + 256 * think) / 8;
		ant->leave = 7 * ant->leave / 8;
	}
	reader->think_samples = (7 * reader->think_samples + 256) / 8;
	reader->think_total = (7 * reader->think_total + 256 * think) / 8;
	reader->think = (reader->think_total + 128) / reader->think_samples;
}

static void learn_seek(struct anticipation *ant, struct reader *reader, sector_t distance)
{
	unsigned int most = reader->seek_samples <= FEW_SAMPLES ? SEEK_MOST_NEW : SEEK_MOST;

	if (!reader->seek_samples)
		ant->strangers_seek = div_u64(7 * ant->strangers_seek + 256 * distance, 8);
	distance = min(distance, reader->seek * 4 + most);
	reader->seek_samples = (7 * reader->seek_samples + 256) / 8;
	reader->seek_total = div_u64(7 * reader->seek_total + 256 * distance, 8);
	reader->seek = div_u64(reader->seek_total + reader->seek_samples / 2, reader->seek_samples);
}

/* A sync request of it comes. */
void reader_asks(struct anticipation *ant, struct reader *reader, struct request *rq)
{
	sector_t at = blk_rq_pos(rq);

	if (reader->started) {
		u64 think = 0;

		if (reader->finished && !reader->queued)
			think = min_t(u64, ticks() - reader->end, THINKTIME_MOST);
		learn_think(ant, reader, think);
		learn_seek(ant, reader, at > reader->position ? at - reader->position : reader->position - at);
	}
	reader->position = at + blk_rq_sectors(rq);
	reader->started = true;
}

/* A request of another process that is as near as the expected one. */
static bool is_close(struct anticipation *ant, struct request *rq)
{
	sector_t last = ant->last[ant->batch], at = blk_rq_pos(rq), most = CLOSE_SECTORS;
	u64 waited = 0;

	if (ant->waiting != NOT_WAITING && ant->reader_done)
		waited = ticks() - ant->since;
	if (waited > ANTICIPATE)
		return true;
	if (waited > 1)
		most <<= waited - 1;
	return at + most / 2 >= last && at <= last + most;
}

/* Is it better to wait for the next request of the process than to send rq, or, without rq, to go on to the other class? */
bool worth_waiting(struct anticipation *ant, struct request *rq)
{
	struct reader *reader = ant->reader;
	sector_t at, last, usual;

	if (rq && reader_of(rq) == reader)
		return false;
	if (ant->reader_done && ticks() - ant->since >= ANTICIPATE)
		return false;
	if (reader->queued)
		return false;
	if (rq && class_of(rq) == SYNC && is_close(ant, rq)) {
		reader->end = ticks();
		return false;
	}
	if (!reader->think_samples) {
		if (ant->strangers_think / 256 > ANTICIPATE || ant->leave > 128)
			return false;
	} else if (reader->think > ANTICIPATE) {
		return false;
	}
	if (!rq)
		return true;
	at = blk_rq_pos(rq);
	last = ant->last[SYNC];
	usual = reader->seek_samples ? reader->seek : div_u64(ant->strangers_seek, 256);
	return usual <= (last < at ? at - last : last - at);
}

void readers_free(struct anticipation *ant)
{
	struct reader *reader, *next;

	list_for_each_entry_safe(reader, next, &ant->readers, list)
		kfree(reader);
}
