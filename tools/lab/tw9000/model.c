// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers, queues and events of the controller. */
#include "model.h"
#include "command.h"

#define TW_AEN_QUEUE_FULL	0x00ff

static bool tw_queue_full(const struct tw_model *model)
{
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++)
		if (model->request[i].state == TW_REQUEST_FREE)
			return false;
	return true;
}

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
	if (tw_queue_full(model))
		status |= TW_STATUS_COMMAND_FULL;
	else if (model->command_unmasked)
		status |= TW_STATUS_COMMAND;
	return status;
}

/* Return: the running request that is due first, NULL if none runs. */
static struct tw_request *tw_next_due(struct tw_model *model)
{
	struct tw_request *next = NULL;
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		struct tw_request *request = &model->request[i];

		if (request->state != TW_REQUEST_RUNNING)
			continue;
		if (!next || request->due_ns < next->due_ns ||
		    (request->due_ns == next->due_ns && request->sequence < next->sequence))
			next = request;
	}
	return next;
}

/* Tell the transport what changed: interrupt line and next wish for time. */
static void tw_settle(struct tw_model *model)
{
	const struct tw_request *next = tw_next_due(model);
	u64 wake = next ? next->due_ns : TW_NEVER;
	bool irq = model->interrupts &&
		   (tw_status(model) & (TW_STATUS_HOST | TW_STATUS_ATTENTION | TW_STATUS_RESPONSE |
					TW_STATUS_COMMAND | TW_STATUS_QUEUE_ERROR |
					TW_STATUS_PCI_ABORT));

	if (wake != model->wake_ns) {
		model->wake_ns = wake;
		model->ops->wake_at(model->host, wake);
	}
	if (irq != model->irq) {
		model->irq = irq;
		model->ops->set_irq(model->host, irq);
	}
}

static void tw_answer_request(struct tw_model *model, struct tw_request *request, u64 now)
{
	struct tw_responses *responses = &model->responses;

	request->state = TW_REQUEST_ANSWERED;
	if (request->unit != TW_LOG_FIRMWARE)
		model->depth[request->unit]--;
	tw_log_finish(&model->log, request->log, request->outcome, now);
	responses->id[(responses->head + responses->count++) % TW_MAX_REQUESTS] =
		(u8)(request - model->request);
}

void tw_model_answer_due(struct tw_model *model, u64 now)
{
	struct tw_request *next;

	while ((next = tw_next_due(model)) && next->due_ns <= now)
		tw_answer_request(model, next, now);
}

static u32 tw_take_response(struct tw_model *model)
{
	struct tw_responses *responses = &model->responses;
	u8 id;

	if (!responses->count)
		return 0;
	id = responses->id[responses->head];
	responses->head = (responses->head + 1) % TW_MAX_REQUESTS;
	responses->count--;
	model->request[id].state = TW_REQUEST_FREE;
	return (u32)id << 4;
}

static void tw_queue_event(struct tw_model *model, u16 code, u8 severity)
{
	if (model->nr_events == TW_MAX_EVENTS) {
		code = TW_AEN_QUEUE_FULL;
		severity = TW_SEVERITY_ERROR;
		model->nr_events--;
	}
	model->event[model->nr_events].code = code;
	model->event[model->nr_events].severity = severity;
	model->nr_events++;
	model->attention = true;
}

/* Running commands are forgotten: the driver takes them as failed. */
static void tw_reset(struct tw_model *model)
{
	u64 now = model->ops->now_ns(model->host);
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		struct tw_request *request = &model->request[i];

		if (request->state == TW_REQUEST_RUNNING)
			tw_log_finish(&model->log, request->log, TW_LOG_RESET, now);
		request->state = TW_REQUEST_FREE;
	}
	tw_fill(model->depth, 0, sizeof(model->depth));
	model->responses.count = 0;
	model->nr_events = 0;
	tw_queue_event(model, TW_AEN_RESET, TW_SEVERITY_INFO);
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
		tw_reset(model);
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
		value = tw_take_response(model);
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
	model->wake_ns = TW_NEVER;
	tw_model_answer_due(model, model->ops->now_ns(model->host));
	tw_settle(model);
}

void tw_model_event(struct tw_model *model, u16 code, u8 severity)
{
	tw_queue_event(model, code, severity);
	tw_settle(model);
}

bool tw_model_create(struct tw_model *model, const struct tw_config *config,
		     const struct tw_host_ops *ops, void *host, tw_alloc_chunk_fn alloc)
{
	tw_fill(model, 0, sizeof(*model));
	model->config = *config;
	model->ops = ops;
	model->host = host;
	model->wake_ns = TW_NEVER;
	tw_timing_create(&model->timing, &model->config);
	return tw_store_create(&model->store, model->timing.array.sectors * config->array.units,
			       config->store_mib, alloc, host) &&
	       tw_log_create(&model->log, config->log_entries, alloc, host);
}
