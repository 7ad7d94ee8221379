// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that a profile asks for. Each strikes once. */
#include "model.h"

void nv_fault_create(struct nv_model *model)
{
	const struct nv_fault_config *config = &model->config.fault;
	const struct rl_trigger *medium = &config->trigger[NV_FAULT_MEDIUM];
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < NV_FAULTS; i++)
		rl_trigger_arm(&model->fault.armed[i], &config->trigger[i], now);
	/* Bad sectors without another trigger are bad from the start. */
	if (config->medium_lba && !medium->command && !medium->ms)
		model->fault.armed[NV_FAULT_MEDIUM].due_ns = now;
}

/* @lba: where it struck, for faults that have a place. */
static void nv_begin(struct nv_model *model, enum nv_fault_kind kind, u64 lba)
{
	const struct nv_fault_config *config = &model->config.fault;
	struct nv_fault *fault = &model->fault;

	switch (kind) {
	case NV_FAULT_LOSE:
		fault->lose_next = true;
		break;
	case NV_FAULT_MEDIUM:
		fault->bad.lba = config->medium_lba ? config->medium_lba : lba;
		fault->bad.sectors = config->medium_sectors;
		break;
	case NV_FAULT_SLOW:
		model->timing.flash.slow = config->slow_factor;
		break;
	case NV_FAULT_RESET:
		nv_model_fail(model);
		break;
	case NV_FAULT_GONE:
		fault->gone = true;
		nv_model_fail(model);
		break;
	case NV_FAULTS:
		break;
	}
}

void nv_fault_advance(struct nv_model *model, u64 now)
{
	u32 i;

	for (i = 0; i < NV_FAULTS; i++)
		if (rl_trigger_is_due(&model->fault.armed[i], now))
			nv_begin(model, i, 0);
}

u64 nv_fault_wake_ns(const struct nv_model *model)
{
	return rl_trigger_wake_ns(model->fault.armed, NV_FAULTS);
}

enum nv_fate nv_fault_strike(struct nv_model *model, u64 lba, u32 sectors)
{
	struct nv_fault *fault = &model->fault;
	u32 i;

	model->nr_transfers++;
	for (i = 0; i < NV_FAULTS; i++)
		if (rl_trigger_strikes(&fault->armed[i], &model->config.fault.trigger[i],
				       model->nr_transfers, lba, sectors))
			nv_begin(model, i, lba);
	if (model->csts & NV_CSTS_FATAL)
		return NV_FATE_FORGOTTEN;
	if (!fault->lose_next)
		return NV_FATE_NONE;
	fault->lose_next = false;
	return NV_FATE_LOST;
}
