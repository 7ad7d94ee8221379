// SPDX-License-Identifier: GPL-2.0-or-later
/* Faults that a profile asks for. Each strikes once. */
#include "controller.h"

void tw_fault_create(struct tw_model *model)
{
	const struct tw_fault_config *config = &model->config.fault;
	struct tw_fault *fault = &model->fault;
	u64 now = rl_now_ns(&model->device);
	u32 i;

	fault->replace_ns = RL_NEVER;
	fault->full_until_ns = RL_NEVER;
	model->background.next_ns = RL_NEVER;
	for (i = 0; i < TW_FAULTS; i++)
		rl_trigger_arm(&fault->armed[i], &config->trigger[i], now);
	/* Bad sectors without a trigger are bad from the start. */
	if (config->medium_lba && !config->trigger[TW_FAULT_MEDIUM].command &&
	    !config->trigger[TW_FAULT_MEDIUM].ms)
		fault->armed[TW_FAULT_MEDIUM].due_ns = now;
	if (model->config.background.initialize)
		tw_background_start(model, TW_BACKGROUND_INITIALIZE, 0, now);
	else if (model->config.background.verify)
		tw_background_start(model, TW_BACKGROUND_VERIFY, 0, now);
}

static bool tw_is_redundant(const struct tw_model *model, u32 unit)
{
	u32 level = model->config.array.level;

	return level != TW_LEVEL_SINGLE && level != TW_LEVEL_RAID0 &&
	       model->timing.health[unit].missing == TW_NO_MEMBER;
}

/* Return: whether the unit's data can do without @member as well. */
static bool tw_is_spare(const struct tw_model *model, u32 unit, u32 member)
{
	const struct tw_health *health = &model->timing.health[unit];

	if (health->missing == TW_NO_MEMBER)
		return tw_is_redundant(model, unit);
	return model->config.array.level == TW_LEVEL_RAID10 && health->also == TW_NO_MEMBER &&
	       member / 2 != health->missing / 2;
}

/* Return: whether the unit outlives it. @number: of the drive, from 0 over all units. */
static bool tw_remove(struct tw_model *model, u32 number)
{
	u32 drives = model->config.array.drives, unit = number / drives, member = number % drives;
	bool rebuilding = model->timing.health[unit].missing != TW_NO_MEMBER;

	tw_queue_event(model, TW_AEN_DRIVE_REMOVED, TW_SEVERITY_ERROR);
	if (!tw_is_spare(model, unit, member)) {
		tw_background_stop(model, unit);
		model->fault.offline[unit] = true;
		tw_queue_event(model, TW_AEN_INCOMPLETE_UNIT, TW_SEVERITY_ERROR);
		return false;
	}
	/* The rebuild of another pair goes on; anything else would need all members. */
	if (!rebuilding)
		tw_background_stop(model, unit);
	tw_timing_lose_drive(&model->timing, unit, member);
	tw_members_erase(model, unit, member);
	tw_queue_event(model, TW_AEN_DEGRADED_UNIT, TW_SEVERITY_ERROR);
	return true;
}

/* A new drive in the place of fault.remove_member, unless the unit has died meanwhile. */
static void tw_replace(struct tw_model *model, u64 now)
{
	u32 number = model->config.fault.remove_member - 1, drives = model->config.array.drives;
	struct tw_health *health = &model->timing.health[number / drives];

	model->fault.replace_ns = RL_NEVER;
	tw_queue_event(model, TW_AEN_DRIVE_INSERTED, TW_SEVERITY_INFO);
	if (model->fault.offline[number / drives])
		return;
	/*
	 * The rebuild is of the member that was missing first: this one, whichever was removed
	 * first.
	 */
	if (health->also == number % drives) {
		health->also = health->missing;
		health->missing = number % drives;
	}
	tw_background_start(model, TW_BACKGROUND_REBUILD, number / drives, now);
}

static void tw_recall(void *context, u32 number, u64 lba, u32 sectors)
{
	tw_platter_recall(context, number, lba, sectors);
}

/* Data in the cache waits until the battery is empty, or is lost. All commands are forgotten. */
static void tw_cut_power(struct tw_model *model, u64 now)
{
	const struct tw_landing lost = { tw_recall, model };
	struct tw_timing *timing = &model->timing;
	u32 i;

	tw_timing_advance(timing, now);
	tw_queue_reset(model);
	if (model->config.controller.battery && timing->dirty_sectors)
		tw_queue_event(model, TW_AEN_CACHE_KEPT, TW_SEVERITY_INFO);
	else if (!model->config.controller.battery && tw_timing_lose_cache(timing, &lost))
		tw_queue_event(model, TW_AEN_CACHE_LOST, TW_SEVERITY_ERROR);
	for (i = 0; i < TW_MAX_DRIVES; i++)
		rl_drive_power_on(&timing->drive[i]);
	model->fault.reset_next = true;
}

