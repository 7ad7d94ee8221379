/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sectors that cannot be read until they are written. */
#ifndef RL_BAD_H
#define RL_BAD_H

#include "base/types.h"

/**
 * struct rl_bad - a run of them
 * @lba: the first
 * @sectors: how many; 0 is none
 */
struct rl_bad {
	u64 lba;
	u32 sectors;
};

/* Return: whether any of these sectors is bad. */
static inline bool rl_bad_meets(const struct rl_bad *bad, u64 lba, u64 sectors)
{
	return bad->sectors && lba < bad->lba + bad->sectors && bad->lba < lba + sectors;
}

/* These sectors are written: the drive puts the data elsewhere, so that they can be read again. */
static inline void rl_bad_mend(struct rl_bad *bad, u64 lba, u64 sectors)
{
	u64 end = bad->lba + bad->sectors;

	if (!rl_bad_meets(bad, lba, sectors))
		return;
	/* A write into the middle leaves the part behind it: the larger truth would be a list. */
	if (lba <= bad->lba) {
		bad->lba = rl_min(lba + sectors, end);
		bad->sectors = (u32)(end - bad->lba);
	} else if (lba + sectors >= end) {
		bad->sectors = (u32)(lba - bad->lba);
	}
}

#endif
