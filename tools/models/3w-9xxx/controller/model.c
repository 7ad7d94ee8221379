// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers, queues and events of the controller. */
#include "controller.h"

static u32 tw_status(const struct tw_model *model)
{
	u32 status = TW_STATUS_READY | TW_STATUS_COMMAND_EMPTY | model->errors;

	if (model->host_interrupt)
		status |= TW_STATUS_HOST;
	if (model->attention)
		status |= TW_STATUS_ATTENTION;
	if (!model->responses.count)
		status |= TW_STATUS_RESPONSE_EMPTY;
	else if (model->response_unmasked)
		status |= TW_STATUS_RESPONSE;
	if (tw_queue_full(model) || model->fault.full)
		status |= TW_STATUS_COMMAND_FULL;
	else if (model->command_unmasked)
		status |= TW_STATUS_COMMAND;
	return status;
}

/* Tell the transport what changed: interrupt line and next wish for time. */
static void tw_settle(struct tw_model *model)
{
	const struct tw_request *next = tw_queue_next(model);
	bool irq = model->interrupts &&
		   (tw_status(model) & (TW_STATUS_HOST | TW_STATUS_ATTENTION | TW_STATUS_RESPONSE |
					TW_STATUS_COMMAND | TW_STATUS_QUEUE_ERROR |
					TW_STATUS_PCI_ABORT));

	rl_device_wake_at(&model->device,
			  rl_min(next ? next->due_ns : RL_NEVER, tw_fault_wake_ns(model)));
	rl_device_set_irq(&model->device, irq);
}

static void tw_control(struct tw_model *model, u32 value)
{
	if (value & TW_CONTROL_DISABLE_INTERRUPTS)
		model->interrupts = false;
	if (value & TW_CONTROL_ENABLE_INTERRUPTS)
		model->interrupts = true;
	if (value & TW_CONTROL_MASK_RESPONSE)
		model->response_unmasked = false;
	if (value & TW_CONTROL_UNMASK_RESPONSE)
		model->response_unmasked = true;
	if (value & TW_CONTROL_MASK_COMMAND)
		model->command_unmasked = false;
	if (value & TW_CONTROL_UNMASK_COMMAND)
		model->command_unmasked = true;
	if (value & TW_CONTROL_CLEAR_HOST)
		model->host_interrupt = false;
	if (value & TW_CONTROL_HOST_INTERRUPT)
		model->host_interrupt = true;
	if (value & TW_CONTROL_CLEAR_ATTENTION)
		model->attention = false;
	if (value & (TW_CONTROL_CLEAR_QUEUE_ERROR | TW_CONTROL_CLEAR_ERROR))
		model->errors &= ~TW_STATUS_QUEUE_ERROR;
	if (value & (TW_CONTROL_CLEAR_PCI_ABORT | TW_CONTROL_CLEAR_ERROR))
		model->errors &= ~TW_STATUS_PCI_ABORT;
	if (value & TW_CONTROL_SOFT_RESET)
		tw_queue_reset(model);
}

u32 tw_model_read(struct tw_model *model, u32 offset)
{
	u32 value = 0;

	switch (offset) {
	case TW_REG_STATUS:
		return tw_status(model);
	case TW_REG_DRAIN:
		return TW_DRAINED;
	case TW_REG_RESPONSE:
		value = tw_queue_take(model);
		tw_settle(model);
		break;
	}
	return value;
}

void tw_model_write(struct tw_model *model, u32 offset, u32 value)
{
	switch (offset) {
	case TW_REG_CONTROL:
		tw_control(model, value);
		break;
	case TW_REG_COMMAND:
		tw_command_post(model, value);
		break;
	case TW_REG_COMMAND_LOW:
		model->command_low = value;
		return;
	case TW_REG_COMMAND_HIGH:
		tw_command_post(model, (u64)value << 32 | model->command_low);
		break;
	default:
		return;
	}
	tw_settle(model);
}

void tw_model_tick(struct tw_model *model)
{
	u64 now = rl_now_ns(&model->device);

	model->device.wake_ns = RL_NEVER;
	tw_queue_answer_due(model, now);
	tw_fault_advance(model, now);
	tw_settle(model);
}

void tw_model_event(struct tw_model *model, u16 code, u8 severity)
{
	tw_queue_event(model, code, severity);
	tw_settle(model);
}

bool tw_model_create(struct tw_model *model, const struct tw_config *config,
		     const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	u64 sectors;

	rl_device_init(&model->device, &tw_kind, ops, host);
	model->config = *config;
	tw_timing_create(&model->timing, &model->config);
	tw_fault_create(model);
	model->by_member = tw_has_members(config);
	sectors = model->by_member ? model->timing.array.drive_sectors * config->array.drives :
				     model->timing.array.sectors;
	if (tw_has_platters(config)) {
		tw_platter_attach(model);
		sectors *= 2;
	}
	return rl_store_create(&model->store, sectors * config->array.units, config->base.store_mib,
			       alloc, host) &&
	       rl_log_create(&model->device.log, config->base.log_entries, alloc, host);
}
