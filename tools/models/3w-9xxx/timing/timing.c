// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The controller's time. Everything is worked out when a command arrives;
 * drives catch up with their backlog of cached writes when they are next
 * looked at.
 */
#include "timing.h"

void tw_timing_create(struct tw_timing *timing, const struct tw_config *config)
{
	u32 i;

	rl_fill(timing, 0, sizeof(*timing));
	timing->config = config;
	rl_geometry_create(&timing->geometry, &config->drive);
	tw_array_create(&timing->array, &config->array, config->drive.sectors);
	for (i = 0; i < TW_MAX_UNITS; i++) {
		timing->health[i].missing = TW_NO_MEMBER;
		timing->health[i].also = TW_NO_MEMBER;
	}
	for (i = 0; i < TW_MAX_DRIVES; i++) {
		rl_drive_create(&timing->drive[i], &timing->geometry, i);
		if (i + 1 == config->drive.slow_member)
			timing->drive[i].slow = config->drive.slow_factor;
		timing->backlog[i].drive = &timing->drive[i];
		timing->backlog[i].number = i;
		timing->backlog[i].landing = &timing->landing;
		timing->backlog[i].dirty_sectors = &timing->dirty_sectors;
	}
}

/* Return: when the cache has room for @sectors more, @now or later. */
static u64 tw_make_room(struct tw_timing *timing, u32 sectors, u64 now)
{
	u64 limit = (u64)timing->config->controller.cache_mib * 2048, begin, first;
	u32 i, number;

	if (timing->dirty_sectors + sectors <= limit)
		return now;
	for (i = 0; i < TW_MAX_DRIVES; i++)
		tw_backlog_catch_up(&timing->backlog[i], now);
	while (timing->dirty_sectors && timing->dirty_sectors + sectors > limit) {
		first = RL_NEVER;
		number = 0;
		for (i = 0; i < TW_MAX_DRIVES; i++) {
			begin = tw_backlog_begin_ns(&timing->backlog[i]);
			if (begin < first) {
				first = begin;
				number = i;
			}
		}
		if (first == RL_NEVER)
			now = rl_max(now, tw_gather_oldest(timing, now));
		else
			now = rl_max(now, tw_backlog_do_one(&timing->backlog[number], first));
	}
	return now;
}

/* Write one member, now or later. Return: when it is done as far as the host can tell. */
static u64 tw_write_member(struct tw_timing *timing, u32 unit, u32 member,
			   const struct tw_dirty *dirty)
{
	struct tw_backlog *backlog = &timing->backlog[unit * timing->array.drives + member];

	if (tw_is_missing(&timing->health[unit], member, dirty->lba))
		return dirty->ready_ns;
	if (!timing->config->controller.cache_mib)
		return tw_backlog_do_now(backlog, dirty);
	timing->dirty_sectors += dirty->charged;
	return tw_backlog_add(backlog, dirty);
}

/* Serialised: firmware time and the transfer between host and controller. */
static u64 tw_serve(struct tw_timing *timing, u64 bytes, u32 kib_s, u64 now)
{
	tw_gather_age(timing, now);
	timing->free_ns = rl_max(timing->free_ns, now) +
			  timing->config->controller.command_us * RL_NS_PER_US +
			  rl_transfer_ns(bytes, kib_s);
	return timing->free_ns;
}

static u64 tw_read_member(struct tw_timing *timing, u32 unit, u32 member,
			  const struct tw_extent *extent, u64 start)
{
	u32 number = unit * timing->array.drives + member;

	tw_backlog_catch_up(&timing->backlog[number], start);
	return rl_drive_read(&timing->drive[number], extent->lba, extent->sectors, start);
}

/* Read the data of the missing member: from its copy, or from all other members of its row. */
static u64 tw_read_around(struct tw_timing *timing, u32 unit, const struct tw_extent *extent,
			  u64 start)
{
	u64 done = start;
	u32 i;

	if (extent->mirror != extent->drive)
		return tw_read_member(timing, unit, extent->mirror, extent, start);
	if (extent->parity == extent->drive)
		return start;
	for (i = 0; i < timing->array.drives; i++)
		if (i != extent->drive)
			done = rl_max(done, tw_read_member(timing, unit, i, extent, start));
	return done;
}

/* Stripes that a read touches: the firmware has as many parts to put together. */
static u32 tw_parts(const struct tw_array *array, u64 lba, u32 sectors)
{
	if (tw_array_data_drives(array) == 1)
		return 1;
	return (u32)((lba + sectors - 1) / array->stripe - lba / array->stripe) + 1;
}

