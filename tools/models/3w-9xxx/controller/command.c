// SPDX-License-Identifier: GPL-2.0-or-later
/* Command packets: checked, carried out, answered. */
#include "controller.h"

/* Commands to the controller itself: connection, parameters. Each notes in @post if it failed. */

static void tw_firmware_init_connection(struct tw_model *model, struct tw_post *post)
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
	init->srl = tw_put16((u16)rl_min(srl, model->config.controller.srl));
	init->arch = tw_put16(TW_ARCH_9000);
	if (!rl_dma_write(&model->device, post->address, init, sizeof(*init)))
		tw_fail_memory(post);
}

/* Return: bytes of the parameter's value put into @param, or 0 and the failure noted. */
static u32 tw_find_param(const struct tw_model *model, struct tw_post *post,
			 struct tw_param *param)
{
	const struct tw_controller_config *controller = &model->config.controller;
	u16 table = tw_get16(param->table) & TW_TABLE_MASK, index = tw_get16(param->index);

	if (table == TW_TABLE_VERSION && index == TW_PARAM_FIRMWARE) {
		rl_copy(param->data, controller->firmware, 16);
		return 16;
	}
	if (table == TW_TABLE_VERSION && index == TW_PARAM_BIOS) {
		rl_copy(param->data, controller->bios, 16);
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

static void tw_firmware_get_param(struct tw_model *model, struct tw_post *post)
{
	u64 address = tw_get64(post->packet.param.sg.address);
	u32 room = tw_get32(post->packet.param.sg.length), bytes;
	struct tw_param param;

	if (post->packet.param.opcode >> 5 != 2 || room < offsetof(struct tw_param, data)) {
		tw_fail(post, TW_ERROR_SG_SIZE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
		return;
	}
	if (!rl_dma_read(&model->device, address, &param, offsetof(struct tw_param, data))) {
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
	if (!rl_dma_write(&model->device, address, &param,
			  (u32)offsetof(struct tw_param, data) + bytes))
		tw_fail_memory(post);
}

/* The driver sets the firmware's clock; the model has no use for it. */
static void tw_firmware_set_param(struct tw_model *model, struct tw_post *post)
{
	struct tw_param param;

	if (post->packet.param.opcode >> 5 != 2 ||
	    tw_get32(post->packet.param.sg.length) < offsetof(struct tw_param, data))
		tw_fail(post, TW_ERROR_SG_SIZE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
	else if (!rl_dma_read(&model->device, tw_get64(post->packet.param.sg.address), &param,
			      offsetof(struct tw_param, data)))
		tw_fail_memory(post);
	else if ((tw_get16(param.table) & TW_TABLE_MASK) != TW_TABLE_TIMEKEEP)
		tw_fail(post, TW_ERROR_PARAM_TABLE, TW_SENSE_ILLEGAL, TW_ASC_FIELD);
}

/* No response can say what is wrong with this packet: the status register does. */
static void tw_refuse_packet(struct tw_model *model, u32 error)
{
	model->errors |= error;
	model->device.nr_refused++;
}

/* Sense data and error number go into the header, a status into the packet. */
static void tw_write_failure(struct tw_model *model, const struct tw_post *post)
{
	struct tw_header header;
	u8 status = 1;		/* the driver doubles it: CHECK CONDITION */
	u32 i;

	rl_fill(&header, 0, sizeof(header));
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
	if (!rl_dma_write(&model->device, post->address - sizeof(header), &header,
			  sizeof(header)) ||
	    !rl_dma_write(&model->device,
			  post->address + offsetof(struct tw_execute_scsi, status),
			  &status, sizeof(status)))
		model->errors |= TW_STATUS_PCI_ABORT;
}

/* Return: false if the command vanishes. */
static bool tw_execute(struct tw_model *model, struct tw_post *post)
{
	switch (post->packet.byte[0] & TW_OPCODE_MASK) {
	case TW_OP_EXECUTE_SCSI:
		return tw_execute_scsi(model, post);
	case TW_OP_INIT_CONNECTION:
		tw_firmware_init_connection(model, post);
		return true;
	case TW_OP_GET_PARAM:
		tw_firmware_get_param(model, post);
		return true;
	case TW_OP_SET_PARAM:
		tw_firmware_set_param(model, post);
		return true;
	}
	tw_fail(post, TW_ERROR_OPCODE, TW_SENSE_ILLEGAL, TW_ASC_OPCODE);
	return true;
}

/* A command that went with the controller's own reset leaves nothing but its log entry. */
static void tw_forget(struct tw_model *model, struct tw_post *post)
{
	post->entry.status = RL_LOG_RESET;
	rl_log_add(&model->device.log, &post->entry);
}

static void tw_admit(struct tw_model *model, struct tw_post *post, struct tw_request *request,
		     bool lost)
{
	request->state = lost ? TW_REQUEST_LOST : TW_REQUEST_RUNNING;
	request->unit = post->entry.unit < model->config.array.units ? post->entry.unit :
			RL_LOG_ADMIN;
	request->outcome = post->failure.error ? RL_LOG_FAILED : RL_LOG_GOOD;
	request->due_ns = post->due;
	request->sequence = model->device.nr_commands;
	if (request->unit != RL_LOG_ADMIN)
		model->depth[request->unit]++;
	post->entry.status = lost ? RL_LOG_LOST : RL_LOG_RUNNING;
	request->log = rl_log_add(&model->device.log, &post->entry);
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
	struct tw_post post = { .address = address, .due = RL_NEVER };
	u32 id;

	model->device.nr_commands++;
	if (address % TW_PACKET_ALIGNMENT || address < sizeof(struct tw_header)) {
		tw_refuse_packet(model, TW_STATUS_QUEUE_ERROR);
		return;
	}
	if (!rl_dma_read(&model->device, address, &post.packet, sizeof(post.packet))) {
		tw_refuse_packet(model, TW_STATUS_PCI_ABORT);
		return;
	}
	id = tw_request_id(&post);
	if (id == TW_MAX_REQUESTS || model->request[id].state != TW_REQUEST_FREE) {
		tw_refuse_packet(model, TW_STATUS_QUEUE_ERROR);
		return;
	}
	post.now = rl_now_ns(&model->device);
	post.entry.arrival_ns = post.now;
	post.entry.request_id = (u8)id;
	post.entry.unit = RL_LOG_ADMIN;
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
	if (post.due == RL_NEVER) {
		/* A driver that polls sleeps 50 ms between looks: answer it at once. */
		post.due = post.now;
		if (model->interrupts)
			post.due = tw_timing_other(&model->timing, post.now);
	}
	tw_admit(model, &post, &model->request[id], false);
	if (post.due == post.now)
		tw_queue_answer_due(model, post.now);
}
