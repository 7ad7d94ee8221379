/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents of redundant units member by member, copies and parity included.
 *
 * Only where a profile removes, initialises or verifies something: what a lost
 * member held is then really worked out from the others, and a rebuild really
 * writes it. Elsewhere the store holds each sector once, in the unit's order.
 */
#ifndef TW_MEMBER_H
#define TW_MEMBER_H

#include "controller.h"

/*
 * What the drives hold, apart from what is still in the write-back cache.
 *
 * Only where a profile cuts the power of a cache without battery: the store then
 * has each sector twice, as commands see it and as it is on the platters.
 */

/* Return: whether the profile needs this; the store then holds members. */
bool tw_platter_wanted(const struct tw_config *config);

/* From now on what a drive writes reaches its platters. */
void tw_platter_attach(struct tw_model *model);

/* All three: sectors of drive @number, counted over all units. No effect where it is not wanted. */
void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors);
void tw_platter_erase(struct tw_model *model, u32 number);

/* What the cache held for the drive is gone: commands see what is on the platters. */
void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors);

/* Return: whether the profile needs this. */
bool tw_members_wanted(const struct tw_config *config);

/* Both: at most TW_BOUNCE_SECTORS; @lba counts over all units; @data is not old or other. */
void tw_members_read(struct tw_model *model, u64 lba, u32 sectors, void *data);

/* Return: false when the store is exhausted. */
bool tw_members_write(struct tw_model *model, u64 lba, u32 sectors, const void *data);

/* A new, empty drive in place of the member. */
void tw_members_erase(struct tw_model *model, u32 unit, u32 member);

/* Work out the missing member's sectors. Return: false when the store is exhausted. */
bool tw_members_rebuild(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/* Return: sectors of copies or parity that differ from what the data says. */
u32 tw_members_verify(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

#endif