u64 tw_timing_read(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now)
{
	const struct tw_controller_config *controller = &timing->config->controller;
	u64 start = tw_serve(timing, sectors * (u64)RL_SECTOR_BYTES, controller->read_kib_s, now);
	u64 done;

	if (controller->gather_reads)
		start = tw_gather_close(timing, start);
	start += (controller->latency_us + (u64)controller->part_us *
		  tw_parts(&timing->array, lba, sectors)) * RL_NS_PER_US;
	done = start;

	while (sectors) {
		struct tw_extent extent = tw_array_map(&timing->array, lba, sectors);

		if (tw_is_missing(&timing->health[unit], extent.drive, extent.lba))
			done = rl_max(done, tw_read_around(timing, unit, &extent, start));
		else
			done = rl_max(done, tw_read_member(timing, unit, extent.drive, &extent,
							   start));
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
	return done;
}

u64 tw_timing_write(struct tw_timing *timing, u32 unit, u64 lba, u32 sectors, u64 now)
{
	u64 done, start;

	start = tw_serve(timing, sectors * (u64)RL_SECTOR_BYTES,
			 timing->config->controller.write_kib_s, now);
	if (timing->config->controller.cache_mib)
		start = tw_make_room(timing, sectors, start);
	done = start;
	while (sectors) {
		struct tw_extent extent = tw_array_map(&timing->array, lba, sectors);
		struct tw_dirty dirty = { extent.lba, start, (u16)extent.sectors,
					  (u16)extent.sectors, 0, false };

		if (extent.parity != extent.drive)
			done = rl_max(done, tw_gather_write(timing, unit, &extent, start));
		else
			done = rl_max(done, tw_write_member(timing, unit, extent.drive, &dirty));
		if (extent.mirror != extent.drive)
			done = rl_max(done, tw_write_member(timing, unit, extent.mirror, &dirty));
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
	if (!timing->config->controller.cache_mib)
		done = rl_max(done, tw_gather_flush(timing, unit, start));
	return done;
}

u64 tw_timing_flush(struct tw_timing *timing, u32 unit, u64 now)
{
	u64 done = tw_serve(timing, 0, timing->config->controller.read_kib_s, now);
	u32 i, number;

	tw_gather_flush(timing, unit, done);
	for (i = 0; i < timing->array.drives; i++) {
		struct tw_backlog *backlog;

		number = unit * timing->array.drives + i;
		backlog = &timing->backlog[number];
		while (backlog->count)
			tw_backlog_do_one(backlog, tw_backlog_begin_ns(backlog));
		if (timing->drive[number].writing)
			done = rl_max(done, timing->drive[number].free_ns);
	}
	return done;
}

u64 tw_timing_other(struct tw_timing *timing, u64 now)
{
	return tw_serve(timing, 0, timing->config->controller.read_kib_s, now);
}

void tw_timing_advance(struct tw_timing *timing, u64 now)
{
	u32 i;

	tw_gather_age(timing, now);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		tw_backlog_catch_up(&timing->backlog[i], now);
}

/* The data of a row, and all of its parity. */
static void tw_lose_row(struct tw_timing *timing, const struct tw_row *row,
			const struct tw_landing *lost)
{
	const struct tw_array *array = &timing->array;
	u64 lba = row->row * array->stripe;
	u32 base = row->unit * array->drives, i;

	for (i = 0; i < tw_array_data_drives(array); i++)
		if (row->from[i] < row->end[i])
			lost->written(lost->context, base + tw_array_member(array, row->row, i),
				      lba + row->from[i], row->end[i] - row->from[i]);
	lost->written(lost->context, base + tw_array_parity(array, row->row), lba, array->stripe);
}

u32 tw_timing_lose_cache(struct tw_timing *timing, const struct tw_landing *lost)
{
	u32 count = timing->nr_rows, i, j;

	for (i = 0; i < timing->nr_rows; i++)
		tw_lose_row(timing, &timing->row[i], lost);
	timing->nr_rows = 0;
	for (i = 0; i < TW_MAX_DRIVES; i++) {
		struct tw_backlog *backlog = &timing->backlog[i];

		for (j = 0; j < backlog->count; j++)
			if (!backlog->entry[j].read)
				lost->written(lost->context, i, backlog->entry[j].lba,
					      backlog->entry[j].sectors);
		count += backlog->count;
		backlog->count = 0;
	}
	timing->dirty_sectors = 0;
	return count;
}

void tw_timing_lose_drive(struct tw_timing *timing, u32 unit, u32 member)
{
	u32 number = unit * timing->array.drives + member, i;
	struct tw_backlog *backlog = &timing->backlog[number];
	u64 free_ns = timing->drive[number].free_ns;

	for (i = 0; i < backlog->count; i++)
		timing->dirty_sectors -= backlog->entry[i].charged;
	backlog->count = 0;
	rl_drive_create(&timing->drive[number], &timing->geometry, number);
	timing->drive[number].free_ns = free_ns;
	if (timing->health[unit].missing != TW_NO_MEMBER) {
		timing->health[unit].also = member;
		return;
	}
	timing->health[unit].missing = member;
	timing->health[unit].rebuilt = 0;
}
