// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests: data between the store and the driver's memory, time, faults. */
#include "virtio.h"

static void vb_strike(struct vb_model *model, enum vb_fault_kind kind, u64 lba)
{
	const struct vb_fault_config *config = &model->config.fault;

	switch (kind) {
	case VB_FAULT_LOSE:
		model->lose_next = true;
		break;
	case VB_FAULT_MEDIUM:
		model->bad.lba = config->medium_lba ? config->medium_lba : lba;
		model->bad.sectors = config->medium_sectors;
		break;
	case VB_FAULT_SLOW:
		model->slow = config->slow_factor;
		break;
	case VB_FAULTS:
		break;
	}
}

void vb_fault_create(struct vb_model *model)
{
	const struct vb_fault_config *config = &model->config.fault;
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < VB_FAULTS; i++)
		rl_trigger_arm(&model->armed[i], &config->trigger[i], now);
	/* Bad sectors without a trigger are bad from the start. */
	if (config->medium_lba && !config->trigger[VB_FAULT_MEDIUM].command &&
	    !config->trigger[VB_FAULT_MEDIUM].ms)
		vb_strike(model, VB_FAULT_MEDIUM, 0);
}

void vb_fault_advance(struct vb_model *model, u64 now)
{
	u32 i;

	for (i = 0; i < VB_FAULTS; i++)
		if (rl_trigger_is_due(&model->armed[i], now))
			vb_strike(model, i, 0);
}

u64 vb_fault_wake_ns(const struct vb_model *model)
{
	return rl_trigger_wake_ns(model->armed, VB_FAULTS);
}

/* Bytes of the segments between the header and the status. */
static u64 vb_data_bytes(const struct vb_model *model)
{
	u64 bytes = 0;
	u32 i;

	for (i = 1; i < model->segments - 1; i++)
		bytes += model->segment[i].bytes;
	return bytes;
}

/* Move data of a segment, which is a part of a request, from or to sector @lba on. */
static bool vb_move(struct vb_model *model, const struct vb_segment *segment, u64 lba)
{
	u64 address = segment->address;
	u32 left = segment->bytes / RL_SECTOR_BYTES, part;
	bool good = true;

	for (; left && good; left -= part, lba += part, address += part * RL_SECTOR_BYTES) {
		part = segment->write ? rl_store_zero_run(&model->store, lba, left) : 0;
		if (part) {
			good = rl_dma_zero(&model->device, address, part * RL_SECTOR_BYTES);
			continue;
		}
		part = (u32)rl_min(left, VB_BOUNCE_SECTORS);
		if (segment->write) {
			rl_store_read(&model->store, lba, part, model->bounce);
			good = rl_dma_write(&model->device, address, model->bounce,
					    part * RL_SECTOR_BYTES);
		} else {
			good = rl_dma_read(&model->device, address, model->bounce,
					   part * RL_SECTOR_BYTES) &&
			       rl_store_write(&model->store, lba, part, model->bounce);
		}
	}
	return good;
}

/* Return: the status of a read or write, or VB_UNREACHABLE. */
#define VB_UNREACHABLE	0xff
static u8 vb_transfer(struct vb_model *model, struct vb_request *request, bool write, u64 lba)
{
	u64 bytes = vb_data_bytes(model), sectors = bytes / RL_SECTOR_BYTES, at = lba;
	u32 i;

	if (bytes % RL_SECTOR_BYTES || lba > model->config.sectors ||
	    sectors > model->config.sectors - lba)
		return VB_S_ERROR;
	if (!write && rl_bad_meets(&model->bad, lba, (u32)sectors))
		return VB_S_ERROR;
	for (i = 1; i < model->segments - 1; i++) {
		const struct vb_segment *segment = &model->segment[i];

		/* Segments of whole sectors are what Linux sends; a driver need not. */
		if (segment->write == write || segment->bytes % RL_SECTOR_BYTES)
			return VB_S_ERROR;
		if (!vb_move(model, segment, at)) {
			if (!model->store.exhausted)
				return VB_UNREACHABLE;
			model->device.ops->report(model->device.host,
						  "store exhausted: raise store_mib of the profile");
			return VB_S_ERROR;
		}
		at += segment->bytes / RL_SECTOR_BYTES;
		if (segment->write)
			request->written += segment->bytes;
	}
	if (write)
		rl_bad_mend(&model->bad, lba, (u32)sectors);
	return VB_S_OK;
}

/* Ranges to be discarded or filled with zeros: one of 16 bytes, as the device asks for. */
static u8 vb_ranges(struct vb_model *model, u64 *lba, u32 *sectors)
{
	const struct vb_segment *segment = &model->segment[1];
	u8 range[VB_RANGE_BYTES];

	if (model->segments != 3 || segment->write || segment->bytes != sizeof(range))
		return VB_S_ERROR;
	if (!rl_dma_read(&model->device, segment->address, range, sizeof(range)))
		return VB_UNREACHABLE;
	*lba = rl_get64(range);
	*sectors = rl_get32(range + 8);
	if (*lba > model->config.sectors || *sectors > model->config.sectors - *lba)
		return VB_S_ERROR;
	rl_bad_mend(&model->bad, *lba, *sectors);
	rl_store_zero(&model->store, *lba, *sectors);
	return VB_S_OK;
}

