// SPDX-License-Identifier: GPL-2.0-or-later

/* Requests of a recording one by one: each sample reads those that the module keeps. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "record/record.h"

/* Some requests of a disk, by its number in the recording. */
struct answer {
	uint32_t target;
	struct rt_history part;
};

int recorder_begin_events(struct recorded *disk)
{
	struct rt_history *now = calloc(1, sizeof(*now));
	int err = now ? rt_history_get(disk->recorder->client, disk->target.id, UINT64_MAX, now) : -ENOMEM;

	/* Requests that ended since we attached the disk belong to the first sample. */
	if (!err && !disk->ours)
		disk->known = now->total;
	free(now);
	disk->events = !err;
	if (err != -EOPNOTSUPP)
		return err;
	note("%s: requests are not recorded one by one: %s", disk->target.disk,
	     rt_error(disk->recorder->client));
	return 0;
}

static int put_part(struct store *store, const void *data)
{
	const struct answer *answer = data;
	int err = 0;

	for (size_t i = 0; i < answer->part.nr && !err; i++)
		err = store_put_request(store_rows(store), answer->target, &answer->part.ended[i]);
	return err;
}

/* Requests that completed after the sample belong to the next one. Those before the first sample are dropped. */
static void cut_off(struct recorded *disk, struct rt_history *part)
{
	size_t before = 0;

	while (part->nr && part->ended[part->nr - 1].completed_ns > disk->last.now_ns)
		part->nr--;
	while (before < part->nr && part->ended[before].completed_ns <= disk->begin_ns)
		disk->known = part->ended[before++].number;
	part->nr -= before;
	memmove(part->ended, part->ended + before, part->nr * sizeof(part->ended[0]));
}

int recorder_put_events(struct recorded *disk)
{
	struct recorder *recorder = disk->recorder;
	struct answer *answer = disk->events ? calloc(1, sizeof(*answer)) : NULL;
	struct rt_history *part = answer ? &answer->part : NULL;
	int err = disk->events && !answer ? -ENOMEM : 0;

	while (part && !err) {
		uint64_t last;

		err = rt_history_get(recorder->client, disk->target.id, disk->known, part);
		if (!err)
			cut_off(disk, part);
		if (err || !part->nr)
			break;
		answer->target = disk->number;
		last = part->ended[part->nr - 1].number;
		disk->lost += last - disk->known - part->nr;
		disk->known = last;
		err = writer_put(recorder->writer, put_part, answer, sizeof(*answer));
	}
	free(answer);
	/* The disk is gone, with the requests that were kept. */
	return err == -ENOENT || err == -ENODEV ? 0 : err;
}
