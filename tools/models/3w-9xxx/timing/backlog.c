// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writes of a drive that the write-back cache still holds. A drive catches up when the model
 * next accesses it, so that reads go first and a write that has begun is finished.
 */
#include "timing.h"

#define TW_MERGE_SECTORS	1024	/* cached writes are joined up to this length */

u64 tw_backlog_begin_ns(const struct tw_backlog *backlog)
{
	u64 ready = RL_NEVER;
	u32 i;

	for (i = 0; i < backlog->count && ready > backlog->drive->free_ns; i++)
		ready = rl_min(ready, backlog->entry[i].ready_ns);
	return ready == RL_NEVER ? ready : rl_max(ready, backlog->drive->free_ns);
}

/* One sweep from the outer edge inwards, then again: the next one behind the head. */
static u32 tw_pick(const struct tw_backlog *backlog, u64 begin)
{
	u64 head = backlog->drive->head, distance, least = RL_NEVER;
	u32 i, picked = 0;

	for (i = 0; i < backlog->count; i++) {
		if (backlog->entry[i].ready_ns > begin)
			continue;
		/* An offset before the head wraps to a large distance. */
		distance = (backlog->entry[i].lba - head) & (RL_NEVER >> 1);
		if (distance < least) {
			least = distance;
			picked = i;
		}
	}
	return picked;
}

static u64 tw_do(struct tw_backlog *backlog, const struct tw_dirty *dirty, u64 begin)
{
	const struct tw_landing *landing = backlog->landing;

	if (dirty->read)
		return rl_drive_read(backlog->drive, dirty->lba, dirty->sectors, begin);
	if (landing->written)
		landing->written(landing->context, backlog->number, dirty->lba, dirty->sectors);
	return rl_drive_write(backlog->drive, dirty->lba, dirty->sectors, begin, dirty->turns);
}

u64 tw_backlog_do_one(struct tw_backlog *backlog, u64 begin)
{
	u32 picked = tw_pick(backlog, begin);
	struct tw_dirty dirty = backlog->entry[picked];

	backlog->entry[picked] = backlog->entry[--backlog->count];
	*backlog->dirty_sectors -= dirty.charged;
	return tw_do(backlog, &dirty, begin);
}

void tw_backlog_catch_up(struct tw_backlog *backlog, u64 now)
{
	u64 begin;

	while ((begin = tw_backlog_begin_ns(backlog)) < now)
		tw_backlog_do_one(backlog, begin);
}

/* Return: whether an entry takes @dirty in, because it holds or precedes it. */
static bool tw_join(struct tw_backlog *backlog, const struct tw_dirty *dirty)
{
	u32 i;

	for (i = 0; i < backlog->count; i++) {
		struct tw_dirty *entry = &backlog->entry[i];

		if (entry->turns != dirty->turns || entry->read != dirty->read)
			continue;
		if (dirty->lba >= entry->lba &&
		    dirty->lba + dirty->sectors <= entry->lba + entry->sectors) {
			*backlog->dirty_sectors -= dirty->charged;
			return true;
		}
		if (entry->lba + entry->sectors == dirty->lba &&
		    entry->sectors + dirty->sectors <= TW_MERGE_SECTORS) {
			entry->sectors = (u16)(entry->sectors + dirty->sectors);
			entry->charged = (u16)(entry->charged + dirty->charged);
			return true;
		}
	}
	return false;
}

u64 tw_backlog_add(struct tw_backlog *backlog, const struct tw_dirty *dirty)
{
	u64 cached = dirty->ready_ns;

	tw_backlog_catch_up(backlog, dirty->ready_ns);
	if (tw_join(backlog, dirty))
		return cached;
	if (backlog->count == TW_BACKLOG)
		cached = rl_max(cached, tw_backlog_do_one(backlog, tw_backlog_begin_ns(backlog)));
	backlog->entry[backlog->count++] = *dirty;
	return cached;
}

u64 tw_backlog_do_now(struct tw_backlog *backlog, const struct tw_dirty *dirty)
{
	tw_backlog_catch_up(backlog, dirty->ready_ns);
	return tw_do(backlog, dirty, dirty->ready_ns);
}
