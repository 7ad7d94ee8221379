// SPDX-License-Identifier: GPL-2.0-or-later
/* EXECUTE_SCSI: what a CDB asks of a unit is done. */
#include "controller.h"

#define TW_MAX_TRANSFER		0x10000U	/* sectors; the driver sends 256 at most */

/* The oldest event, or "queue empty", as a header in the host's buffer. */
static u32 tw_next_event(struct tw_model *model, struct tw_header *header)
{
	u32 i;

	rl_fill(header, 0, sizeof(*header));
	header->error = tw_put16(TW_AEN_EMPTY);
	header->severity = TW_SEVERITY_INFO;
	if (!model->nr_events)
		return sizeof(*header);
	header->error = tw_put16(model->event[0].code);
	header->severity = model->event[0].severity;
	model->nr_events--;
	for (i = 0; i < model->nr_events; i++)
		model->event[i] = model->event[i + 1];
	return sizeof(*header);
}

/* Tell the driver how much of a single buffer was filled; it computes the residue. */
static void tw_write_length(struct tw_model *model, struct tw_post *post,
			    const struct tw_sg_list *list, u32 bytes)
{
	struct tw_le32 length = tw_put32(bytes);

	if (list->count == 1 &&
	    !rl_dma_write(&model->device, post->address + TW_EXECUTE_SCSI_BYTES +
			  offsetof(struct tw_sg_entry, length), &length, sizeof(length)))
		tw_fail_memory(post);
}

static void tw_send(struct tw_model *model, struct tw_post *post, struct tw_sg_list *list,
		    const void *data, u32 bytes)
{
	u64 room = 0;
	u32 i;

	for (i = 0; i < list->count; i++)
		room += tw_get32(list->entry[i].length);
	bytes = (u32)rl_min(bytes, room);
	if (!tw_transfer_answer(model, list, data, bytes))
		tw_fail_memory(post);
	else
		tw_write_length(model, post, list, bytes);
}

static void tw_fail_write(struct tw_model *model, struct tw_post *post)
{
	if (!model->store.exhausted) {
		tw_fail_memory(post);
		return;
	}
	tw_fail(post, TW_ERROR_MEDIUM, TW_SENSE_MEDIUM, TW_ASC_WRITE_ERROR);
	model->device.ops->report(model->device.host, "store exhausted: raise store_mib of the profile");
}

/* The host receives the sectors before the first bad one, and the address of that one. */
static void tw_read_sectors(struct tw_model *model, struct tw_post *post,
			    struct tw_sg_list *list, u64 lba, const struct tw_scsi_result *result)
{
	u32 good = tw_fault_read(model, post->entry.unit, result->lba, result->sectors);

	if (!tw_transfer_read(model, list, lba, good)) {
		tw_fail_memory(post);
		return;
	}
	tw_write_length(model, post, list, good * RL_SECTOR_BYTES);
	post->due = tw_timing_read(&model->timing, post->entry.unit, result->lba, result->sectors,
				   post->now);
	if (good < result->sectors) {
		tw_fail(post, TW_ERROR_MEDIUM, TW_SENSE_MEDIUM, TW_ASC_READ_ERROR);
		post->failure.bad_lba = result->lba + good;
	}
}

/* READ and WRITE: move the data now, and work out when they will have been moved. */
static void tw_transfer_sectors(struct tw_model *model, struct tw_post *post,
				struct tw_sg_list *list, const struct tw_scsi_result *result)
{
	u64 lba = post->entry.unit * model->timing.array.sectors + result->lba;
	u16 error;

