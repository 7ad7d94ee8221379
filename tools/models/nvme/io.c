// SPDX-License-Identifier: GPL-2.0-or-later
/* I/O commands. Data moves when a command comes; only its completion waits for its time. */
#include "model.h"

#define NV_PAGE_SECTORS	(NV_PAGE_BYTES / RL_SECTOR_BYTES)

/**
 * struct nv_request - an I/O command
 * @command: as the driver gave it
 * @opcode: an enum nv_io_opcode
 * @lba: first sector of 512 bytes; of several ranges that of the first
 * @sectors: how many, of all ranges
 * @ranges: in model->page, if the command has ranges
 */
struct nv_request {
	const u8 *command;
	u8 opcode;
	u64 lba;
	u64 sectors;
	u32 ranges;
};

static u32 nv_block_sectors(const struct nv_model *model)
{
	return model->config.controller.lba_bytes / RL_SECTOR_BYTES;
}

/* Return: whether these blocks exist. */
static bool nv_is_within(const struct nv_model *model, u64 block, u64 blocks)
{
	u64 capacity = model->config.sectors / nv_block_sectors(model);

	return block <= capacity && blocks <= capacity - block;
}

/* READ, WRITE, WRITE ZEROES: one range. */
static u16 nv_check_range(const struct nv_model *model, struct nv_request *request)
{
	const struct nv_controller_config *controller = &model->config.controller;
	u64 block = rl_get64(request->command + NV_CDW10), bytes;
	u32 dword12 = rl_get32(request->command + NV_CDW12), blocks = (dword12 & 0xffff) + 1;

	request->lba = block * nv_block_sectors(model);
	request->sectors = (u64)blocks * nv_block_sectors(model);
	bytes = request->sectors * RL_SECTOR_BYTES;
	if (request->opcode == NV_WRITE && dword12 & NV_RW_DIRECTIVE)
		return NV_BAD_FIELD;
	if (request->opcode != NV_WRITE_ZEROES && controller->max_transfer_kib &&
	    bytes > (u64)controller->max_transfer_kib * 1024)
		return NV_BAD_FIELD;
	return nv_is_within(model, block, blocks) ? NV_GOOD : NV_BAD_LBA;
}

static const u8 *nv_range(const struct nv_model *model, u32 i)
{
	return (const u8 *)model->page + i * NV_RANGE_BYTES;
}

/* DATASET MANAGEMENT: up to 256 ranges, read into model->page. Hints other than "deallocate" change nothing. */
static u16 nv_check_ranges(struct nv_model *model, struct nv_request *request)
{
	u32 count = (rl_get32(request->command + NV_CDW10) & 0xff) + 1, i;
	struct nv_data data;
	u16 status;

	nv_data_begin(&data, request->command, count * NV_RANGE_BYTES);
	status = nv_data_move(model, &data, model->page, count * NV_RANGE_BYTES, NV_FROM_HOST);
	if (status)
		return status;
	request->lba = rl_get64(nv_range(model, 0) + 8) * nv_block_sectors(model);
	for (i = 0; i < count; i++) {
		const u8 *range = nv_range(model, i);
		u32 blocks = rl_get32(range + 4);

		if (!nv_is_within(model, rl_get64(range + 8), blocks))
			return NV_BAD_LBA;
		request->sectors += (u64)blocks * nv_block_sectors(model);
	}
	if (rl_get32(request->command + NV_CDW11) & NV_DSM_DEALLOCATE)
		request->ranges = count;
	return NV_GOOD;
}

static u16 nv_check(struct nv_model *model, struct nv_request *request)
{
	u32 nsid = rl_get32(request->command + NV_COMMAND_NSID);

	switch (request->opcode) {
	case NV_FLUSH:
	case NV_WRITE:
	case NV_READ:
	case NV_WRITE_ZEROES:
	case NV_DATASET:
		break;
	default:
		return NV_BAD_OPCODE;
	}
	if (request->command[NV_FLAGS])
		return NV_BAD_FIELD;	/* fused, or with a scatter-gather list */
	if (nsid != NV_NSID && !(request->opcode == NV_FLUSH && nsid == NV_NSID_ALL))
		return NV_BAD_NAMESPACE;
	if (request->opcode == NV_FLUSH)
		return NV_GOOD;
	return request->opcode == NV_DATASET ? nv_check_ranges(model, request) :
					       nv_check_range(model, request);
}

