/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rebuilding, initialising and verifying: work of the drives that no command asked for. */
#ifndef TW_BACKGROUND_H
#define TW_BACKGROUND_H

#include "controller.h"

/* Begin from sector 0 of the members; what ran before is given up. Raises an event. */
void tw_background_start(struct tw_model *model, enum tw_background_kind kind, u32 unit, u64 now);

/* It will not go on: a member of its unit has gone. */
void tw_background_stop(struct tw_model *model, u32 unit);

/* Do every step that would have begun by @now. */
void tw_background_advance(struct tw_model *model, u64 now);

/* Return: the kind's name, "none" among them. */
const char *tw_background_name(u32 kind);

#endif
