// SPDX-License-Identifier: GPL-2.0-or-later
/* Command packets: checked, carried out, answered. */
#include "command.h"
#include "fault.h"
#include "queue.h"
#include "scsi.h"
#include "transfer.h"

#define TW_MAX_TRANSFER		0x10000U	/* sectors; the driver sends 256 at most */

/* Why a command failed, in the firmware's terms and in SCSI's; @bad_lba with a READ ERROR. */
struct tw_failure {
	u16 error;
	u8 key;
	u8 asc;
	u64 bad_lba;
};

/**
 * struct tw_post - one packet on its way through
 * @address: of the packet
 * @packet: its first bytes
 * @now: when it was posted
 * @due: when its response is due
 * @entry: its log entry in the making
 * @failure: with error TW_ERROR_NONE if it did not fail
 * @fate: of a READ or WRITE that a fault has struck
 */
struct tw_post {
	u64 address;
	union {
		struct tw_init_connection init;
		struct tw_param_command param;
		u8 byte[TW_EXECUTE_SCSI_BYTES];
	} packet;
	u64 now;
	u64 due;
	struct tw_log_entry entry;
	struct tw_failure failure;
	enum tw_fate fate;
};

static void tw_fail(struct tw_post *post, u16 error, u8 key, u8 asc)
{
	post->failure.error = error;
	post->failure.key = key;
	post->failure.asc = asc;
}

static void tw_fail_memory(struct tw_post *post)
{
	tw_fail(post, TW_ERROR_PCI_ABORT, TW_SENSE_HARDWARE, 0);
}

/* No response can say what is wrong with this packet: the status register does. */
static void tw_refuse_packet(struct tw_model *model, u32 error)
{
	model->errors |= error;
	model->nr_refused++;
}

/* Sense data and error number go into the header, a status into the packet. */
static void tw_write_failure(struct tw_model *model, const struct tw_post *post)
{
	struct tw_header header;
	u8 status = 1;		/* the driver doubles it: CHECK CONDITION */
	u32 i;

	tw_fill(&header, 0, sizeof(header));
	header.sense[0] = 0x70;
	header.sense[2] = post->failure.key;
	header.sense[7] = 10;
	header.sense[12] = post->failure.asc;
	if (post->failure.asc == TW_ASC_NOT_READY)
		header.sense[13] = 3;	/* manual intervention required */
	/* The information field has room for 32 bits; not valid beyond. */
	if (post->failure.asc == TW_ASC_READ_ERROR && post->failure.bad_lba <= 0xffffffffU) {
		header.sense[0] |= 0x80;
		for (i = 0; i < 4; i++)
			header.sense[3 + i] = (u8)(post->failure.bad_lba >> (24 - 8 * i));
	}
	header.error = tw_put16(post->failure.error);
	header.severity = TW_SEVERITY_ERROR;
	header.size_header = sizeof(header);
	header.size_sense = sizeof(header.sense);
	if (!model->ops->dma_write(model->host, post->address - sizeof(header), &header,
				   sizeof(header)) ||
	    !model->ops->dma_write(model->host,
				   post->address + offsetof(struct tw_execute_scsi, status),
				   &status, sizeof(status)))
		model->errors |= TW_STATUS_PCI_ABORT;
}

