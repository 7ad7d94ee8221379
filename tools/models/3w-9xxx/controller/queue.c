// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands in the controller, responses and events for the driver. */
#include "controller.h"

#define TW_AEN_QUEUE_FULL	0x00ff

bool tw_queue_full(const struct tw_model *model)
{
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++)
		if (model->request[i].state == TW_REQUEST_FREE)
			return false;
	return true;
}

struct tw_request *tw_queue_next(struct tw_model *model)
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

static void tw_answer_request(struct tw_model *model, struct tw_request *request, u64 now)
{
	struct tw_responses *responses = &model->responses;

	request->state = TW_REQUEST_ANSWERED;
	if (request->unit != RL_LOG_ADMIN)
		model->depth[request->unit]--;
	rl_log_finish(&model->device.log, request->log, request->outcome, now);
	responses->id[(responses->head + responses->count++) % TW_MAX_REQUESTS] =
		(u8)(request - model->request);
}

void tw_queue_answer_due(struct tw_model *model, u64 now)
{
	struct tw_request *next;

	while ((next = tw_queue_next(model)) && next->due_ns <= now)
		tw_answer_request(model, next, now);
}

u32 tw_queue_take(struct tw_model *model)
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

void tw_queue_event(struct tw_model *model, u16 code, u8 severity)
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

void tw_queue_reset(struct tw_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < TW_MAX_REQUESTS; i++) {
		struct tw_request *request = &model->request[i];

		if (request->state == TW_REQUEST_RUNNING)
			rl_log_finish(&model->device.log, request->log, RL_LOG_RESET, now);
		request->state = TW_REQUEST_FREE;
	}
	rl_fill(model->depth, 0, sizeof(model->depth));
	model->responses.count = 0;
	model->nr_events = 0;
	tw_queue_event(model, TW_AEN_RESET, TW_SEVERITY_INFO);
}
