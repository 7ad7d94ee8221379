// SPDX-License-Identifier: GPL-2.0-or-later

/* From one snapshot of counters to the next. */

#include "advance.h"
#include "histograms.h"
#include "submitters.h"

#include <errno.h>
#include <string.h>

/* Room in @last for all that @span will add, so that adding cannot fail half way. */
static int make_room(struct rt_counters *last, const struct rt_counters *span)
{
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++) {
			const struct rt_histogram *h = &span->histogram[d][k];

			if (h->nr_bins &&
			    rt_histogram_cover(&last->histogram[d][k],
					       h->first_bin,
					       h->first_bin + h->nr_bins))
				return -ENOMEM;
		}
	return rt_submitters_make_room(last, span);
}

static int apply_partial(struct rt_advance *advance, struct rt_counters *last)
{
	struct rt_counters *now = &advance->now;
	int err = rt_counts_subtract(now, last);

	if (!err)
		err = rt_submitters_less(now, last);
	if (!err)
		err = make_room(last, now);
	if (err)
		return err;
	now->since_ns = last->now_ns;
	return rt_counters_add(last, now);
}

/* The counters began anew, and so does the span. */
static int delta_since_reset(const struct rt_counters *now, struct rt_counters *span)
{
	const struct rt_counters reset = { .now_ns = now->since_ns };

	return rt_counters_delta(&reset, now, span);
}

int rt_advance_apply(struct rt_advance *advance, struct rt_counters *last,
		     struct rt_counters *span)
{
	struct rt_counters *now = &advance->now;
	int err;

	if (now->resets != last->resets)
		err = delta_since_reset(now, span);
	else
		err = rt_submitters_release(last, now) ?:
		      (advance->partial ? apply_partial(advance, last) :
					  rt_counters_delta(last, now, span));
	if (err)
		return err;
	if (advance->partial) {
		*span = *now;
	} else {
		rt_counters_free(last);
		*last = *now;
	}
	memset(now, 0, sizeof(*now));
	return 0;
}
