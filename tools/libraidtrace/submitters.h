/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arithmetic on the processes of struct rt_counters; within the library. */

#ifndef RT_SUBMITTERS_H
#define RT_SUBMITTERS_H

#include "raidtrace.h"

/**
 * rt_submitters_append - one process more
 * @counters: that it is of
 * @submitter: copied
 *
 * Return: 0 or -ENOMEM.
 */
int rt_submitters_append(struct rt_counters *counters,
			 const struct rt_submitter *submitter);

/* Add those of @next to those of @sum; 0 or -ENOMEM. */
int rt_submitters_add(struct rt_counters *sum, const struct rt_counters *next);

/* Subtract those of @from, which @counters has too; 0 or -ERANGE. */
int rt_submitters_subtract(struct rt_counters *counters,
			   const struct rt_counters *from);

/* Rows of nothing for processes that only @next has; 0 or -ENOMEM. */
int rt_submitters_make_room(struct rt_counters *counters,
			    const struct rt_counters *next);

/* Subtract from those of @counters what @from has of them; 0 or -ERANGE. */
int rt_submitters_less(struct rt_counters *counters,
		       const struct rt_counters *from);

/*
 * Move what processes had in @last that have given their rows away in @now to
 * the row of the rest, as the module did; 0 or -ENOMEM.
 */
int rt_submitters_release(struct rt_counters *last, const struct rt_counters *now);

#endif
