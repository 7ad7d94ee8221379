/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From one snapshot to the next by what changed; within the library. */

#ifndef RT_ADVANCE_H
#define RT_ADVANCE_H

#include "raidtrace.h"

/**
 * struct rt_advance - an answer that may tell only what changed
 * @last: the snapshot it is counted from
 * @now: what the answer says: a snapshot; of a partial answer the counters as they
 *	are now, but processes that are named alone, and histograms by how much they grew
 * @partial: what the answer left out is as in @last
 */
struct rt_advance {
	const struct rt_counters *last;
	struct rt_counters now;
	bool partial;
};

/**
 * rt_advance_apply - what happened since the last snapshot, which becomes this one
 * @advance: whose @now is taken over
 * @last: its last
 * @span: empty
 *
 * Return: 0; -ENOMEM or -ERANGE, @last is then as it was and @span empty.
 */
int rt_advance_apply(struct rt_advance *advance, struct rt_counters *last,
		     struct rt_counters *span);

/* Subtract all but histograms and processes; 0, or -ERANGE when a counter fell. */
int rt_counts_subtract(struct rt_counters *c, const struct rt_counters *from);

#endif
