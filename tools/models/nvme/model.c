// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers of the controller: enabled, shut down, reset. */
#include "model.h"

/* Update the interrupt line and the time at which the host calls nv_model_tick(). */
static void nv_settle(struct nv_model *model)
{
	rl_device_wake_at(&model->device,
			  rl_min(rl_heap_first_ns(&model->due), nv_fault_wake_ns(model)));
	rl_device_set_irq(&model->device, nv_queue_irq(model));
}

void nv_model_fail(struct nv_model *model)
{
	u32 i;

	nv_queue_forget(model);
	for (i = 0; i < NV_QUEUES; i++)
		model->cq[i].head = model->cq[i].tail;
	model->csts |= NV_CSTS_FATAL;
	nv_queue_drop(model);
}

/* Reset the controller. The registers that describe queue 0 keep their values. */
static void nv_disable(struct nv_model *model)
{
	nv_queue_clear(model);
	model->csts = 0;
	model->masked = 0;
	rl_fill(model->feature, 0, sizeof(model->feature));
	model->feature[NV_FEATURE_WRITE_CACHE] = model->config.controller.write_cache;
}

static void nv_enable(struct nv_model *model)
{
	u32 entries = (model->aqa & 0xfff) + 1, completions = (model->aqa >> 16 & 0xfff) + 1;

	model->csts = NV_CSTS_READY;
	if (model->cc & NV_CC_SET_PAGE_ROUND || entries == 1 || completions == 1) {
		model->csts = NV_CSTS_FATAL;
		return;
	}
	model->sq[0].base = model->asq;
	model->sq[0].entries = entries;
	model->cq[0].base = model->acq;
	model->cq[0].entries = completions;
	model->cq[0].phase = true;
	model->cq[0].interrupts = true;
}

static void nv_control(struct nv_model *model, u32 value)
{
	bool was_enabled = model->cc & NV_CC_ENABLE;

	model->cc = value;
	if (was_enabled && !(value & NV_CC_ENABLE))
		nv_disable(model);
	else if (!was_enabled && value & NV_CC_ENABLE)
		nv_enable(model);
	if (value & NV_CC_SHUTDOWN)
		model->csts |= NV_CSTS_SHUTDOWN_DONE;
}

static u64 nv_pair(u32 offset, u64 value)
{
	return offset % 8 ? value >> 32 : (u32)value;
}

static u64 nv_capabilities(const struct nv_model *model)
{
	return NV_CAP(NV_MAX_ENTRIES) | (model->config.rotational ? NV_CAP_HAS_COMMON : 0);
}

u32 nv_model_read(struct nv_model *model, u32 offset)
{
	if (model->fault.gone)
		return ~0U;
	switch (offset) {
	case NV_REG_CAP:
	case NV_REG_CAP + 4:
		return (u32)nv_pair(offset, nv_capabilities(model));
	case NV_REG_VS:
		return NV_VERSION;
	case NV_REG_INTMS:
	case NV_REG_INTMC:
		return model->masked;
	case NV_REG_CC:
		return model->cc;
	case NV_REG_CSTS:
		return model->csts;
	case NV_REG_AQA:
		return model->aqa;
	case NV_REG_ASQ:
	case NV_REG_ASQ + 4:
		return (u32)nv_pair(offset, model->asq);
	case NV_REG_ACQ:
	case NV_REG_ACQ + 4:
		return (u32)nv_pair(offset, model->acq);
	}
	return 0;
}

/* One half of the address of a queue, which is that of a page. */
static void nv_put_half(u64 *address, u32 offset, u32 value)
{
	if (offset % 8)
		*address = (u32)*address | (u64)value << 32;
	else
		*address = (*address & ~0xffffffffULL) | (value & ~(NV_PAGE_BYTES - 1));
}

void nv_model_write(struct nv_model *model, u32 offset, u32 value)
{
	if (model->fault.gone)
		return;
	switch (offset) {
	case NV_REG_INTMS:
		model->masked |= value;
		break;
	case NV_REG_INTMC:
		model->masked &= ~value;
		break;
	case NV_REG_CC:
		nv_control(model, value);
		break;
	case NV_REG_AQA:
		model->aqa = value;
		break;
	case NV_REG_ASQ:
	case NV_REG_ASQ + 4:
		nv_put_half(&model->asq, offset, value);
		break;
	case NV_REG_ACQ:
	case NV_REG_ACQ + 4:
		nv_put_half(&model->acq, offset, value);
		break;
	default:
		if (offset < NV_REG_DOORBELL || offset >= NV_REG_BYTES || offset % 4 ||
		    !(model->csts & NV_CSTS_READY))
			return;
		nv_queue_doorbell(model, (offset - NV_REG_DOORBELL) / 4, value);
	}
	nv_settle(model);
}

void nv_model_tick(struct nv_model *model)
{
	u64 now = rl_now_ns(&model->device);

	model->device.wake_ns = RL_NEVER;
	nv_queue_answer(model, now);
	nv_fault_advance(model, now);
	nv_settle(model);
}

void nv_model_event(struct nv_model *model, u16 event)
{
	if (model->fault.gone)
		return;
	nv_queue_event(model, event, rl_now_ns(&model->device));
	nv_settle(model);
}

void nv_model_reset(struct nv_model *model)
{
	model->cc = 0;
	model->aqa = 0;
	model->asq = 0;
	model->acq = 0;
	nv_disable(model);
	nv_settle(model);
}

bool nv_model_create(struct nv_model *model, const struct nv_config *config,
		     const struct rl_host_ops *ops, void *host, rl_alloc_chunk_fn alloc)
{
	rl_device_init(&model->device, &nv_kind, ops, host);
	model->config = *config;
	nv_timing_create(&model->timing, config);
	nv_fault_create(model);
	if (!rl_store_create(&model->store, config->sectors, config->base.store_mib, alloc, host) ||
	    !rl_log_create(&model->device.log, config->base.log_entries, alloc, host))
		return false;
	nv_disable(model);
	nv_settle(model);
	return true;
}
