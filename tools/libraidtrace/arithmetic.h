/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arithmetic on counters, histograms and processes; within the library. */

#ifndef RT_ARITHMETIC_H
#define RT_ARITHMETIC_H

#include "raidtrace.h"

/* rt_histogram_add - add bins to bins; 0 or -ENOMEM */
int rt_histogram_add(struct rt_histogram *histogram,
		     const struct rt_histogram *next);

/**
 * rt_histogram_delta - what the later of two histograms has more
 * @from: the earlier
 * @to: the later
 * @ret: empty; gets the bins from the first to the last that differ, which of a
 *	short span are few and often none
 *
 * Return: 0; -ENOMEM; -ERANGE when a count fell.
 */
int rt_histogram_delta(const struct rt_histogram *from,
		       const struct rt_histogram *to, struct rt_histogram *ret);

/* rt_histogram_cover - let it have bins [first, end), new ones zero; 0 or -ENOMEM */
int rt_histogram_cover(struct rt_histogram *histogram, unsigned int first,
		       unsigned int end);

/**
 * rt_histogram_grown - by how much a run of bins has grown
 * @from: the histogram as it was
 * @first: index of the first of the bins
 * @counts: the bins as they are now
 * @nr: how many
 * @ret: what grew is added; its bins lie before @first
 *
 * Return: 0; -ENOMEM; -ERANGE when a count fell.
 */
int rt_histogram_grown(const struct rt_histogram *from, unsigned int first,
		       const uint64_t *counts, unsigned int nr,
		       struct rt_histogram *ret);

/* From one snapshot to the next by what changed. */

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

/* The processes of struct rt_counters. */

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