/* Sectors that are zero move without being looked at. */
static u16 nv_read(struct nv_model *model, const struct nv_request *request)
{
	u32 sectors = (u32)request->sectors, part;
	u64 lba = request->lba;
	struct nv_data data;
	u16 status;

	if (rl_bad_meets(&model->fault.bad, lba, sectors)) {
		model->health.media_errors++;
		return NV_UNREADABLE;
	}
	nv_data_begin(&data, request->command, request->sectors * RL_SECTOR_BYTES);
	for (; sectors; sectors -= part, lba += part) {
		enum nv_direction direction = NV_ZERO_HOST;

		part = rl_store_zero_run(&model->store, lba, sectors);
		if (!part) {
			part = (u32)rl_min(sectors, NV_PAGE_SECTORS);
			rl_store_read(&model->store, lba, part, model->page);
			direction = NV_TO_HOST;
		}
		status = nv_data_move(model, &data, model->page, (u64)part * RL_SECTOR_BYTES,
				      direction);
		if (status)
			return status;
	}
	model->health.reads++;
	model->health.sectors_read += request->sectors;
	return NV_GOOD;
}

static u16 nv_full(struct nv_model *model)
{
	model->device.ops->report(model->device.host, "store exhausted: raise store_mib of the profile");
	return NV_INTERNAL;
}

static u16 nv_write(struct nv_model *model, const struct nv_request *request)
{
	u32 sectors = (u32)request->sectors, part;
	u64 lba = request->lba;
	struct nv_data data;
	u16 status;

	nv_data_begin(&data, request->command, request->sectors * RL_SECTOR_BYTES);
	for (; sectors; sectors -= part, lba += part) {
		part = (u32)rl_min(sectors, NV_PAGE_SECTORS);
		status = nv_data_move(model, &data, model->page, (u64)part * RL_SECTOR_BYTES,
				      NV_FROM_HOST);
		if (status)
			return status;
		if (!rl_store_write(&model->store, lba, part, model->page))
			return nv_full(model);
		rl_bad_mend(&model->fault.bad, lba, part);
	}
	model->health.writes++;
	model->health.sectors_written += request->sectors;
	return NV_GOOD;
}

static void nv_zero(struct nv_model *model, u64 lba, u64 sectors)
{
	rl_store_zero(&model->store, lba, sectors);
	rl_bad_mend(&model->fault.bad, lba, sectors);
}

static u16 nv_deallocate(struct nv_model *model, const struct nv_request *request)
{
	u32 i;

	for (i = 0; i < request->ranges; i++) {
		const u8 *range = nv_range(model, i);

		nv_zero(model, rl_get64(range + 8) * nv_block_sectors(model),
			(u64)rl_get32(range + 4) * nv_block_sectors(model));
	}
	return NV_GOOD;
}

static u16 nv_execute(struct nv_model *model, const struct nv_request *request)
{
	switch (request->opcode) {
	case NV_READ:
		return nv_read(model, request);
	case NV_WRITE:
		return nv_write(model, request);
	case NV_WRITE_ZEROES:
		nv_zero(model, request->lba, request->sectors);
		break;
	case NV_DATASET:
		return nv_deallocate(model, request);
	}
	return NV_GOOD;
}

static u32 nv_log_io(struct nv_model *model, const struct nv_request *request, u16 depth, u64 now)
{
	const struct rl_log_entry entry = {
		.lba = request->lba, .sectors = (u32)rl_min(request->sectors, 0xffffffffU),
		.arrival_ns = now, .depth = depth,
		.request_id = rl_get16(request->command + NV_COMMAND_ID), .opcode = request->opcode,
	};

	return rl_log_add(&model->device.log, &entry);
}

void nv_io(struct nv_model *model, struct nv_slot *slot, const u8 *command, u64 now)
{
	struct nv_request request = { .command = command, .opcode = command[NV_OPCODE] };
	u16 status = nv_check(model, &request);
	bool is_transfer = request.opcode == NV_READ || request.opcode == NV_WRITE;
	bool through = rl_get32(command + NV_CDW12) & NV_RW_FUA;
	enum nv_fate fate = NV_FATE_NONE;
	u32 sectors = !status && is_transfer ? (u32)request.sectors : 0;
	u64 due;

	slot->log = nv_log_io(model, &request, (u16)(model->depth - 1), now);
	if (sectors)
		fate = nv_fault_strike(model, request.lba, sectors);
	if (fate == NV_FATE_FORGOTTEN)
		return;
	if (fate == NV_FATE_LOST) {
		slot->state = NV_SLOT_LOST;
		rl_log_finish(&model->device.log, slot->log, RL_LOG_LOST, now);
		return;
	}
	if (!status)
		status = nv_execute(model, &request);
	due = nv_timing_due(model, request.opcode, request.lba, sectors, through, now);
	nv_queue_finish(model, slot, due, status, 0);
}

void nv_io_drop(struct nv_model *model, const u8 *command, u64 now)
{
	struct nv_request request = { .command = command, .opcode = command[NV_OPCODE] };

	nv_check(model, &request);
	rl_log_finish(&model->device.log, nv_log_io(model, &request, 0, now), RL_LOG_RESET, now);
}
