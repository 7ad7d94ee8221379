// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The controller's time. Everything is worked out when a command arrives;
 * drives catch up with their backlog of cached writes when they are next
 * looked at, so that reads go first and a write already begun is finished.
 */
#include "timing.h"

#define TW_MERGE_SECTORS	1024	/* cached writes are joined up to this length */

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config)
{
	u32 i;

	tw_fill(timing, 0, sizeof(*timing));
	timing->config = config;
	tw_geometry_create(&timing->geometry, &config->drive);
	tw_array_create(&timing->array, &config->array, config->drive.sectors);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		tw_drive_create(&timing->drive[i], &timing->geometry, i);
}

/* Return: when the drive could begin to write something cached; TW_NEVER if nothing is. */
static u64 tw_begin_ns(const struct tw_timing *timing, u32 number)
{
	const struct tw_backlog *backlog = &timing->backlog[number];
	u64 ready = TW_NEVER;
	u32 i;

	for (i = 0; i < backlog->count && ready > timing->drive[number].free_ns; i++)
		ready = tw_min(ready, backlog->entry[i].ready_ns);
	return ready == TW_NEVER ? ready : tw_max(ready, timing->drive[number].free_ns);
}

/* One sweep from the outer edge inwards, then again: the next one behind the head. */
static u32 tw_pick(const struct tw_timing *timing, u32 number, u64 begin)
{
	const struct tw_backlog *backlog = &timing->backlog[number];
	u64 head = timing->drive[number].head, distance, least = TW_NEVER;
	u32 i, picked = 0;

	for (i = 0; i < backlog->count; i++) {
		if (backlog->entry[i].ready_ns > begin)
			continue;
		/* What lies before the head wraps round to a large distance. */
		distance = (backlog->entry[i].lba - head) & (TW_NEVER >> 1);
		if (distance < least) {
			least = distance;
			picked = i;
		}
	}
	return picked;
}

/* Return: when a cached write that begins at @begin is on the platter. */
static u64 tw_drain_one(struct tw_timing *timing, u32 number, u64 begin)
{
	struct tw_backlog *backlog = &timing->backlog[number];
	u32 picked = tw_pick(timing, number, begin);
	struct tw_dirty dirty = backlog->entry[picked];

	backlog->entry[picked] = backlog->entry[--backlog->count];
	timing->dirty_sectors -= dirty.sectors;
	return tw_drive_write(&timing->drive[number], dirty.lba, dirty.sectors, begin,
			      dirty.turns);
}

/* Let the drive do what it would have begun before @now. */
static void tw_catch_up(struct tw_timing *timing, u32 number, u64 now)
{
	u64 begin;

	while ((begin = tw_begin_ns(timing, number)) < now)
		tw_drain_one(timing, number, begin);
}

/* Return: when the cache has room for @sectors more, @now or later. */
static u64 tw_make_room(struct tw_timing *timing, u32 sectors, u64 now)
{
	u64 limit = (u64)timing->config->controller.cache_mib * 2048, begin, first;
	u32 i, number;

	if (timing->dirty_sectors + sectors <= limit)
		return now;
	for (i = 0; i < TW_MAX_DRIVES; i++)
		tw_catch_up(timing, i, now);
	while (timing->dirty_sectors && timing->dirty_sectors + sectors > limit) {
		first = TW_NEVER;
		number = 0;
		for (i = 0; i < TW_MAX_DRIVES; i++) {
			begin = tw_begin_ns(timing, i);
			if (begin < first) {
				first = begin;
				number = i;
			}
		}
		now = tw_max(now, tw_drain_one(timing, number, first));
	}
	return now;
}

/* Return: whether a cached write takes @dirty in, because it holds or precedes it. */
static bool tw_join(struct tw_timing *timing, struct tw_backlog *backlog,
		    const struct tw_dirty *dirty)
{
	u32 i;

	for (i = 0; i < backlog->count; i++) {
		struct tw_dirty *entry = &backlog->entry[i];

		if (entry->turns != dirty->turns)
			continue;
		if (dirty->lba >= entry->lba &&
		    dirty->lba + dirty->sectors <= entry->lba + entry->sectors)
			return true;
		if (entry->lba + entry->sectors == dirty->lba &&
		    entry->sectors + dirty->sectors <= TW_MERGE_SECTORS) {
			entry->sectors += dirty->sectors;
			timing->dirty_sectors += dirty->sectors;
			return true;
		}
	}
	return false;
}

/* Return: when the write is in the cache, which waits while the drive's backlog is full. */
static u64 tw_defer(struct tw_timing *timing, u32 number, const struct tw_dirty *dirty)
{
	struct tw_backlog *backlog = &timing->backlog[number];
	u64 cached = dirty->ready_ns;

	if (tw_join(timing, backlog, dirty))
		return cached;
	if (backlog->count == TW_BACKLOG)
		cached = tw_max(cached, tw_drain_one(timing, number, tw_begin_ns(timing, number)));
	backlog->entry[backlog->count++] = *dirty;
	timing->dirty_sectors += dirty->sectors;
	return cached;
}

