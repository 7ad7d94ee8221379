/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arithmetic on histograms that counters.c is made of. */

#ifndef HISTOGRAMS_H
#define HISTOGRAMS_H

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

#endif