static u8 vb_get_id(struct vb_model *model, struct vb_request *request)
{
	const struct vb_segment *segment = &model->segment[1];
	char id[VB_ID_BYTES + 1] = "";
	u32 bytes;

	if (model->segments != 3 || !segment->write)
		return VB_S_ERROR;
	for (bytes = 0; bytes < VB_ID_BYTES && model->config.base.name[bytes]; bytes++)
		id[bytes] = model->config.base.name[bytes];
	bytes = (u32)rl_min(segment->bytes, VB_ID_BYTES);
	if (!rl_dma_write(&model->device, segment->address, id, bytes))
		return VB_UNREACHABLE;
	request->written += bytes;
	return VB_S_OK;
}

/* Return: when a request of this many bytes is done; limits are for reads and writes. */
static u64 vb_due(struct vb_model *model, u32 type, u64 bytes, u64 now)
{
	u64 end = now;

	if (bytes && (type == VB_T_IN || type == VB_T_OUT)) {
		end = rl_bucket_admit(&model->iops, &model->bytes, bytes, now);
		end = rl_bucket_pour(&model->link, end, bytes);
	} else if (type == VB_T_FLUSH) {
		end += model->config.flush_ns;
	}
	return now + (end + model->config.latency_ns - now) * model->slow;
}

static void vb_note(struct vb_model *model, struct vb_request *request, u32 type, u64 lba, u64 sectors,
		    u64 now)
{
	struct rl_log_entry entry = {
		.lba = lba, .sectors = (u32)sectors, .arrival_ns = now, .request_id = request->head,
		.opcode = (u8)type, .unit = type == VB_T_GET_ID ? RL_LOG_ADMIN : 0,
		.status = RL_LOG_RUNNING, .depth = (u16)model->running,
	};

	request->log = rl_log_add(&model->device.log, &entry);
}

static u8 vb_carry_out(struct vb_model *model, struct vb_request *request, u32 type, u64 *lba,
		       u32 *sectors)
{
	switch (type) {
	case VB_T_IN:
	case VB_T_OUT:
		*sectors = (u32)(vb_data_bytes(model) / RL_SECTOR_BYTES);
		return vb_transfer(model, request, type == VB_T_OUT, *lba);
	case VB_T_FLUSH:
		*lba = 0;
		return VB_S_OK;
	case VB_T_DISCARD:
	case VB_T_WRITE_ZEROES:
		return model->config.discard ? vb_ranges(model, lba, sectors) : VB_S_UNSUPPORTED;
	case VB_T_GET_ID:
		*lba = 0;
		return vb_get_id(model, request);
	}
	*lba = 0;
	return VB_S_UNSUPPORTED;
}

/* A read or write has come: faults by number and by place. */
static void vb_fault_transfer(struct vb_model *model, u64 lba, u64 sectors)
{
	u32 i;

	model->nr_transfers++;
	for (i = 0; i < VB_FAULTS; i++)
		if (rl_trigger_strikes(&model->armed[i], &model->config.fault.trigger[i],
				       model->nr_transfers, lba, (u32)sectors))
			vb_strike(model, i, lba);
}

void vb_request_begin(struct vb_model *model, struct vb_request *request, u64 now)
{
	const struct vb_segment *last = &model->segment[model->segments - 1];
	u8 header[VB_REQUEST_BYTES];
	u32 type, sectors = 0;
	u64 lba;

	/* The header comes first, the status last. */
	if (model->segments < 2 || model->segment[0].write || !last->write || !last->bytes ||
	    model->segment[0].bytes != sizeof(header) ||
	    !rl_dma_read(&model->device, model->segment[0].address, header, sizeof(header)))
		return;
	type = rl_get32(header);
	lba = rl_get64(header + 8);
	if (type == VB_T_IN || type == VB_T_OUT)
		vb_fault_transfer(model, lba, vb_data_bytes(model) / RL_SECTOR_BYTES);
	request->written = 1;
	request->status_at = last->address + last->bytes - 1;
	request->status = vb_carry_out(model, request, type, &lba, &sectors);
	if (request->status == VB_UNREACHABLE)
		return;
	vb_note(model, request, type, lba, sectors, now);
	request->state = VB_RUNNING;
	request->due_ns = vb_due(model, type, (u64)sectors * RL_SECTOR_BYTES, now);
	if (model->lose_next && (type == VB_T_IN || type == VB_T_OUT)) {
		model->lose_next = false;
		request->state = VB_LOST;
		rl_log_finish(&model->device.log, request->log, RL_LOG_LOST, now);
	}
}

const char *vb_request_name(const struct rl_log_entry *entry)
{
	switch (entry->opcode) {
	case VB_T_IN:
		return "READ";
	case VB_T_OUT:
		return "WRITE";
	case VB_T_FLUSH:
		return "FLUSH";
	case VB_T_GET_ID:
		return "GET_ID";
	case VB_T_DISCARD:
		return "DISCARD";
	case VB_T_WRITE_ZEROES:
		return "WRITE_ZEROES";
	}
	return "OTHER";
}
