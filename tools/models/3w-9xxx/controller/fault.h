/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults that a profile asks for: when they strike, and what they do. */
#ifndef TW_FAULT_H
#define TW_FAULT_H

#include "controller.h"

/* What becomes of a READ or WRITE that a fault strikes. */
enum tw_fate {
	TW_FATE_NONE,
	TW_FATE_LOST,		/* never answered */
	TW_FATE_RESET,		/* thrown away by the controller's reset */
};

void tw_fault_create(struct tw_model *model);

/* Faults by time, the replacement of a drive, background work: all that is due by @now. */
void tw_fault_advance(struct tw_model *model, u64 now);

/* Return: when tw_fault_advance() has something to do next, or RL_NEVER. */
u64 tw_fault_wake_ns(const struct tw_model *model);

/* A READ or WRITE has come: faults by command count and by LBA. */
enum tw_fate tw_fault_strike(struct tw_model *model, u32 unit, u64 lba, u32 sectors, u64 now);

/**
 * tw_fault_read() - whether a READ meets sectors that cannot be read
 * @model: the controller
 * @unit: the unit
 * @lba: first sector
 * @sectors: how many
 *
 * A unit with redundancy reads them from its other members and repairs them.
 *
 * Return: sectors before the first that cannot be read; @sectors if there is none.
 */
u32 tw_fault_read(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/* A WRITE: the drive puts what is written elsewhere, so that it can be read again. */
void tw_fault_write(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

#endif
