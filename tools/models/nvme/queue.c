// SPDX-License-Identifier: GPL-2.0-or-later
/* Queues: commands from their arrival to their completion, and events. */
#include "model.h"

#define NV_SLOT_BITS 16

static u16 nv_number(const struct nv_model *model, const struct nv_slot *slot)
{
	return (u16)(slot - model->slot);
}

static void nv_free(struct nv_model *model, struct nv_slot *slot)
{
	if (slot->queue)
		model->depth--;
	slot->state = NV_SLOT_FREE;
	slot->next = model->free_slot;
	model->free_slot = nv_number(model, slot);
}

void nv_queue_forget(struct nv_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u32 i;

	model->free_slot = NV_NO_SLOT;
	for (i = NV_SLOTS; i-- > 0;) {
		struct nv_slot *slot = &model->slot[i];

		if (slot->state != NV_SLOT_FREE && slot->state != NV_SLOT_LOST)
			rl_log_finish(&model->device.log, slot->log, RL_LOG_RESET, now);
		slot->state = NV_SLOT_FREE;
		slot->next = model->free_slot;
		model->free_slot = (u16)i;
	}
	for (i = 0; i < NV_QUEUES; i++)
		model->cq[i].first_blocked = NV_NO_SLOT;
	model->due.moment = model->moment;
	model->due.count = 0;
	model->depth = 0;
	model->nr_event_requests = 0;
	model->nr_events = 0;
}

void nv_queue_clear(struct nv_model *model)
{
	rl_fill(model->sq, 0, sizeof(model->sq));
	rl_fill(model->cq, 0, sizeof(model->cq));
	nv_queue_forget(model);
}

void nv_queue_finish(struct nv_model *model, struct nv_slot *slot, u64 due, u16 status, u32 result)
{
	slot->state = NV_SLOT_RUNNING;
	slot->status = status;
	slot->result = result;
	rl_heap_add(&model->due, due, model->sequence++ << NV_SLOT_BITS | nv_number(model, slot));
}

static bool nv_is_full(const struct nv_cq *cq)
{
	return (cq->tail + 1) % cq->entries == cq->head;
}

/* Write the completion into its queue, which has room. */
static void nv_complete(struct nv_model *model, struct nv_slot *slot, u64 now)
{
	struct nv_cq *cq = &model->cq[slot->cq];
	u8 entry[NV_COMPLETION_BYTES] = { 0 };

	rl_put(entry, slot->result, 4);
	rl_put(entry + 8, model->sq[slot->queue].head, 2);
	rl_put(entry + 10, slot->queue, 2);
	rl_put(entry + 12, slot->command_id, 2);
	rl_put(entry + 14, (u32)slot->status << 1 | cq->phase, 2);
	if (!rl_dma_write(&model->device, cq->base + ((u64)cq->tail << NV_COMPLETION_SHIFT), entry,
			  sizeof(entry))) {
		nv_model_fail(model);
		return;
	}
	if (++cq->tail == cq->entries) {
		cq->tail = 0;
		cq->phase = !cq->phase;
	}
	if (cq->interrupts)
		rl_raise(&model->device, cq->vector);
	rl_log_finish(&model->device.log, slot->log, slot->status ? RL_LOG_FAILED : RL_LOG_GOOD,
		      now);
	nv_free(model, slot);
}

/* Append a command to those that wait for room. While any command waits, the queue is full. */
static void nv_block(struct nv_model *model, struct nv_slot *slot)
{
	struct nv_cq *cq = &model->cq[slot->cq];
	u16 number = nv_number(model, slot);

	slot->state = NV_SLOT_BLOCKED;
	slot->next = NV_NO_SLOT;
	if (cq->first_blocked == NV_NO_SLOT)
		cq->first_blocked = number;
	else
		model->slot[cq->last_blocked].next = number;
	cq->last_blocked = number;
}

