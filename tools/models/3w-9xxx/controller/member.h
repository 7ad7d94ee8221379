/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contents of redundant units member by member, copies and parity included.
 *
 * Only for profiles that remove, initialise or verify a member: the contents of a lost
 * member are then computed from the others, and a rebuild writes them. For other
 * profiles the store has each sector once, in the unit's order.
 */
#ifndef TW_MEMBER_H
#define TW_MEMBER_H

#include "controller.h"

/*
 * Contents of the platters, without the data that only the write-back cache has.
 *
 * Only for profiles that cut the power of a cache without battery: the store then
 * has each sector twice, as commands read it and as it is on the platters.
 */

/* Return: whether the profile needs this; the store then has members. */
bool tw_has_platters(const struct tw_config *config);

/* From now on writes of a drive reach its platters. */
void tw_platter_attach(struct tw_model *model);

/* All three: sectors of drive @number, counted over all units. No effect without platters. */
void tw_platter_write(struct tw_model *model, u32 number, u64 lba, u32 sectors);
void tw_platter_erase(struct tw_model *model, u32 number);

/* The cached data of the drive is lost: commands read the platters. */
void tw_platter_recall(struct tw_model *model, u32 number, u64 lba, u32 sectors);

/* Return: whether the profile needs this. */
bool tw_has_members(const struct tw_config *config);

/* Both: at most TW_BOUNCE_SECTORS; @lba counts over all units; @data is not old or other. */
void tw_members_read(struct tw_model *model, u64 lba, u32 sectors, void *data);

/* Return: false when the store is exhausted. */
bool tw_members_write(struct tw_model *model, u64 lba, u32 sectors, const void *data);

/* A new, empty drive in place of the member. */
void tw_members_erase(struct tw_model *model, u32 unit, u32 member);

/* Compute the sectors of the missing member. Return: false when the store is exhausted. */
bool tw_members_rebuild(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

/* Return: sectors of copies or parity that do not match the data. */
u32 tw_members_verify(struct tw_model *model, u32 unit, u64 lba, u32 sectors);

#endif
