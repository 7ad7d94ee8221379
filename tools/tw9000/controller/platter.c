// SPDX-License-Identifier: GPL-2.0-or-later
/* What the drives hold, apart from what is still in the write-back cache. */
#include "platter.h"

bool tw_platter_wanted(const struct tw_config *config)
{
	const struct tw_trigger *power = &config->fault.trigger[TW_FAULT_POWER];

	return (power->command || power->ms || power->lba) && config->controller.cache_mib &&
	       !config->controller.battery;
}

static u64 tw_seen(const struct tw_model *model, u32 number, u64 lba)
{
	return number * model->timing.array.drive_sectors + lba;
}

static u64 tw_kept(const struct tw_model *model, u32 number, u64 lba)
{
	return model->store.sectors / 2 + tw_seen(model, number, lba);
}

/*
 * Running out of memory is noted by the store, and the next write says so. Its
 * buffer is its own: drives catch up in the middle of what others are doing.
 */
static void tw_copy_sectors(struct tw_model *model, u64 from, u64 to, u64 sectors)
{
	while (sectors) {
		u32 most = (u32)tw_min(sectors, 1U << 30);
		u32 part = (u32)tw_min(tw_store_zero_run(&model->store, from, most),
				       tw_store_zero_run(&model->store, to, most));

		if (!part) {
			part = (u32)tw_min(sectors, TW_BOUNCE_SECTORS);
			tw_store_read(&model->store, from, part, model->passing);
			tw_store_write(&model->store, to, part, model->passing);
		}
		from += part;
		to += part;
		sectors -= part;
	}
}

void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors)
{
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_seen(model, number, lba), tw_kept(model, number, lba),
				sectors);
}

void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors)
{
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_kept(model, number, lba), tw_seen(model, number, lba),
				sectors);
}

void tw_platter_erase(struct tw_model *model, u32 number)
{
	/* What commands see is erased already. */
	if (model->volatile_cache)
		tw_copy_sectors(model, tw_seen(model, number, 0), tw_kept(model, number, 0),
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
