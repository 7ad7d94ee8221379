// SPDX-License-Identifier: GPL-2.0-or-later
/* Contents of the drives: redundant units member by member, and platters behind a cache. */
#include "controller.h"

bool tw_has_platters(const struct tw_config *config)
{
	const struct rl_trigger *power = &config->fault.trigger[TW_FAULT_POWER];

	return (power->command || power->ms || power->lba) && config->controller.cache_mib &&
	       !config->controller.battery;
}

static u64 tw_cached(const struct tw_model *model, u32 number, u64 lba)
{
	return number * model->timing.array.drive_sectors + lba;
}

static u64 tw_on_platter(const struct tw_model *model, u32 number, u64 lba)
{
	return model->store.sectors / 2 + tw_cached(model, number, lba);
}

/*
 * Running out of memory is noted by the store, and the next write says so. Its
 * buffer is its own: drives catch up in the middle of other commands.
 */
static void tw_copy_sectors(struct tw_model *model, u64 from, u64 to, u64 sectors)
{
	while (sectors) {
		u32 most = (u32)rl_min(sectors, 1U << 30);
		u32 part = (u32)rl_min(rl_store_zero_run(&model->store, from, most),
				       rl_store_zero_run(&model->store, to, most));

		if (!part) {
			part = (u32)rl_min(sectors, TW_BOUNCE_SECTORS);
			rl_store_read(&model->store, from, part, model->passing);
			rl_store_write(&model->store, to, part, model->passing);
		}
		from += part;
		to += part;
		sectors -= part;
	}
}

void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors)
{
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_cached(model, number, lba), tw_on_platter(model, number, lba),
				sectors);
}

void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors)
{
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_on_platter(model, number, lba), tw_cached(model, number, lba),
				sectors);
}

void tw_platter_erase(struct tw_model *model, u32 number)
{
	/* For commands, this part is erased already. */
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_cached(model, number, 0), tw_on_platter(model, number, 0),
				model->timing.array.drive_sectors);
}

static void tw_written(void *context, u32 number, u64 lba, u32 sectors)
{
	tw_platter_write(context, number, lba, sectors);
}

void tw_platter_attach(struct tw_model *model)
{
	model->volatile_cache = true;
	model->timing.landing.written = tw_written;
	model->timing.landing.context = model;
}

#define TW_WORDS		(RL_SECTOR_BYTES / sizeof(u64))

bool tw_has_members(const struct tw_config *config)
{
	const struct tw_background_config *background = &config->background;
	u32 level = config->array.level;

	if (tw_has_platters(config))
		return true;
	if (level == TW_LEVEL_SINGLE || level == TW_LEVEL_RAID0)
		return false;
	return config->fault.remove_member || config->fault.second_member ||
	       background->initialize || background->verify;
}

static u64 tw_place(const struct tw_model *model, u32 unit, u32 member, u64 lba)
{
	const struct tw_array *array = &model->timing.array;

	return ((u64)unit * array->drives + member) * array->drive_sectors + lba;
}

static void tw_xor(u64 *to, const u64 *from, u32 sectors)
{
	size_t i;

	for (i = 0; i < sectors * TW_WORDS; i++)
		to[i] ^= from[i];
}

/* The expected contents of one member, computed from all members that determine it. */
static void tw_work_out(struct tw_model *model, u32 unit, u32 member, u64 lba, u32 sectors,
			u64 *to)
{
	const struct tw_array *array = &model->timing.array;
	u32 i;

	if (array->level != TW_LEVEL_RAID5) {
		rl_store_read(&model->store, tw_place(model, unit, member ^ 1, lba), sectors, to);
		return;
	}
	rl_fill(to, 0, sectors * RL_SECTOR_BYTES);
	for (i = 0; i < array->drives; i++) {
		if (i == member)
			continue;
		rl_store_read(&model->store, tw_place(model, unit, i, lba), sectors,
			      model->other);
		tw_xor(to, model->other, sectors);
	}
}

static bool tw_usable(const struct tw_model *model, u32 unit, u32 member, u64 lba)
{
	return !tw_is_missing(&model->timing.health[unit], member, lba);
}

static void tw_read_extent(struct tw_model *model, u32 unit, const struct tw_extent *extent,
			   u64 *to)
{
	if (tw_usable(model, unit, extent->drive, extent->lba))
		rl_store_read(&model->store, tw_place(model, unit, extent->drive, extent->lba),
			      extent->sectors, to);
	else
		tw_work_out(model, unit, extent->drive, extent->lba, extent->sectors, to);
}

static bool tw_put(struct tw_model *model, u32 unit, u32 member, const struct tw_extent *extent,
		   const void *data)
{
	if (!tw_usable(model, unit, member, extent->lba))
		return true;
	return rl_store_write(&model->store, tw_place(model, unit, member, extent->lba),
			      extent->sectors, data);
}

