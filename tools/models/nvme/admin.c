// SPDX-License-Identifier: GPL-2.0-or-later
/* Admin commands: queues, features, events; pages of data are made in identify.c. */
#include "model.h"

#define NV_CONTIGUOUS		0x1U	/* in dword 11 of a command that creates a queue */
#define NV_INTERRUPTS		0x2U
#define NV_NOT_ABORTED		0x1U	/* result of an abort */
#define NV_SAVE			0x80000000U	/* in dword 10 of "set features" */
#define NV_SELECT		0x00000700U	/* in dword 10 of "get features" */

/* Place and size of a queue. */
static u16 nv_check_queue(const u8 *command)
{
	u32 entries = (rl_get32(command + NV_CDW10) >> 16) + 1;

	if (!(rl_get32(command + NV_CDW11) & NV_CONTIGUOUS))
		return NV_BAD_FIELD;
	if (entries < 2 || entries > NV_MAX_ENTRIES)
		return NV_BAD_QUEUE_SIZE;
	return rl_get64(command + NV_PRP1) % NV_PAGE_BYTES ? NV_BAD_PRP : NV_GOOD;
}

static bool nv_is_io_queue(const struct nv_model *model, u32 queue)
{
	return queue && queue <= model->config.controller.queues;
}

static u16 nv_create_cq(struct nv_model *model, const u8 *command)
{
	u32 queue = rl_get16(command + NV_CDW10), flags = rl_get32(command + NV_CDW11);
	u16 status = nv_check_queue(command);
	struct nv_cq *cq;

	if (!nv_is_io_queue(model, queue) || model->cq[queue].entries)
		return NV_BAD_QUEUE;
	if (status)
		return status;
	if (NV_CC_CQ_ENTRY(model->cc) != NV_COMPLETION_SHIFT)
		return NV_BAD_QUEUE_SIZE;
	if (flags >> 16 > model->config.controller.queues)
		return NV_BAD_VECTOR;
	cq = &model->cq[queue];
	cq->base = rl_get64(command + NV_PRP1);
	cq->entries = (rl_get32(command + NV_CDW10) >> 16) + 1;
	cq->head = 0;
	cq->tail = 0;
	cq->phase = true;
	cq->interrupts = flags & NV_INTERRUPTS;
	cq->vector = flags >> 16;
	cq->first_blocked = NV_NO_SLOT;
	return NV_GOOD;
}

static u16 nv_create_sq(struct nv_model *model, const u8 *command)
{
	u32 queue = rl_get16(command + NV_CDW10), cq = rl_get32(command + NV_CDW11) >> 16;
	u16 status = nv_check_queue(command);
	struct nv_sq *sq;

	if (!nv_is_io_queue(model, queue) || model->sq[queue].entries || !nv_is_io_queue(model, cq))
		return NV_BAD_QUEUE;
	if (!model->cq[cq].entries)
		return NV_NO_CQ;
	if (status)
		return status;
	if (NV_CC_SQ_ENTRY(model->cc) != NV_COMMAND_SHIFT)
		return NV_BAD_QUEUE_SIZE;
	sq = &model->sq[queue];
	sq->base = rl_get64(command + NV_PRP1);
	sq->entries = (rl_get32(command + NV_CDW10) >> 16) + 1;
	sq->head = 0;
	sq->tail = 0;
	sq->cq = (u8)cq;
	return NV_GOOD;
}

static u16 nv_delete_sq(struct nv_model *model, u32 queue, u64 now)
{
	if (!nv_is_io_queue(model, queue) || !model->sq[queue].entries)
		return NV_BAD_QUEUE;
	nv_queue_delete_sq(model, queue, now);
	return NV_GOOD;
}

static u16 nv_delete_cq(struct nv_model *model, u32 queue)
{
	u32 i;

	if (!nv_is_io_queue(model, queue) || !model->cq[queue].entries)
		return NV_BAD_QUEUE;
	for (i = 1; i < NV_QUEUES; i++)
		if (model->sq[i].entries && model->sq[i].cq == queue)
			return NV_QUEUE_IN_USE;
	nv_queue_delete_cq(model, queue);
	return NV_GOOD;
}

static u32 nv_number_of_queues(const struct nv_model *model)
{
	u32 less_one = model->config.controller.queues - 1;

	return less_one << 16 | less_one;
}

/* Features that keep their value without an effect. */
static bool nv_is_kept(u32 feature)
{
	return feature == NV_FEATURE_ARBITRATION || feature == NV_FEATURE_COALESCING ||
	       feature == NV_FEATURE_EVENTS;
}