/* Write one member, now or later. Return: when it is done as far as the host can tell. */
static u64 tw_write_member(struct tw_timing *timing, u32 number, const struct tw_dirty *dirty)
{
	tw_catch_up(timing, number, dirty->ready_ns);
	if (timing->config->controller.cache_mib)
		return tw_defer(timing, number, dirty);
	return tw_drive_write(&timing->drive[number], dirty->lba, dirty->sectors, dirty->ready_ns,
			      dirty->turns);
}

/* Serialised: firmware time and the bytes' way between host and controller. */
static u64 tw_serve(struct tw_timing *timing, u64 bytes, u32 kib_s, u64 now)
{
	timing->free_ns = tw_max(timing->free_ns, now) +
			  timing->config->controller.command_us * TW_NS_PER_US +
			  tw_transfer_ns(bytes, kib_s);
	return timing->free_ns;
}

u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now)
{
	const struct tw_controller_config *controller = &timing->config->controller;
	u64 start = tw_serve(timing, sectors * (u64)TW_SECTOR_BYTES, controller->read_kib_s, now) +
		    controller->latency_us * TW_NS_PER_US;
	u64 done = start;

	while (sectors) {
		struct tw_extent extent = tw_array_map(&timing->array, lba, sectors);
		u32 number = unit * timing->array.drives + extent.drive;

		tw_catch_up(timing, number, start);
		done = tw_max(done, tw_drive_read(&timing->drive[number], extent.lba,
						  extent.sectors, start));
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
	return done;
}

/* Whether a write from @first to @end has the whole row of stripes that @lba is in. */
static bool tw_whole_row(const struct tw_array *array, u64 lba, u64 first, u64 end)
{
	u64 row = array->stripe * (u64)tw_array_data_drives(array);
	u64 start = lba - lba % row;

	return start >= first && start + row <= end;
}

/* The parity that one row of a RAID 5 write makes necessary, gathered over the row's extents. */
struct tw_parity {
	u32 member;
	struct tw_dirty dirty;
};

static void tw_gather(struct tw_parity *parity, const struct tw_extent *extent,
		      const struct tw_dirty *dirty, u32 stripe)
{
	parity->member = extent->parity;
	if (!parity->dirty.sectors) {
		parity->dirty = *dirty;
		return;
	}
	/* The first extent ended with its stripe and this one begins with its own. */
	parity->dirty.lba = extent->lba;
	parity->dirty.sectors = stripe;
}

/* Return: when the gathered parity is done, 0 if there is none. */
static u64 tw_write_parity(struct tw_timing *timing, u32 base, struct tw_parity *parity)
{
	u64 done = 0;

	if (parity->dirty.sectors)
		done = tw_write_member(timing, base + parity->member, &parity->dirty);
	parity->dirty.sectors = 0;
	return done;
}

u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now)
{
	u64 first = lba, end = lba + sectors, done, start;
	u32 base = unit * timing->array.drives;
	struct tw_parity parity = { 0 };

	start = tw_serve(timing, sectors * (u64)TW_SECTOR_BYTES,
			 timing->config->controller.write_kib_s, now);
	if (timing->config->controller.cache_mib)
		start = tw_make_room(timing, sectors, start);
	done = start;
	while (sectors) {
		struct tw_extent extent = tw_array_map(&timing->array, lba, sectors);
		struct tw_dirty dirty = { extent.lba, start, extent.sectors, 0 };

		if (extent.parity != extent.drive) {
			/* Old data and old parity are read first unless the row is whole. */
			dirty.turns = !tw_whole_row(&timing->array, lba, first, end);
			if (parity.member != extent.parity)
				done = tw_max(done, tw_write_parity(timing, base, &parity));
			tw_gather(&parity, &extent, &dirty, timing->array.stripe);
		}
		done = tw_max(done, tw_write_member(timing, base + extent.drive, &dirty));
		if (extent.mirror != extent.drive)
			done = tw_max(done, tw_write_member(timing, base + extent.mirror, &dirty));
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
	return tw_max(done, tw_write_parity(timing, base, &parity));
}

u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now)
{
	u64 done = tw_serve(timing, 0, timing->config->controller.read_kib_s, now);
	u32 i, number;

	for (i = 0; i < timing->array.drives; i++) {
		number = unit * timing->array.drives + i;
		while (timing->backlog[number].count)
			tw_drain_one(timing, number, tw_begin_ns(timing, number));
		if (timing->drive[number].writing)
			done = tw_max(done, timing->drive[number].free_ns);
	}
	return done;
}

u64 tw_timing_other(struct tw_timing *timing, u64 now)
{
	return tw_serve(timing, 0, timing->config->controller.read_kib_s, now);
}
