// SPDX-License-Identifier: GPL-2.0-or-later

/* The line that says how a recording goes. */

#include "record/loop.h"

#include <stdio.h>

#include "base/base.h"
#include "numbers/numbers.h"

#define SHOW_NS	(NS_PER_S / 2)

static void sum_up(const struct recorder *recorder,
		   struct record_progress *ret)
{
	*ret = (struct record_progress){ .shown_ns = recorder->now_ns };
	for (size_t i = 0; i < recorder->nr; i++) {
		const struct rt_counters *total = &recorder->disks[i].total;
		struct direction_stats stats;

		stats_of(total, RAIDTRACE_DIRECTION_ALL, &stats);
		ret->depth_ns += stats.depth_mean *
				 (double)(total->now_ns - total->since_ns);
		for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_OTHER; d++) {
			stats_of(total, d, &stats);
			ret->bytes += (double)stats.bytes;
			ret->issued += (double)stats.requests;
			ret->sequential += (double)stats.sequential;
		}
	}
}

void record_progress_show(struct record_progress *progress,
			  const struct recorder *recorder, const char *phase,
			  uint64_t left_ns)
{
	char clock[UNITS_TEXT], size[UNITS_TEXT], share[UNITS_TEXT];
	char text[UNITS_TEXT], left[UNITS_TEXT + 8] = "";
	struct record_progress now, last = *progress;
	double ns, issued;

	if (!progress_is_shown() ||
	    recorder->now_ns - last.shown_ns < SHOW_NS)
		return;
	sum_up(recorder, &now);
	*progress = now;
	if (!last.shown_ns)
		last.shown_ns = recorder->start_ns;
	ns = (double)(now.shown_ns - last.shown_ns);
	issued = now.issued - last.issued;
	format_clock(clock, recorder->now_ns - recorder->start_ns);
	if (left_ns)
		snprintf(left, sizeof(left), ", %s left",
			 format_clock(text, left_ns));
	if (issued > 0)
		progress_show("[%s%s%s%s  %.1f MB/s, %.1f in flight, %s, %s sequential]",
			      clock, left, phase ? " " : "", phase ? phase : "",
			      (now.bytes - last.bytes) / ns * 1e3,
			      (now.depth_ns - last.depth_ns) / ns,
			      format_bytes(size, (now.bytes - last.bytes) / issued),
			      format_share(share,
					   now.sequential - last.sequential,
					   issued));
	else
		progress_show("[%s%s%s%s  no requests, %.1f in flight]", clock,
			      left, phase ? " " : "", phase ? phase : "",
			      (now.depth_ns - last.depth_ns) / ns);
}
