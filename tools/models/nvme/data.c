// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data of a command. PRP 1 is its first page, from some place in it on. PRP 2 is
 * the second page if that is the last, else a list of pages, which may begin
 * within a page; the last entry of a page of the list leads to the next page of
 * it if more than one page of data is left.
 */
#include "model.h"

#define NV_ENTRY_BYTES 8U

static u32 nv_offset(u64 address)
{
	return (u32)(address % NV_PAGE_BYTES);
}

void nv_data_begin(struct nv_data *data, const u8 *command, u64 bytes)
{
	data->prp1 = rl_get64(command + NV_PRP1);
	data->prp2 = rl_get64(command + NV_PRP2);
	data->list = 0;
	data->left = bytes;
	data->begun = false;
	data->bytes = 0;
}

/* An entry of the list, which must be the address of a whole page. */
static u16 nv_list_entry(struct nv_model *model, u64 at, u64 *address)
{
	u8 entry[NV_ENTRY_BYTES];

	if (at % NV_ENTRY_BYTES)
		return NV_BAD_PRP;
	if (!rl_dma_read(&model->device, at, entry, sizeof(entry)))
		return NV_BAD_TRANSFER;
	*address = rl_get64(entry);
	return nv_offset(*address) ? NV_BAD_PRP : NV_GOOD;
}

static u16 nv_listed_page(struct nv_model *model, struct nv_data *data)
{
	u16 status;

	if (!data->list)
		data->list = data->prp2;
	if (data->left > NV_PAGE_BYTES && nv_offset(data->list) == NV_PAGE_BYTES - NV_ENTRY_BYTES) {
		status = nv_list_entry(model, data->list, &data->list);
		if (status)
			return status;
	}
	status = nv_list_entry(model, data->list, &data->address);
	data->list += NV_ENTRY_BYTES;
	return status;
}

static u16 nv_next_page(struct nv_model *model, struct nv_data *data)
{
	u16 status = NV_GOOD;

	if (!data->begun) {
		data->address = data->prp1;
		if (data->address % sizeof(u32))
			status = NV_BAD_PRP;
	} else if (!data->list && data->left <= NV_PAGE_BYTES) {
		data->address = data->prp2;
		if (nv_offset(data->address))
			status = NV_BAD_PRP;
	} else {
		status = nv_listed_page(model, data);
	}
	data->begun = true;
	data->bytes = (u32)rl_min(data->left, NV_PAGE_BYTES - nv_offset(data->address));
	data->left -= data->bytes;
	return status;
}

static bool nv_move(struct nv_model *model, u64 address, void *buffer, u32 bytes,
		    enum nv_direction direction)
{
	switch (direction) {
	case NV_TO_HOST:
		return rl_dma_write(&model->device, address, buffer, bytes);
	case NV_FROM_HOST:
		return rl_dma_read(&model->device, address, buffer, bytes);
	case NV_ZERO_HOST:
		return rl_dma_zero(&model->device, address, bytes);
	}
	return false;
}

u16 nv_data_move(struct nv_model *model, struct nv_data *data, void *buffer, u64 bytes,
		 enum nv_direction direction)
{
	u8 *at = buffer;

	while (bytes) {
		u16 status = data->bytes ? NV_GOOD : nv_next_page(model, data);
		u32 part = (u32)rl_min(bytes, data->bytes);

		if (status)
			return status;
		if (!nv_move(model, data->address, at, part, direction))
			return NV_BAD_TRANSFER;
		if (direction != NV_ZERO_HOST)
			at += part;
		bytes -= part;
		data->address += part;
		data->bytes -= part;
	}
	return NV_GOOD;
}
