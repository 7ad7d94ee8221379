// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands to the controller itself. */
#include "firmware.h"

void tw_firmware_init_connection(struct tw_model *model, struct tw_post *post)
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

void tw_firmware_get_param(struct tw_model *model, struct tw_post *post)
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
void tw_firmware_set_param(struct tw_model *model, struct tw_post *post)
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
