// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that a profile asks for. */
#include "ahci.h"

static void ah_strike(struct ah_model *model, enum ah_fault_kind kind, u64 lba, u64 now)
{
	const struct ah_fault_config *config = &model->config.fault;

	switch (kind) {
	case AH_FAULT_LOSE:
		model->lose_next = true;
		break;
	case AH_FAULT_MEDIUM:
		model->bad.lba = config->medium_lba ? config->medium_lba : lba;
		model->bad.sectors = config->medium_sectors;
		break;
	case AH_FAULT_SLOW:
		model->disk.drive.slow = config->slow_factor;
		if (model->flash)
			model->flash->flash.slow = config->slow_factor;
		break;
	case AH_FAULT_RESET:
		ah_forget(model, now);
		ah_link_down(model, true);
		break;
	case AH_FAULT_GONE:
		model->gone = true;
		ah_forget(model, now);
		ah_link_down(model, false);
		break;
	case AH_FAULTS:
		break;
	}
}

void ah_fault_create(struct ah_model *model)
{
	const struct ah_fault_config *config = &model->config.fault;
	u64 now = rl_now_ns(&model->device);
	u32 i;

	for (i = 0; i < AH_FAULTS; i++)
		rl_trigger_arm(&model->armed[i], &config->trigger[i], now);
	/* Bad sectors without a trigger are bad from the start. */
	if (config->medium_lba && !config->trigger[AH_FAULT_MEDIUM].command &&
	    !config->trigger[AH_FAULT_MEDIUM].ms)
		ah_strike(model, AH_FAULT_MEDIUM, 0, now);
}

void ah_fault_advance(struct ah_model *model, u64 now)
{
	u32 i;

	for (i = 0; i < AH_FAULTS; i++)
		if (rl_trigger_is_due(&model->armed[i], now))
			ah_strike(model, i, 0, now);
}

void ah_fault_transfer(struct ah_model *model, u64 lba, u32 sectors, u64 now)
{
	u32 i;

	model->nr_transfers++;
	for (i = 0; i < AH_FAULTS; i++)
		if (rl_trigger_strikes(&model->armed[i], &model->config.fault.trigger[i],
				       model->nr_transfers, lba, sectors))
			ah_strike(model, i, lba, now);
}

u64 ah_fault_wake_ns(const struct ah_model *model)
{
	return rl_trigger_wake_ns(model->armed, AH_FAULTS);
}