/* Fetch and execute the next command of a queue that is not empty. */
static void nv_fetch(struct nv_model *model, u32 queue, u64 now)
{
	struct nv_sq *sq = &model->sq[queue];
	u8 command[NV_COMMAND_BYTES];
	struct nv_slot *slot;

	if (!rl_dma_read(&model->device, sq->base + ((u64)sq->head << NV_COMMAND_SHIFT), command,
			 sizeof(command))) {
		model->device.nr_refused++;
		nv_model_fail(model);
		return;
	}
	sq->head = (sq->head + 1) % sq->entries;
	slot = &model->slot[model->free_slot];
	model->free_slot = slot->next;
	slot->state = NV_SLOT_RUNNING;
	slot->queue = (u8)queue;
	slot->cq = sq->cq;
	slot->command_id = rl_get16(command + NV_COMMAND_ID);
	slot->log = RL_LOG_NONE;
	model->device.nr_commands++;
	model->depth += !!queue;
	if (queue)
		nv_io(model, slot, command, now);
	else
		nv_admin(model, slot, command, now);
}

/* Fetch commands while there are commands and free slots, round robin over the queues. */
static void nv_fetch_all(struct nv_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u32 idle = 0;

	while (idle < NV_QUEUES && model->free_slot != NV_NO_SLOT) {
		struct nv_sq *sq = &model->sq[model->next_queue];

		if (model->csts & NV_CSTS_FATAL)
			return;
		if (sq->head != sq->tail) {
			nv_fetch(model, model->next_queue, now);
			idle = 0;
		} else {
			idle++;
		}
		model->next_queue = (model->next_queue + 1) % NV_QUEUES;
	}
}

/* Complete commands that waited for room, then fetch commands that waited for their slots. */
static void nv_unblock(struct nv_model *model, struct nv_cq *cq)
{
	u64 now;

	if (cq->first_blocked == NV_NO_SLOT)
		return;
	now = rl_now_ns(&model->device);
	while (cq->first_blocked != NV_NO_SLOT && !nv_is_full(cq)) {
		struct nv_slot *slot = &model->slot[cq->first_blocked];

		cq->first_blocked = slot->next;
		nv_complete(model, slot, now);
	}
	nv_fetch_all(model);
}

void nv_queue_answer(struct nv_model *model, u64 now)
{
	bool waiting = model->free_slot == NV_NO_SLOT;

	while (rl_heap_first_ns(&model->due) <= now) {
		u16 number = (u16)rl_heap_take(&model->due).order;
		struct nv_slot *slot = &model->slot[number];

		if (nv_is_full(&model->cq[slot->cq]))
			nv_block(model, slot);
		else
			nv_complete(model, slot, now);
	}
	if (waiting)
		nv_fetch_all(model);
}

/* The driver has put commands up to @tail into a queue. */
static void nv_ring_sq(struct nv_model *model, struct nv_sq *sq, u32 tail)
{
	if (tail >= sq->entries) {
		nv_model_event(model, NV_EVENT_BAD_VALUE);
		return;
	}
	sq->tail = tail;
	nv_fetch_all(model);
}

/* The driver has taken completions up to @head. */
static void nv_ring_cq(struct nv_model *model, struct nv_cq *cq, u32 head)
{
	u32 filled = (cq->tail + cq->entries - cq->head) % cq->entries;

	if (head >= cq->entries || (head + cq->entries - cq->head) % cq->entries > filled) {
		nv_model_event(model, NV_EVENT_BAD_VALUE);
		return;
	}
	cq->head = head;
	nv_unblock(model, cq);
}

void nv_queue_drop(struct nv_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u8 command[NV_COMMAND_BYTES];
	u32 i;

	model->sq[0].head = model->sq[0].tail;
	for (i = 1; i < NV_QUEUES; i++) {
		struct nv_sq *sq = &model->sq[i];

		for (; sq->head != sq->tail; sq->head = (sq->head + 1) % sq->entries) {
			if (!rl_dma_read(&model->device,
					 sq->base + ((u64)sq->head << NV_COMMAND_SHIFT), command,
					 sizeof(command)))
				continue;
			model->device.nr_commands++;
			nv_io_drop(model, command, now);
		}
	}
}

/* The controller has failed: a doorbell only shows which commands it drops. */
static void nv_ring_failed(struct nv_model *model, u32 number, u32 tail)
{
	u32 queue = number / 2;

	if (number % 2 || queue >= NV_QUEUES || tail >= model->sq[queue].entries)
		return;
	model->sq[queue].tail = tail;
	nv_queue_drop(model);
}

