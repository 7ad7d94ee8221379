// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Background work goes over the members in steps of array.background_kib. Each
 * step competes with commands for the drives; after it the drives are left alone
 * for array.background_pause_us.
 */
#include "controller.h"

static const struct {
	const char *name;
	u16 started;
	u16 done;
	u16 failed;
} tw_kinds[] = {
	[TW_BACKGROUND_NONE] = { "none", 0, 0, 0 },
	[TW_BACKGROUND_REBUILD] = { "rebuild", TW_AEN_REBUILD_STARTED, TW_AEN_REBUILD_DONE,
				    TW_AEN_REBUILD_FAILED },
	[TW_BACKGROUND_INITIALIZE] = { "initialize", TW_AEN_INITIALIZE_STARTED,
				       TW_AEN_INITIALIZE_DONE, TW_AEN_INITIALIZE_FAILED },
	[TW_BACKGROUND_VERIFY] = { "verify", TW_AEN_VERIFY_STARTED, TW_AEN_VERIFY_DONE,
				   TW_AEN_VERIFY_FAILED },
};

const char *tw_background_name(u32 kind)
{
	return kind < RL_COUNT(tw_kinds) ? tw_kinds[kind].name : "unknown";
}

void tw_background_start(struct tw_model *model, enum tw_background_kind kind, u32 unit, u64 now)
{
	rl_fill(&model->background, 0, sizeof(model->background));
	model->background.kind = kind;
	model->background.unit = unit;
	model->background.next_ns = now;
	tw_queue_event(model, tw_kinds[kind].started, TW_SEVERITY_INFO);
}

static void tw_end(struct tw_model *model, u16 code, u8 severity)
{
	model->background.kind = TW_BACKGROUND_NONE;
	model->background.next_ns = RL_NEVER;
	tw_queue_event(model, code, severity);
}

void tw_background_stop(struct tw_model *model, u32 unit)
{
	const struct tw_background *background = &model->background;

	if (background->kind != TW_BACKGROUND_NONE && background->unit == unit)
		tw_end(model, tw_kinds[background->kind].failed, TW_SEVERITY_ERROR);
}

/* Whether a member takes part in working out another one. */
static bool tw_is_source(const struct tw_array *array, u32 member, u32 of)
{
	return member != of && (array->level == TW_LEVEL_RAID5 || member / 2 == of / 2);
}

static u64 tw_read_step(struct tw_timing *timing, u32 number, u64 lba, u32 sectors, u64 begin)
{
	tw_backlog_catch_up(&timing->backlog[number], begin);
	return rl_drive_read(&timing->drive[number], lba, sectors, begin);
}

static u64 tw_write_step(struct tw_timing *timing, u32 number, u64 lba, u32 sectors, u64 begin)
{
	tw_backlog_catch_up(&timing->backlog[number], begin);
	return rl_drive_write(&timing->drive[number], lba, sectors, begin, 0);
}

/* The member that a row's initialisation writes from the others: parity, or the second copy. */
static bool tw_is_derived(const struct tw_array *array, u64 lba, u32 member)
{
	if (array->level == TW_LEVEL_RAID5)
		return tw_array_parity(array, lba / array->stripe) == member;
	return member % 2;
}

/* One stripe of all members. Return: when it is initialised. */
static u64 tw_initialize_row(struct tw_timing *timing, u32 base, u64 lba, u64 begin)
{
	const struct tw_array *array = &timing->array;
	u64 done = begin, written;
	u32 i;

	for (i = 0; i < array->drives; i++)
		if (!tw_is_derived(array, lba, i))
			done = rl_max(done, tw_read_step(timing, base + i, lba, array->stripe,
							 begin));
	written = done;
	for (i = 0; i < array->drives; i++)
		if (tw_is_derived(array, lba, i))
			written = rl_max(written, tw_write_step(timing, base + i, lba,
								array->stripe, done));
	return written;
}

/* Return: when the drives have done a step. */
static u64 tw_step_drives(struct tw_model *model, u32 sectors)
{
	const struct tw_background *background = &model->background;
	struct tw_timing *timing = &model->timing;
	const struct tw_array *array = &timing->array;
	u32 base = background->unit * array->drives, i;
	u32 missing = timing->health[background->unit].missing;
	u64 done = background->next_ns;

	if (background->kind == TW_BACKGROUND_INITIALIZE) {
		for (i = 0; i < sectors; i += array->stripe)
			done = tw_initialize_row(timing, base, background->at + i, done);
		return done;
	}
	for (i = 0; i < array->drives; i++)
		if (background->kind == TW_BACKGROUND_VERIFY || tw_is_source(array, i, missing))
			done = rl_max(done, tw_read_step(timing, base + i, background->at,
							 sectors, background->next_ns));
	if (background->kind == TW_BACKGROUND_REBUILD)
		done = tw_write_step(timing, base + missing, background->at, sectors, done);
	return done;
}

/* Return: false if it cannot go on. */
static bool tw_step_contents(struct tw_model *model, u32 sectors)
{
	struct tw_background *background = &model->background;
	struct tw_health *health = &model->timing.health[background->unit];

	if (background->kind == TW_BACKGROUND_VERIFY)
		background->differing += tw_members_verify(model, background->unit, background->at,
							   sectors);
	if (background->kind != TW_BACKGROUND_REBUILD)
		return true;
	if (!tw_members_rebuild(model, background->unit, background->at, sectors))
		return false;
	tw_platter_write(model, background->unit * model->timing.array.drives + health->missing,
			 background->at, sectors);
	health->rebuilt = background->at + sectors;
	if (health->rebuilt == model->timing.array.drive_sectors) {
		health->missing = health->also;
		health->also = TW_NO_MEMBER;
		health->rebuilt = 0;
	}
	return true;
}

static void tw_step(struct tw_model *model)
{
	struct tw_background *background = &model->background;
	const struct tw_background_config *config = &model->config.background;
	u64 left = model->timing.array.drive_sectors - background->at;
	u32 stripe = model->timing.array.stripe;
	u32 sectors = (u32)rl_min(left, rl_max(config->kib * 2 / stripe * stripe, stripe));
	u64 done = tw_step_drives(model, sectors);

	if (!tw_step_contents(model, sectors)) {
		tw_end(model, tw_kinds[background->kind].failed, TW_SEVERITY_ERROR);
		return;
	}
	background->at += sectors;
	background->next_ns = done + config->pause_us * RL_NS_PER_US;
	if (sectors == left)
		tw_end(model, tw_kinds[background->kind].done, TW_SEVERITY_INFO);
}

void tw_background_advance(struct tw_model *model, u64 now)
{
	while (model->background.kind != TW_BACKGROUND_NONE && model->background.next_ns <= now)
		tw_step(model);
}