/* New parity is old parity, old data and new data together, whichever of them is missing. */
static bool tw_write_parity(struct tw_model *model, u32 unit, const struct tw_extent *extent,
			    const void *data)
{
	if (!tw_usable(model, unit, extent->parity, extent->lba))
		return true;
	tw_read_extent(model, unit, extent, model->old);
	rl_copy(model->other, data, extent->sectors * RL_SECTOR_BYTES);
	tw_xor(model->old, model->other, extent->sectors);
	rl_store_read(&model->store, tw_place(model, unit, extent->parity, extent->lba),
		      extent->sectors, model->other);
	tw_xor(model->old, model->other, extent->sectors);
	return tw_put(model, unit, extent->parity, extent, model->old);
}

void tw_members_read(struct tw_model *model, u64 lba, u32 sectors, void *data)
{
	const struct tw_array *array = &model->timing.array;
	u32 unit = (u32)(lba / array->sectors);
	u8 *to = data;

	for (lba %= array->sectors; sectors;) {
		struct tw_extent extent = tw_array_map(array, lba, sectors);

		tw_read_extent(model, unit, &extent, (u64 *)to);
		to += extent.sectors * RL_SECTOR_BYTES;
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
}

bool tw_members_write(struct tw_model *model, u64 lba, u32 sectors, const void *data)
{
	const struct tw_array *array = &model->timing.array;
	u32 unit = (u32)(lba / array->sectors);
	const u8 *from = data;

	for (lba %= array->sectors; sectors;) {
		struct tw_extent extent = tw_array_map(array, lba, sectors);

		if (extent.parity != extent.drive && !tw_write_parity(model, unit, &extent, from))
			return false;
		if (!tw_put(model, unit, extent.drive, &extent, from))
			return false;
		if (extent.mirror != extent.drive &&
		    !tw_put(model, unit, extent.mirror, &extent, from))
			return false;
		from += extent.sectors * RL_SECTOR_BYTES;
		lba += extent.sectors;
		sectors -= extent.sectors;
	}
	return true;
}

void tw_members_erase(struct tw_model *model, u32 unit, u32 member)
{
	rl_store_zero(&model->store, tw_place(model, unit, member, 0),
		      model->timing.array.drive_sectors);
	tw_platter_erase(model, unit * model->timing.array.drives + member);
}

/* Return: how many sectors from @lba on are zero on all members that have to do with one. */
static u32 tw_all_zero(const struct tw_model *model, u32 unit, u32 member, u64 lba, u32 sectors)
{
	const struct tw_array *array = &model->timing.array;
	u32 i;

	for (i = 0; i < array->drives && sectors; i++)
		if (array->level == TW_LEVEL_RAID5 || i / 2 == member / 2)
			sectors = rl_store_zero_run(&model->store, tw_place(model, unit, i, lba),
						    sectors);
	return sectors;
}

bool tw_members_rebuild(struct tw_model *model, u32 unit, u64 lba, u32 sectors)
{
	u32 member = model->timing.health[unit].missing, part;

	for (; sectors; sectors -= part, lba += part) {
		part = tw_all_zero(model, unit, member, lba, sectors);
		if (part)
			continue;
		part = (u32)rl_min(sectors, TW_BOUNCE_SECTORS);
		tw_work_out(model, unit, member, lba, part, model->old);
		if (!rl_store_write(&model->store, tw_place(model, unit, member, lba), part,
				    model->old))
			return false;
	}
	return true;
}

static u32 tw_differing(const u64 *one, const u64 *other, u32 sectors)
{
	u32 i, j, differing = 0;

	for (i = 0; i < sectors; i++, one += TW_WORDS, other += TW_WORDS) {
		for (j = 0; j < TW_WORDS && one[j] == other[j]; j++)
			;
		differing += j < TW_WORDS;
	}
	return differing;
}

u32 tw_members_verify(struct tw_model *model, u32 unit, u64 lba, u32 sectors)
{
	const struct tw_array *array = &model->timing.array;
	u32 step = array->level == TW_LEVEL_RAID5 ? array->drives : 2, member, differing = 0, part;

	for (; sectors; sectors -= part, lba += part) {
		part = (u32)rl_min(sectors, TW_BOUNCE_SECTORS);
		for (member = 0; member < array->drives; member += step) {
			u32 run = tw_all_zero(model, unit, member, lba, part);

			if (run == part)
				continue;
			tw_work_out(model, unit, member, lba, part, model->old);
			rl_store_read(&model->store, tw_place(model, unit, member, lba), part,
				      model->other);
			differing += tw_differing(model->old, model->other, part);
		}
	}
	return differing;
}
