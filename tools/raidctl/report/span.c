// SPDX-License-Identifier: GPL-2.0-or-later

/* Counters of one span as text: a line for each direction, and histograms in characters. */

#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"
#include "numbers/numbers.h"

#define BAR_WIDTH	16

static void text_share(char *ret, const struct direction_stats *stats)
{
	if (stats->sequential_known)
		format_share(ret, (double)stats->sequential, (double)stats->requests);
	else
		strcpy(ret, "n/a");
}

static void text_depth(char *mean, char *max, const struct direction_stats *s)
{
	format_depth(mean, s);
	if (s->depth_known)
		snprintf(max, UNITS_TEXT, "%" PRIu64 "%s", s->depth_max,
			 s->depth_open ? "+" : "");
	else
		strcpy(max, "n/a");
}

static void flow_header(FILE *to)
{
	terminal_print(to, "  %s%-12s %9s %8s %7s %6s %4s %8s %8s %7s%s\n",
		       bold(to), "", "requests", "data", "MiB/s", "depth", "max",
		"mode", "mean", "sequ.", plain(to));
}

void text_rate(char *ret, const struct direction_stats *stats)
{
	if (stats->rate_known)
		snprintf(ret, UNITS_TEXT, "%.1f", stats->bytes_per_s / (1 << 20));
	else
		strcpy(ret, "n/a");
}

static void flow_line(FILE *to, const struct span *span, unsigned int d)
{
	const struct rt_counters *c = &span->counters;
	char requests[UNITS_TEXT], data[UNITS_TEXT], mean[UNITS_TEXT];
	char max[UNITS_TEXT], mode[RANGE_TEXT], size[UNITS_TEXT] = "n/a";
	char share[UNITS_TEXT], rate[UNITS_TEXT];
	struct direction_stats stats;

	stats_of(c, span->bio_based, d, &stats);
	text_rate(rate, &stats);
	text_depth(mean, max, &stats);
	format_range_bytes(mode, &stats.size_mode);
	text_share(share, &stats);
	if (stats.requests)
		format_bytes(size, stats.size_mean_bytes);
	format_count(requests, stats.requests);
	format_bytes(data, (double)stats.bytes);
	if (c->unknown & RT_COUNTER_BIT(ISSUED)) {
		strcpy(requests, "n/a");
		strcpy(data, "n/a");
	}
	terminal_print(to, "  %-12s %9s %8s %7s %6s %4s %8s %8s %7s\n",
		       rt_direction_name(d), requests, data, rate, mean, max, mode,
		size, share);
}

static void latency_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	char mean[UNITS_TEXT], p50[RANGE_TEXT], p99[RANGE_TEXT];
	char p999[RANGE_TEXT], longest[RANGE_TEXT], label[UNITS_TEXT];
	struct direction_stats stats;

	stats_of(c, false, d, &stats);
	snprintf(label, sizeof(label), "  %s", rt_direction_name(d));
	if (!stats.d2c_p50.known && stats.d2c_mean_known)
		print_labelled(to, DETAIL_WIDTH, label, "d2c mean %s",
			       format_ns(mean, stats.d2c_mean_ns));
	if (!stats.d2c_p50.known)
		return;
	print_labelled(to, DETAIL_WIDTH, label, "d2c mean %s, p50 %s, p99 %s, p99.9 %s, max %s",
		       format_ns(mean, stats.d2c_mean_ns),
		       format_range_ns(p50, &stats.d2c_p50, "< ", ">= "),
		       format_range_ns(p99, &stats.d2c_p99, "< ", ">= "),
		       format_range_ns(p999, &stats.d2c_p999, "< ", ">= "),
		       format_range_ns(longest, &stats.d2c_max, "< ", ">= "));
}