static u16 nv_set_features(struct nv_model *model, const u8 *command, u32 *result)
{
	u32 select = rl_get32(command + NV_CDW10), value = rl_get32(command + NV_CDW11);
	u32 feature = select & 0xff;

	if (select & NV_SAVE)
		return NV_NOT_SAVED;
	if (feature == NV_FEATURE_QUEUES) {
		if ((value & 0xffff) == 0xffff || value >> 16 == 0xffff)
			return NV_BAD_FIELD;
		*result = nv_number_of_queues(model);
		return NV_GOOD;
	}
	if (feature == NV_FEATURE_WRITE_CACHE && model->config.controller.write_cache)
		value &= 1;
	else if (!nv_is_kept(feature))
		return NV_BAD_FIELD;
	model->feature[feature] = value;
	return NV_GOOD;
}

static u16 nv_get_features(struct nv_model *model, const u8 *command, u32 *result)
{
	u32 select = rl_get32(command + NV_CDW10), feature = select & 0xff;

	if (select & NV_SELECT)
		return NV_BAD_FIELD;
	if (feature == NV_FEATURE_QUEUES)
		*result = nv_number_of_queues(model);
	else if (nv_is_kept(feature) ||
		 (feature == NV_FEATURE_WRITE_CACHE && model->config.controller.write_cache))
		*result = model->feature[feature];
	else
		return NV_BAD_FIELD;
	return NV_GOOD;
}

/* A page of the drive's own goes to the host. */
static u16 nv_send(struct nv_model *model, const u8 *command, u32 bytes)
{
	struct nv_data data;

	nv_data_begin(&data, command, bytes);
	return nv_data_move(model, &data, model->page, bytes, NV_TO_HOST);
}

/* No more than the page has, from its beginning: the rest of the host's buffer is left alone. */
static u16 nv_get_log(struct nv_model *model, const u8 *command)
{
	u64 requested = ((u64)rl_get16(command + NV_CDW11) << 16 | rl_get32(command + NV_CDW10) >> 16) + 1;
	u32 nsid = rl_get32(command + NV_COMMAND_NSID), bytes;
	u16 status = nv_log_page(model, command[NV_CDW10], &bytes);

	if (status)
		return status;
	if (nsid && nsid != NV_NSID_ALL)
		return NV_BAD_NAMESPACE;
	if (rl_get32(command + NV_CDW12) || rl_get32(command + NV_CDW13))
		return NV_BAD_FIELD;
	return nv_send(model, command, (u32)rl_min(requested * sizeof(u32), bytes));
}

static u16 nv_execute(struct nv_model *model, const u8 *command, u64 now, u32 *result)
{
	u16 status;

	if (command[NV_FLAGS])
		return NV_BAD_FIELD;
	switch (command[NV_OPCODE]) {
	case NV_DELETE_SQ:
		return nv_delete_sq(model, rl_get16(command + NV_CDW10), now);
	case NV_CREATE_SQ:
		return nv_create_sq(model, command);
	case NV_GET_LOG:
		return nv_get_log(model, command);
	case NV_DELETE_CQ:
		return nv_delete_cq(model, rl_get16(command + NV_CDW10));
	case NV_CREATE_CQ:
		return nv_create_cq(model, command);
	case NV_IDENTIFY:
		status = nv_identify(model, command);
		return status ? status : nv_send(model, command, NV_PAGE_BYTES);
	case NV_ABORT:
		*result = NV_NOT_ABORTED;	/* it is completed when it is done, or never */
		return NV_GOOD;
	case NV_SET_FEATURES:
		return nv_set_features(model, command, result);
	case NV_GET_FEATURES:
		return nv_get_features(model, command, result);
	}
	return NV_BAD_OPCODE;
}

void nv_admin(struct nv_model *model, struct nv_slot *slot, const u8 *command, u64 now)
{
	const struct rl_log_entry entry = {
		.arrival_ns = now, .request_id = slot->command_id,
		.opcode = command[NV_OPCODE], .unit = RL_LOG_ADMIN,
	};
	u32 result = 0;
	u16 status;

	slot->log = rl_log_add(&model->device.log, &entry);
	if (command[NV_OPCODE] == NV_ASYNC_EVENT && !command[NV_FLAGS]) {
		nv_queue_event_request(model, slot, now + NV_ADMIN_NS);
		return;
	}
	status = nv_execute(model, command, now, &result);
	nv_queue_finish(model, slot, now + NV_ADMIN_NS, status, result);
}
