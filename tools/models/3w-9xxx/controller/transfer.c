// SPDX-License-Identifier: GPL-2.0-or-later
/* Data between the store and the scatter-gather list of a command. */
#include "controller.h"

enum tw_direction { TW_TO_HOST, TW_FROM_HOST, TW_ZERO_HOST };

u16 tw_sg_check(const struct tw_sg_list *list, u64 bytes)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < list->count; i++) {
		if (!tw_get32(list->entry[i].length))
			return TW_ERROR_SG_ZERO;
		if (tw_get64(list->entry[i].address) % TW_SG_ALIGNMENT)
			return TW_ERROR_SG_UNALIGNED;
		total += tw_get32(list->entry[i].length);
	}
	return total < bytes ? TW_ERROR_SG_SIZE : TW_ERROR_NONE;
}

static bool tw_move(struct tw_model *model, u64 address, u8 *data, u32 bytes,
		    enum tw_direction direction)
{
	switch (direction) {
	case TW_TO_HOST:
		return rl_dma_write(&model->device, address, data, bytes);
	case TW_FROM_HOST:
		return rl_dma_read(&model->device, address, data, bytes);
	case TW_ZERO_HOST:
		return rl_dma_zero(&model->device, address, bytes);
	}
	return false;
}

/* The next @bytes of the list; tw_sg_check() has checked that they exist. */
static bool tw_walk(struct tw_model *model, struct tw_sg_list *list, u8 *data, u64 bytes,
		    enum tw_direction direction)
{
	while (bytes) {
		const struct tw_sg_entry *entry = &list->entry[list->at];
		u32 part = (u32)rl_min(bytes, tw_get32(entry->length) - list->offset);

		if (!tw_move(model, tw_get64(entry->address) + list->offset, data, part, direction))
			return false;
		if (direction != TW_ZERO_HOST)
			data += part;
		bytes -= part;
		list->offset += part;
		if (list->offset == tw_get32(entry->length)) {
			list->at++;
			list->offset = 0;
		}
	}
	return true;
}

bool tw_transfer_answer(struct tw_model *model, struct tw_sg_list *list, const void *data,
			u32 bytes)
{
	u8 *bounce = (u8 *)model->bounce;

	rl_copy(bounce, data, bytes);
	return tw_walk(model, list, bounce, bytes, TW_TO_HOST);
}

bool tw_transfer_read(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors)
{
	u8 *bounce = (u8 *)model->bounce;
	enum tw_direction direction;
	u32 part;

	while (sectors) {
		part = model->by_member ? 0 : rl_store_zero_run(&model->store, lba, sectors);
		direction = TW_ZERO_HOST;
		if (!part) {
			part = (u32)rl_min(sectors, TW_BOUNCE_SECTORS);
			if (model->by_member)
				tw_members_read(model, lba, part, bounce);
			else
				rl_store_read(&model->store, lba, part, bounce);
			direction = TW_TO_HOST;
		}
		if (!tw_walk(model, list, bounce, (u64)part * RL_SECTOR_BYTES, direction))
			return false;
		lba += part;
		sectors -= part;
	}
	return true;
}

static bool tw_keep(struct tw_model *model, u64 lba, u32 sectors, const void *data)
{
	if (model->by_member)
		return tw_members_write(model, lba, sectors, data);
	return rl_store_write(&model->store, lba, sectors, data);
}

bool tw_transfer_write(struct tw_model *model, struct tw_sg_list *list, u64 lba, u32 sectors)
{
	u8 *bounce = (u8 *)model->bounce;
	u32 part;

	while (sectors) {
		part = (u32)rl_min(sectors, TW_BOUNCE_SECTORS);
		if (!tw_walk(model, list, bounce, part * RL_SECTOR_BYTES, TW_FROM_HOST) ||
		    !tw_keep(model, lba, part, bounce))
			return false;
		lba += part;
		sectors -= part;
	}
	return true;
}