	post->entry.lba = result->lba;
	post->entry.sectors = result->sectors;
	error = result->sectors > TW_MAX_TRANSFER ? TW_ERROR_TOO_LARGE :
		tw_sg_check(list, (u64)result->sectors * RL_SECTOR_BYTES);
	if (error) {
		tw_fail(post, error, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	if (!result->sectors)
		return;
	if (result->action == TW_SCSI_WRITE) {
		/* Data that the drives have written by now is the old data. */
		if (model->volatile_cache)
			tw_timing_advance(&model->timing, post->now);
		if (!tw_transfer_write(model, list, lba, result->sectors)) {
			tw_fail_write(model, post);
			return;
		}
		tw_fault_write(model, post->entry.unit, result->lba, result->sectors);
		post->due = tw_timing_write(&model->timing, post->entry.unit, result->lba,
					    result->sectors, post->now);
		return;
	}
	tw_read_sectors(model, post, list, lba, result);
}

static void tw_perform(struct tw_model *model, struct tw_post *post, struct tw_sg_list *list,
		       const struct tw_scsi_result *result)
{
	struct tw_header event;

	switch (result->action) {
	case TW_SCSI_DONE:
		break;
	case TW_SCSI_DATA:
		tw_send(model, post, list, result->data, result->length);
		break;
	case TW_SCSI_EVENT:
		tw_send(model, post, list, &event, tw_next_event(model, &event));
		break;
	case TW_SCSI_FLUSH:
		post->due = tw_timing_flush(&model->timing, post->entry.unit, post->now);
		break;
	case TW_SCSI_READ:
	case TW_SCSI_WRITE:
		tw_transfer_sectors(model, post, list, result);
		break;
	}
}

/* Return: what becomes of a READ or WRITE; anything else is spared. */
static enum tw_fate tw_fate_of(struct tw_model *model, const struct tw_post *post,
			       const struct tw_scsi_result *result)
{
	if (result->error ||
	    (result->action != TW_SCSI_READ && result->action != TW_SCSI_WRITE))
		return TW_FATE_NONE;
	return tw_fault_strike(model, post->entry.unit, result->lba, result->sectors, post->now);
}

static bool tw_is_offline(const struct tw_model *model, const struct tw_post *post)
{
	return post->entry.unit < model->config.array.units &&
	       model->fault.offline[post->entry.unit];
}

bool tw_execute_scsi(struct tw_model *model, struct tw_post *post)
{
	struct tw_execute_scsi packet;
	struct tw_scsi_unit unit = { &model->config, 0, model->timing.array.sectors };
	struct tw_scsi_result result;
	struct tw_sg_list list = { .count = 0 };
	u32 lun;

	rl_copy(&packet, &post->packet, TW_EXECUTE_SCSI_BYTES);
	lun = tw_get16(packet.request_id_lun) >> 12 | (tw_get16(packet.sg_count_lun) >> 12) << 4;
	unit.number = packet.unit;
	list.count = tw_get16(packet.sg_count_lun) & TW_SG_COUNT_MASK;
	tw_scsi_decode(packet.unit < model->config.array.units ? &unit : NULL, lun, packet.cdb,
		       &result);
	if (result.action != TW_SCSI_EVENT) {
		post->entry.opcode = packet.cdb[0];
		post->entry.unit = packet.unit;
	}
	if (post->entry.unit < model->config.array.units)
		post->entry.depth = (u16)model->depth[packet.unit];
	post->fate = tw_fate_of(model, post, &result);
	if (post->fate != TW_FATE_NONE) {
		post->entry.lba = result.lba;
		post->entry.sectors = result.sectors;
		return false;
	}
	if (tw_is_offline(model, post))
		tw_fail(post, TW_ERROR_UNIT_OFFLINE, TW_SENSE_NOT_READY, TW_ASC_NOT_READY);
	else if (list.count > TW_SG_MAX)
		tw_fail(post, TW_ERROR_SG_COUNT, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
	else if (result.error)
		tw_fail(post, result.error, result.key, result.asc);
	else if (list.count && !rl_dma_read(&model->device,
					    post->address + TW_EXECUTE_SCSI_BYTES,
					    list.entry,
					    list.count * (u32)sizeof(list.entry[0])))
		tw_fail_memory(post);
	else
		tw_perform(model, post, &list, &result);
	return true;
}