static void seek_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	char seeks[UNITS_TEXT], mean[UNITS_TEXT];
	struct direction_stats stats;

	stats_of(c, false, d, &stats);
	if (!stats.requests || !stats.sequential_known)
		return;
	terminal_print(to, "  %-12s seeks %s", rt_direction_name(d),
		       format_count(seeks, stats.seeks));
	if (stats.seeks)
		terminal_print(to, ", mean seek %s",
			       format_bytes(mean, stats.seek_mean_sectors *
						  SECTOR_BYTES));
	fputc('\n', to);
}

/* Write a counter, or n/a if it is not known. */
static const char *count_or_na(char *ret, const struct rt_counters *c,
			       uint64_t bit, uint64_t count)
{
	return c->unknown & bit ? "n/a" : format_count(ret, count);
}

/* Append a counter if it is not 0. */
static void merge_more(char *to, size_t *at, size_t size, const char *what,
		       uint64_t count)
{
	if (count)
		*at += (size_t)snprintf(to + *at, size - *at, "; %s %" PRIu64,
					what, count);
}

static void merge_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	const struct rt_flow *flow = &c->flow[d];
	char queued[UNITS_TEXT], back[UNITS_TEXT], front[UNITS_TEXT];
	char request[UNITS_TEXT], splits[UNITS_TEXT], label[UNITS_TEXT];
	char more[8 * UNITS_TEXT] = "";
	size_t at = 0;

	if (!flow->queued && !flow->issued)
		return;
	merge_more(more, &at, sizeof(more), "requeued",
		   flow->requeued + flow->requeued_unissued);
	merge_more(more, &at, sizeof(more), "ERRORS", flow->errors);
	merge_more(more, &at, sizeof(more), "unmatched", flow->unmatched);
	merge_more(more, &at, sizeof(more), "abandoned", flow->abandoned);
	snprintf(label, sizeof(label), "  %s", rt_direction_name(d));
	print_labelled(to, DETAIL_WIDTH, label,
		       "bios %s, splits %s, merges: back %s, front %s, request %s%s",
		count_or_na(queued, c, RT_COUNTER_BIT(QUEUED), flow->queued),
		count_or_na(splits, c, RT_COUNTER_BIT(SPLITS), flow->splits),
		count_or_na(back, c, RT_COUNTER_BIT(BACK_MERGES),
			    flow->back_merges),
		count_or_na(front, c, RT_COUNTER_BIT(FRONT_MERGES),
			    flow->front_merges),
		count_or_na(request, c, RT_COUNTER_BIT(REQUEST_MERGES),
			    flow->request_merges), more);
}

/* A row of a character histogram. */
struct bar {
	char label[2 * UNITS_TEXT];	/* range of values */
	uint64_t count;	/* weight of the row */
};

/* Write "from 128 KiB" for a row of sizes, "32..40" for one of depths. */
static void bar_label(char *ret, size_t size, bool sizes, int64_t low,
		      int64_t end)
{
	char text[UNITS_TEXT];

	if (sizes)
		snprintf(ret, size, "%s %s", low ? "from" : "below",
			 format_bytes(text, (double)(low ? low : end) *
						    SECTOR_BYTES));
	else if (low == RAIDTRACE_DEPTH_LINEAR)
		snprintf(ret, size, "%" PRId64 "+", low);
	else if (end - low == 1)
		snprintf(ret, size, "%" PRId64, low);
	else
		snprintf(ret, size, "%" PRId64 "..%" PRId64, low, end - 1);
}

/* The index after the last bin that is not empty. */
static unsigned int bins_end(const struct rt_histogram *h)
{
	unsigned int i = h->nr_bins;

	while (i && !h->counts[i - 1])
		i--;
	return h->first_bin + i;
}

/* Fold bins to rows that double in width, because sizes and depths vary over decades. A power of two begins a row. */
static size_t fold(const struct rt_histogram *h, unsigned int kind,
		   struct bar *bars, size_t max)
{
	bool sizes = kind == RAIDTRACE_HISTOGRAM_KIND_SIZE;
	unsigned int bin = h->first_bin, end = bins_end(h);
	int64_t low = 0, edge = sizes ? 8 : 1;
	size_t nr = 0;

