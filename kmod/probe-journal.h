/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a filesystem's journal is. */
#ifndef RAIDTRACE_PROBE_JOURNAL_H
#define RAIDTRACE_PROBE_JOURNAL_H

#include <linux/rcupdate.h>
#include <linux/types.h>

/* Ranges that a journal may have. */
#define RAIDTRACE_JOURNAL_MAX 64

/**
 * struct raidtrace_extent - a range of the disk
 * @sector: where it begins
 * @nr_sectors: how long it is
 */
struct raidtrace_extent {
	u64 sector;
	u64 nr_sectors;
};

/**
 * struct raidtrace_journal - where a filesystem's journal is
 * @rcu: frees it
 * @nr: number of ranges
 * @extent: the ranges
 */
struct raidtrace_journal {
	struct rcu_head rcu;
	u32 nr;
	struct raidtrace_extent extent[RAIDTRACE_JOURNAL_MAX];
};

#endif /* RAIDTRACE_PROBE_JOURNAL_H */