/* @lba: where it struck, for faults that have a place. */
static void tw_begin(struct tw_model *model, enum tw_fault_kind kind, u64 lba, u64 now)
{
	const struct tw_fault_config *config = &model->config.fault;
	struct tw_fault *fault = &model->fault;

	switch (kind) {
	case TW_FAULT_LOSE:
		fault->lose_next = true;
		break;
	case TW_FAULT_MEDIUM:
		fault->bad.lba = config->medium_lba ? config->medium_lba : lba;
		fault->bad.sectors = config->medium_sectors;
		break;
	case TW_FAULT_SLOW:
		model->timing.drive[config->slow_member - 1].slow = config->slow_factor;
		break;
	case TW_FAULT_REMOVE:
		if (tw_remove(model, config->remove_member - 1) && config->replace_ms)
			fault->replace_ns = now + config->replace_ms * 1000 * RL_NS_PER_US;
		break;
	case TW_FAULT_SECOND:
		tw_remove(model, config->second_member - 1);
		break;
	case TW_FAULT_RESET:
		tw_queue_reset(model);
		fault->reset_next = true;
		break;
	case TW_FAULT_FULL:
		fault->full = true;
		fault->full_until_ns = now + config->full_for_ms * 1000 * RL_NS_PER_US;
		break;
	case TW_FAULT_GONE:
		fault->offline[config->unit] = true;
		tw_queue_event(model, TW_AEN_UNIT_DELETED, TW_SEVERITY_ERROR);
		break;
	case TW_FAULT_POWER:
		tw_cut_power(model, now);
		break;
	case TW_FAULTS:
		break;
	}
}

void tw_fault_advance(struct tw_model *model, u64 now)
{
	struct tw_fault *fault = &model->fault;
	u32 i;

	tw_background_advance(model, now);
	for (i = 0; i < TW_FAULTS; i++) {
		if (!rl_trigger_is_due(&fault->armed[i], now))
			continue;
		tw_begin(model, i, 0, now);
		/* No command was in flight; the next one is not lost. */
		fault->reset_next = false;
	}
	if (fault->full_until_ns <= now) {
		fault->full = false;
		fault->full_until_ns = RL_NEVER;
	}
	if (fault->replace_ns <= now)
		tw_replace(model, now);
}

u64 tw_fault_wake_ns(const struct tw_model *model)
{
	const struct tw_fault *fault = &model->fault;
	u64 wake = rl_min(fault->full_until_ns, fault->replace_ns);

	wake = rl_min(wake, rl_trigger_wake_ns(fault->armed, TW_FAULTS));
	return rl_min(wake, model->background.next_ns);
}

enum tw_fate tw_fault_strike(struct tw_model *model, u32 unit, u64 lba, u32 sectors, u64 now)
{
	const struct tw_fault_config *config = &model->config.fault;
	struct tw_fault *fault = &model->fault;
	enum tw_fate fate = TW_FATE_NONE;
	u32 i;

	model->nr_transfers++;
	for (i = 0; i < TW_FAULTS; i++) {
		if (rl_trigger_strikes(&fault->armed[i], &config->trigger[i], model->nr_transfers, lba,
				       unit == config->unit ? sectors : 0))
			tw_begin(model, i, lba, now);
	}
	if (fault->lose_next)
		fate = TW_FATE_LOST;
	if (fault->reset_next)
		fate = TW_FATE_RESET;
	fault->lose_next = false;
	fault->reset_next = false;
	return fate;
}

u32 tw_fault_read(struct tw_model *model, u32 unit, u64 lba, u32 sectors)
{
	struct tw_fault *fault = &model->fault;

	if (unit != model->config.fault.unit || !rl_bad_meets(&fault->bad, lba, sectors))
		return sectors;
	tw_queue_event(model, TW_AEN_DRIVE_ECC_ERROR, TW_SEVERITY_ERROR);
	if (!tw_is_redundant(model, unit))
		return lba > fault->bad.lba ? 0 : (u32)(fault->bad.lba - lba);
	fault->bad.sectors = 0;
	tw_queue_event(model, TW_AEN_SECTOR_REPAIRED, TW_SEVERITY_INFO);
	return sectors;
}

void tw_fault_write(struct tw_model *model, u32 unit, u64 lba, u32 sectors)
{
	if (unit == model->config.fault.unit)
		rl_bad_mend(&model->fault.bad, lba, sectors);
}
