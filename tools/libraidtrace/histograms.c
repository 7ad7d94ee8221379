// SPDX-License-Identifier: GPL-2.0-or-later

/* Arithmetic on histograms: bins, sums, differences. */

#include "internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Make room for bins [first, end); new ones are zero. */
int rt_histogram_cover(struct rt_histogram *h, unsigned int first,
		       unsigned int end)
{
	unsigned int old_end = h->first_bin + h->nr_bins;
	uint64_t *counts;

	if (h->nr_bins && first >= h->first_bin && end <= old_end)
		return 0;
	if (h->nr_bins) {
		first = first < h->first_bin ? first : h->first_bin;
		end = end > old_end ? end : old_end;
	}
	counts = calloc(end - first, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	if (h->nr_bins)
		memcpy(counts + (h->first_bin - first), h->counts,
		       h->nr_bins * sizeof(*counts));
	free(h->counts);
	h->counts = counts;
	h->first_bin = first;
	h->nr_bins = end - first;
	return 0;
}

int rt_histogram_count(struct rt_histogram *h, unsigned int bin,
		       uint64_t count)
{
	if (rt_histogram_cover(h, bin, bin + 1))
		return -ENOMEM;
	h->counts[bin - h->first_bin] += count;
	return 0;
}

uint64_t rt_histogram_sum(const struct rt_histogram *h)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < h->nr_bins; i++)
		sum += h->counts[i];
	return sum;
}

struct rt_histogram rt_histogram_view(const uint64_t *counts, unsigned int nr)
{
	unsigned int first = 0;

	while (nr && !counts[nr - 1])
		nr--;
	while (first < nr && !counts[first])
		first++;
	return (struct rt_histogram){
		.first_bin = first,
		.nr_bins = nr - first,
		.counts = nr ? (uint64_t *)counts + first : NULL,
	};
}

int rt_histogram_add(struct rt_histogram *h, const struct rt_histogram *next)
{
	const uint64_t *from = next->counts;
	unsigned int nr = next->nr_bins;
	uint64_t *to;

	if (!nr)
		return 0;
	if (rt_histogram_cover(h, next->first_bin, next->first_bin + nr))
		return -ENOMEM;
	to = h->counts + (next->first_bin - h->first_bin);
	/* Four at a time: a recorder adds some thousand bins for each sample of a disk. */
	for (; nr >= 4; nr -= 4, to += 4, from += 4) {
		to[0] += from[0];
		to[1] += from[1];
		to[2] += from[2];
		to[3] += from[3];
	}
	for (unsigned int i = 0; i < nr; i++)
		to[i] += from[i];
	return 0;
}

static uint64_t bin_of(const struct rt_histogram *h, unsigned int bin)
{
	return bin - h->first_bin < h->nr_bins ? h->counts[bin - h->first_bin] :
						 0;
}

/*
 * Make room for the bins [first, end) behind those of a histogram, which rt_histogram_grown() alone fills. The first
 * time this allocates up to the last bin of @from: a histogram grows in several parts.
 */
static int extend(struct rt_histogram *h, const struct rt_histogram *from,
		  unsigned int first, unsigned int end)
{
	unsigned int room = from->first_bin + from->nr_bins;

	if (end > room)
		return rt_histogram_cover(h, first, end);
	if (!h->nr_bins) {
		h->counts = calloc(room - first, sizeof(*h->counts));
		if (!h->counts)
			return -ENOMEM;
		h->first_bin = first;
	}
	if (h->first_bin + h->nr_bins < end)
		h->nr_bins = end - h->first_bin;
	return 0;
}

int rt_histogram_grown(const struct rt_histogram *from, unsigned int first,
		       const uint64_t *counts, unsigned int nr,
		       struct rt_histogram *ret)
{
	uint64_t *to;

	while (nr && counts[nr - 1] == bin_of(from, first + nr - 1))
		nr--;
	for (; nr && *counts == bin_of(from, first); counts++, first++)
		nr--;
	if (!nr)
		return 0;
	if (extend(ret, from, first, first + nr))
		return -ENOMEM;
	to = ret->counts + (first - ret->first_bin);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t before = bin_of(from, first + i);

		if (counts[i] < before)
			return -ERANGE;
		to[i] = counts[i] - before;
	}
	return 0;
}

/*
 * Counts never decrease, so each bin of @from that is not zero is within the bins of @to. Otherwise a count decreased.
 */
int rt_histogram_delta(const struct rt_histogram *from,
		       const struct rt_histogram *to, struct rt_histogram *ret)
{
	struct rt_histogram used = rt_histogram_view(from->counts,
						     from->nr_bins);

	used.first_bin += from->first_bin;
	if (used.nr_bins &&
	    (used.first_bin < to->first_bin ||
	     used.first_bin + used.nr_bins > to->first_bin + to->nr_bins))
		return -ERANGE;
	return rt_histogram_grown(&used, to->first_bin, to->counts,
				  to->nr_bins, ret);
}