void nv_queue_doorbell(struct nv_model *model, u32 number, u32 value)
{
	u32 queue = number / 2;

	if (model->csts & NV_CSTS_FATAL) {
		nv_ring_failed(model, number, value);
		return;
	}

	if (queue >= NV_QUEUES ||
	    !(number % 2 ? model->cq[queue].entries : model->sq[queue].entries))
		nv_model_event(model, NV_EVENT_BAD_DOORBELL);
	else if (number % 2)
		nv_ring_cq(model, &model->cq[queue], value);
	else
		nv_ring_sq(model, &model->sq[queue], value);
}

/* Rebuild the heap with the commands that still run. */
static void nv_sort_due(struct nv_model *model)
{
	u32 count = model->due.count, i;

	model->due.count = 0;
	for (i = 0; i < count; i++) {
		struct rl_moment moment = model->moment[i];

		if (model->slot[(u16)moment.order].state == NV_SLOT_RUNNING)
			rl_heap_add(&model->due, moment.ns, moment.order);
	}
}

void nv_queue_delete_sq(struct nv_model *model, u32 queue, u64 now)
{
	u32 i;

	for (i = 0; i < NV_SLOTS; i++) {
		struct nv_slot *slot = &model->slot[i];

		if (slot->queue != queue || slot->state == NV_SLOT_FREE)
			continue;
		slot->status = NV_QUEUE_DELETED;
		if (slot->state == NV_SLOT_LOST)
			nv_free(model, slot);
	}
	for (i = 0; i < model->due.count; i++)
		if (model->slot[(u16)model->moment[i].order].queue == queue)
			model->moment[i].ns = now;
	nv_sort_due(model);
	rl_fill(&model->sq[queue], 0, sizeof(model->sq[queue]));
}

void nv_queue_delete_cq(struct nv_model *model, u32 queue)
{
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < NV_SLOTS; i++) {
		struct nv_slot *slot = &model->slot[i];

		if (slot->cq != queue || slot->state == NV_SLOT_FREE)
			continue;
		rl_log_finish(&model->device.log, slot->log, RL_LOG_RESET, now);
		nv_free(model, slot);
	}
	nv_sort_due(model);
	rl_fill(&model->cq[queue], 0, sizeof(model->cq[queue]));
	model->cq[queue].first_blocked = NV_NO_SLOT;
}

/* Return: the result of an event request: the event and the log page with the details. */
static u32 nv_event_result(u16 event)
{
	u32 page = NV_EVENT_TYPE(event) == NV_EVENT_ERROR ? NV_LOG_ERRORS :
		   NV_EVENT_TYPE(event) == NV_EVENT_HEALTH ? NV_LOG_HEALTH : NV_LOG_CHANGED;

	return event | page << 16;
}

void nv_queue_event(struct nv_model *model, u16 event, u64 now)
{
	u32 i;

	if (!model->nr_event_requests) {
		if (model->nr_events < NV_MAX_EVENTS)
			model->event[model->nr_events++] = event;
		return;
	}
	nv_queue_finish(model, &model->slot[model->event_request[0]], now, NV_GOOD,
			nv_event_result(event));
	model->nr_event_requests--;
	for (i = 0; i < model->nr_event_requests; i++)
		model->event_request[i] = model->event_request[i + 1];
}

void nv_queue_event_request(struct nv_model *model, struct nv_slot *slot, u64 now)
{
	u32 i;

	if (model->nr_events) {
		nv_queue_finish(model, slot, now, NV_GOOD, nv_event_result(model->event[0]));
		model->nr_events--;
		for (i = 0; i < model->nr_events; i++)
			model->event[i] = model->event[i + 1];
		return;
	}
	if (model->nr_event_requests == NV_MAX_EVENT_REQUESTS) {
		nv_queue_finish(model, slot, now, NV_TOO_MANY_EVENTS, 0);
		return;
	}
	slot->state = NV_SLOT_EVENT;
	model->event_request[model->nr_event_requests++] = nv_number(model, slot);
}

bool nv_queue_irq(const struct nv_model *model)
{
	u32 i;

	for (i = 0; i < NV_QUEUES; i++) {
		const struct nv_cq *cq = &model->cq[i];

		if (cq->entries && cq->interrupts && cq->head != cq->tail &&
		    !(model->masked >> cq->vector & 1))
			return true;
	}
	return false;
}