static void tw_init_connection(struct tw_model *model, struct tw_post *post)
{
	struct tw_init_connection *init = &post->packet.init;
	u16 srl = tw_get16(init->srl);

	if (!(tw_get32(init->features) & TW_INIT_64BIT)) {
		tw_fail(post, TW_ERROR_CDB_FIELD, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	if (!(tw_get32(init->features) & TW_INIT_EXTENDED))
		return;
	init->result = tw_put32(srl >= TW_SRL_BASE && tw_get16(init->arch) == TW_ARCH_9000 ?
				TW_INIT_COMPATIBLE : 0);
	init->srl = tw_put16((u16)tw_min(srl, model->config.controller.srl));
	init->arch = tw_put16(TW_ARCH_9000);
	if (!model->ops->dma_write(model->host, post->address, init, sizeof(*init)))
		tw_fail_memory(post);
}

/* Return: bytes of the parameter's value put into @param, or 0 and the failure noted. */
static u32 tw_find_param(const struct tw_model *model, struct tw_post *post,
			 struct tw_param *param)
{
	const struct tw_controller_config *controller = &model->config.controller;
	u16 table = tw_get16(param->table) & TW_TABLE_MASK, index = tw_get16(param->index);

	if (table == TW_TABLE_VERSION && index == TW_PARAM_FIRMWARE) {
		tw_copy(param->data, controller->firmware, 16);
		return 16;
	}
	if (table == TW_TABLE_VERSION && index == TW_PARAM_BIOS) {
		tw_copy(param->data, controller->bios, 16);
		return 16;
	}
	if (table == TW_TABLE_INFORMATION && index == TW_PARAM_PORTS) {
		param->data[0] = (u8)controller->ports;
		return 1;
	}
	tw_fail(post, table == TW_TABLE_VERSION || table == TW_TABLE_INFORMATION ?
		TW_ERROR_PARAM_INDEX : TW_ERROR_PARAM_TABLE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
	return 0;
}

static void tw_get_param(struct tw_model *model, struct tw_post *post)
{
	u64 address = tw_get64(post->packet.param.sg.address);
	u32 room = tw_get32(post->packet.param.sg.length), bytes;
	struct tw_param param;

	if (post->packet.param.opcode >> 5 != 2 || room < offsetof(struct tw_param, data)) {
		tw_fail(post, TW_ERROR_SG_SIZE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	if (!model->ops->dma_read(model->host, address, &param, offsetof(struct tw_param, data))) {
		tw_fail_memory(post);
		return;
	}
	bytes = tw_find_param(model, post, &param);
	if (!bytes)
		return;
	if (tw_get16(param.size_bytes) != bytes || room < offsetof(struct tw_param, data) + bytes) {
		tw_fail(post, TW_ERROR_PARAM_SIZE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	param.actual_size_bytes = tw_put16((u16)bytes);
	if (!model->ops->dma_write(model->host, address, &param,
				   (u32)offsetof(struct tw_param, data) + bytes))
		tw_fail_memory(post);
}

/* The driver sets the firmware's clock; the model has no use for it. */
static void tw_set_param(struct tw_model *model, struct tw_post *post)
{
	struct tw_param param;

	if (post->packet.param.opcode >> 5 != 2 ||
	    tw_get32(post->packet.param.sg.length) < offsetof(struct tw_param, data))
		tw_fail(post, TW_ERROR_SG_SIZE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
	else if (!model->ops->dma_read(model->host, tw_get64(post->packet.param.sg.address), &param,
				       offsetof(struct tw_param, data)))
		tw_fail_memory(post);
	else if ((tw_get16(param.table) & TW_TABLE_MASK) != TW_TABLE_TIMEKEEP)
		tw_fail(post, TW_ERROR_PARAM_TABLE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
}

/* The oldest event, or "queue empty", as a header in the host's buffer. */
static u32 tw_next_event(struct tw_model *model, struct tw_header *header)
{
	u32 i;

	tw_fill(header, 0, sizeof(*header));
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
	    !model->ops->dma_write(model->host, post->address + TW_EXECUTE_SCSI_BYTES +
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
	bytes = (u32)tw_min(bytes, room);
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
	model->ops->report(model->host, "store exhausted: raise store_mib of the profile");
}

/* Sectors before the first bad one are good: the host is given them, and told where that is. */
static void tw_read_sectors(struct tw_model *model, struct tw_post *post,
			    struct tw_sg_list *list, u64 lba, const struct tw_scsi_result *result)
{
	u32 good = tw_fault_read(model, post->entry.unit, result->lba, result->sectors);

	if (!tw_transfer_read(model, list, lba, good)) {
		tw_fail_memory(post);
		return;
	}
	tw_write_length(model, post, list, good * TW_SECTOR_BYTES);
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
		tw_sg_check(list, (u64)result->sectors * TW_SECTOR_BYTES);
	if (error) {
		tw_fail(post, error, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	if (!result->sectors)
		return;
	if (result->action == TW_SCSI_WRITE) {
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

/* Return: false if it vanishes, and its fate says how. */
static bool tw_execute_scsi(struct tw_model *model, struct tw_post *post)
{
	struct tw_execute_scsi packet;
	struct tw_scsi_unit unit = { &model->config, 0, model->timing.array.sectors };
	struct tw_scsi_result result;
	struct tw_sg_list list = { .count = 0 };
	u32 lun;

	tw_copy(&packet, &post->packet, TW_EXECUTE_SCSI_BYTES);
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
	else if (list.count && !model->ops->dma_read(model->host,
						     post->address + TW_EXECUTE_SCSI_BYTES,
						     list.entry,
						     list.count * (u32)sizeof(list.entry[0])))
		tw_fail_memory(post);
	else
		tw_perform(model, post, &list, &result);
	return true;
}

/* Return: false if the command vanishes. */
static bool tw_execute(struct tw_model *model, struct tw_post *post)
{
	switch (post->packet.byte[0] & TW_OPCODE_MASK) {
	case TW_OP_EXECUTE_SCSI:
		return tw_execute_scsi(model, post);
	case TW_OP_INIT_CONNECTION:
		tw_init_connection(model, post);
		return true;
	case TW_OP_GET_PARAM:
		tw_get_param(model, post);
		return true;
	case TW_OP_SET_PARAM:
		tw_set_param(model, post);
		return true;
	}
	tw_fail(post, TW_ERROR_OPCODE, TW_SENSE_ILLEGAL, TW_ASC_OPCODE);
	return true;
}

/* A command that went with the controller's own reset leaves nothing but its log entry. */
static void tw_forget(struct tw_model *model, struct tw_post *post)
{
	post->entry.status = TW_LOG_RESET;
	tw_log_add(&model->log, &post->entry);
}

static void tw_admit(struct tw_model *model, struct tw_post *post, struct tw_request *request,
		     bool lost)
{
	request->state = lost ? TW_REQUEST_LOST : TW_REQUEST_RUNNING;
	request->unit = post->entry.unit < model->config.array.units ? post->entry.unit :
			TW_LOG_FIRMWARE;
	request->outcome = post->failure.error ? TW_LOG_FAILED : TW_LOG_GOOD;
	request->due_ns = post->due;
	request->sequence = model->nr_commands;
	if (request->unit != TW_LOG_FIRMWARE)
		model->depth[request->unit]++;
	post->entry.status = lost ? TW_LOG_LOST : TW_LOG_RUNNING;
	request->log = tw_log_add(&model->log, &post->entry);
}

/* Return: the request id of a packet, or TW_MAX_REQUESTS if it is out of range. */
static u32 tw_request_id(const struct tw_post *post)
{
	const u8 *byte = post->packet.byte;
	u32 id;

	if ((byte[0] & TW_OPCODE_MASK) != TW_OP_EXECUTE_SCSI)
		return byte[2];
	id = byte[2] | (u32)(byte[3] & 0x0f) << 8;
	return id < TW_MAX_REQUESTS ? id : TW_MAX_REQUESTS;
}

void tw_command_post(struct tw_model *model, u64 address)
{
	struct tw_post post = { .address = address, .due = TW_NEVER };
	u32 id;

	model->nr_commands++;
	if (address % TW_PACKET_ALIGNMENT || address < sizeof(struct tw_header)) {
		tw_refuse_packet(model, TW_STATUS_QUEUE_ERROR);
		return;
	}
	if (!model->ops->dma_read(model->host, address, &post.packet, sizeof(post.packet))) {
		tw_refuse_packet(model, TW_STATUS_PCI_ABORT);
		return;
	}
	id = tw_request_id(&post);
	if (id == TW_MAX_REQUESTS || model->request[id].state != TW_REQUEST_FREE) {
		tw_refuse_packet(model, TW_STATUS_QUEUE_ERROR);
		return;
	}
	post.now = model->ops->now_ns(model->host);
	post.entry.arrival_ns = post.now;
	post.entry.request_id = (u8)id;
	post.entry.unit = TW_LOG_FIRMWARE;
	post.entry.opcode = post.packet.byte[0] & TW_OPCODE_MASK;
	tw_fault_advance(model, post.now);
	if (!tw_execute(model, &post)) {
		if (post.fate == TW_FATE_RESET)
			tw_forget(model, &post);
		else
			tw_admit(model, &post, &model->request[id], true);
		return;
	}
	if (post.failure.error)
		tw_write_failure(model, &post);
	if (post.due == TW_NEVER) {
		/* A driver that polls sleeps 50 ms between looks: answer it at once. */
		post.due = post.now;
		if (model->interrupts)
			post.due = tw_timing_other(&model->timing, post.now);
	}
	tw_admit(model, &post, &model->request[id], false);
	if (post.due == post.now)
		tw_queue_answer_due(model, post.now);
}
