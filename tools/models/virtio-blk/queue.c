// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue: requests from the driver's ring, answers into the device's. */
#include "virtio.h"

/* The driver broke the rules, or its memory is not there: it has to reset the device. */
static void vb_break(struct vb_model *model)
{
	model->device.nr_refused++;
	model->status |= VB_STATUS_NEEDS_RESET;
	model->isr |= VB_ISR_CONFIG;
}

/* Return: false when the descriptor is none. */
static bool vb_descriptor(const struct vb_model *model, u64 table, u32 number, u8 desc[VB_DESC_BYTES])
{
	return rl_dma_read(&model->device, table + number * VB_DESC_BYTES, desc, VB_DESC_BYTES);
}

/* Look up a chain of descriptors. Return: false when it is none. */
static bool vb_chain(struct vb_model *model, u64 table, u32 size, u32 number, bool may_be_indirect)
{
	u8 desc[VB_DESC_BYTES];
	u32 steps, flags;

	for (steps = 0; steps < size && number < size; steps++) {
		if (!vb_descriptor(model, table, number, desc))
			return false;
		flags = rl_get16(desc + 12);
		if (flags & VB_DESC_INDIRECT)
			return may_be_indirect && !(flags & VB_DESC_NEXT) &&
			       vb_chain(model, rl_get64(desc), rl_get32(desc + 8) / VB_DESC_BYTES, 0,
					false);
		if (model->segments == RL_COUNT(model->segment))
			return false;
		model->segment[model->segments++] = (struct vb_segment){
			rl_get64(desc), rl_get32(desc + 8), flags & VB_DESC_WRITE,
		};
		if (!(flags & VB_DESC_NEXT))
			return true;
		number = rl_get16(desc + 14);
	}
	return false;
}

static struct vb_request *vb_free_request(struct vb_model *model)
{
	u32 i;

	for (i = 0; i < model->queue.size; i++)
		if (model->request[i].state == VB_FREE)
			return &model->request[i];
	return NULL;
}

/* Return: false when the driver's ring has no more, or is broken. */
static bool vb_begin_next(struct vb_model *model, u64 now)
{
	struct vb_queue *queue = &model->queue;
	struct vb_request *request;
	u8 entry[2];

	if (!rl_dma_read(&model->device, queue->driver + 2, entry, sizeof(entry))) {
		vb_break(model);
		return false;
	}
	if (rl_get16(entry) == queue->avail)
		return false;
	request = vb_free_request(model);
	model->segments = 0;
	if (!request ||
	    !rl_dma_read(&model->device, queue->driver + 4 + 2 * (queue->avail % queue->size), entry,
			 sizeof(entry)) ||
	    !vb_chain(model, queue->desc, queue->size, rl_get16(entry), true)) {
		vb_break(model);
		return false;
	}
	queue->avail++;
	rl_fill(request, 0, sizeof(*request));
	request->head = (u16)rl_get16(entry);
	request->log = RL_LOG_NONE;
	request->order = model->arrivals++;
	model->device.nr_commands++;
	vb_request_begin(model, request, now);
	if (request->state == VB_FREE) {
		vb_break(model);
		return false;
	}
	model->running++;
	return true;
}

void vb_queue_notify(struct vb_model *model)
{
	u64 now = rl_now_ns(&model->device);

	while (model->queue.enabled && model->status & VB_STATUS_DRIVER_OK &&
	       !(model->status & VB_STATUS_NEEDS_RESET) && vb_begin_next(model, now))
		;
}

static void vb_answer(struct vb_model *model, struct vb_request *request, u64 now)
{
	struct vb_queue *queue = &model->queue;
	u8 entry[8], index[2], flags[2];

	rl_log_finish(&model->device.log, request->log,
		      request->status == VB_S_OK ? RL_LOG_GOOD : RL_LOG_FAILED, now);
	request->state = VB_FREE;
	model->running--;
	rl_put32(entry, request->head);
	rl_put32(entry + 4, request->written);
	queue->used++;
	rl_put16(index, queue->used);
	if (!rl_dma_write(&model->device, request->status_at, &request->status, 1) ||
	    !rl_dma_write(&model->device,
			  queue->device + 4 + 8 * ((u16)(queue->used - 1) % queue->size), entry,
			  sizeof(entry)) ||
	    !rl_dma_write(&model->device, queue->device + 2, index, sizeof(index)) ||
	    !rl_dma_read(&model->device, queue->driver, flags, sizeof(flags))) {
		vb_break(model);
		return;
	}
	if (!(rl_get16(flags) & VB_AVAIL_NO_INTERRUPT))
		model->isr |= VB_ISR_QUEUE;
}

/* Return: the running request that is due first, NULL if none runs. */
static struct vb_request *vb_first(const struct vb_model *model)
{
	const struct vb_request *first = NULL;
	u32 i, left = model->running;

	for (i = 0; i < model->queue.size && left; i++) {
		const struct vb_request *request = &model->request[i];

		left -= request->state != VB_FREE;
		if (request->state == VB_RUNNING &&
		    (!first || request->due_ns < first->due_ns ||
		     (request->due_ns == first->due_ns && request->order < first->order)))
			first = request;
	}
	return (struct vb_request *)first;
}

void vb_queue_answer(struct vb_model *model, u64 now)
{
	struct vb_request *first = vb_first(model);

	while (first && first->due_ns <= now && !(model->status & VB_STATUS_NEEDS_RESET)) {
		vb_answer(model, first, now);
		first = vb_first(model);
	}
}

u64 vb_queue_wake_ns(const struct vb_model *model)
{
	const struct vb_request *first = vb_first(model);

	return first && !(model->status & VB_STATUS_NEEDS_RESET) ? first->due_ns : RL_NEVER;
}

void vb_queue_forget(struct vb_model *model)
{
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < VB_MAX_QUEUE; i++) {
		if (model->request[i].state == VB_RUNNING)
			rl_log_finish(&model->device.log, model->request[i].log, RL_LOG_RESET, now);
		model->request[i].state = VB_FREE;
	}
	model->running = 0;
}