	for (; bin < end && nr < max; low = edge, edge *= 2) {
		uint64_t count = 0;

		for (; bin < end && bin_low(kind, bin) < edge; bin++)
			count += h->counts[bin - h->first_bin];
		if (!nr && !count)
			continue;
		bar_label(bars[nr].label, sizeof(bars[nr].label), sizes, low,
			  bin < end || sizes ? edge :
					       bin_low(kind, end));
		bars[nr++].count = count;
	}
	return nr;
}

static void bar_text(char *ret, size_t size, const struct bar *bar,
		     uint64_t total)
{
	static const char full[BAR_WIDTH + 1] = "################";
	char share[UNITS_TEXT];
	int length = (int)((double)bar->count / (double)total * BAR_WIDTH + 0.5);

	/* A small count gets at least one mark. */
	if (bar->count && !length)
		length = 1;
	snprintf(ret, size, "%12s |%-*.*s %7s", bar->label, BAR_WIDTH, length,
		 full, format_share(share, (double)bar->count, (double)total));
}

/* A histogram of a small share of the requests is not useful. */
static bool is_rare(const struct rt_counters *c, unsigned int direction)
{
	uint64_t all = 0;

	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		all += c->flow[d].issued;
	return c->flow[direction].issued < all / 100;
}

/* Print request size on the left, depth on the right. */
static void bars_of(FILE *to, const struct rt_counters *c, unsigned int d)
{
	const struct rt_histogram *sizes =
		&c->histogram[d][RAIDTRACE_HISTOGRAM_KIND_SIZE];
	const struct rt_histogram *depths =
		&c->histogram[d][RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME];
	struct bar left[24], right[24];
	size_t nr_left = fold(sizes, RAIDTRACE_HISTOGRAM_KIND_SIZE, left, 24);
	size_t nr_right = fold(depths, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME,
			       right, 24);
	char head[64];

	if (!rt_histogram_sum(sizes) || is_rare(c, d))
		return;
	snprintf(head, sizeof(head), "%s: request size, share of requests",
		 rt_direction_name(d));
	terminal_print(to, "  %-40s %ss in flight, share of time\n", head,
		       rt_direction_name(d));
	for (size_t i = 0; i < nr_left || i < nr_right; i++) {
		char a[96] = "", b[96] = "";

		if (i < nr_left)
			bar_text(a, sizeof(a), &left[i],
				 rt_histogram_sum(sizes));
		if (i < nr_right)
			bar_text(b, sizeof(b), &right[i],
				 rt_histogram_sum(depths));
		if (b[0])
			terminal_print(to, "  %-38s  %s\n", a, b);
		else
			terminal_print(to, "  %s\n", a);
	}
}

/* Print each direction up to @last that is not idle. */
static void each_busy(FILE *to, const struct rt_counters *c, unsigned int last,
		      void (*print)(FILE *, const struct rt_counters *,
				    unsigned int))
{
	for (unsigned int d = 0; d <= last; d++)
		if (!flow_is_idle(&c->flow[d]))
			print(to, c, d);
}

static bool span_is_idle(const struct rt_counters *c)
{
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		if (!flow_is_idle(&c->flow[d]))
			return false;
	return true;
}

void span_flows(FILE *to, const struct span *span)
{
	const struct rt_counters *c = &span->counters;

	if (span_is_idle(c)) {
		fputs("  no requests\n", to);
		return;
	}
	flow_header(to);
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		if (!flow_is_idle(&c->flow[d]))
			flow_line(to, span, d);
}

void span_details(FILE *to, const struct rt_counters *c)
{
	each_busy(to, c, RAIDTRACE_DIRECTION_PASSTHROUGH, latency_line);
	each_busy(to, c, RAIDTRACE_DIRECTION_PASSTHROUGH, merge_line);
	each_busy(to, c, RAIDTRACE_DIRECTION_WRITE, seek_line);
	span_groups(to, c);
	each_busy(to, c, RAIDTRACE_DIRECTION_WRITE, bars_of);
}
