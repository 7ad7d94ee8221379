/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the drives hold, apart from what is still in the write-back cache.
 *
 * Only where a profile cuts the power of a cache without battery: the store then
 * has each sector twice, as commands see it and as it is on the platters.
 */
#ifndef TW_PLATTER_H
#define TW_PLATTER_H

#include "controller.h"

/* Return: whether the profile needs this; the store then holds members (member.h). */
bool tw_platter_wanted(const struct tw_config *config);

/* From now on what a drive writes reaches its platters. */
void tw_platter_attach(struct tw_model *model);

/* All three: sectors of drive @number, counted over all units. No effect where it is not wanted. */
void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors);
void tw_platter_erase(struct tw_model *model, u32 number);

/* What the cache held for the drive is gone: commands see what is on the platters. */
void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors);

#endif
