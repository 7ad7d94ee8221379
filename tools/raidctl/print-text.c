// SPDX-License-Identifier: GPL-2.0-or-later

/* The text back end: for people, at most 100 columns. */

#include "print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "histogram.h"
#include "stats.h"
#include "units.h"

#define BAR_WIDTH	20
#define BAR_ROWS	10

const struct print_ops *print_ops_of(bool json)
{
	return json ? &print_json : &print_text;
}

/* Terminal attributes go to a terminal only, and not with NO_COLOR. */
static const char *style(FILE *to, const char *code)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && no_color[0]) || !isatty(fileno(to)))
		return "";
	return code;
}

static const char *bold(FILE *to)
{
	return style(to, "\033[1m");
}

static const char *plain(FILE *to)
{
	return style(to, "\033[0m");
}

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "-";
}

static void print_readahead(char *ret, size_t size, uint64_t sectors)
{
	char kib[UNITS_TEXT];

	snprintf(ret, size, "%s (%" PRIu64 " sectors)",
		 format_bytes(kib, (double)sectors * SECTOR_BYTES), sectors);
}

/* A number that may be missing. */
static const char *or_na(char *ret, int64_t value)
{
	if (value < 0)
		return "n/a";
	snprintf(ret, UNITS_TEXT, "%" PRId64, value);
	return ret;
}

static void disk_line(FILE *to, const struct disk *disk)
{
	char size[UNITS_TEXT], largest[UNITS_TEXT], readahead[UNITS_TEXT];
	char depth[UNITS_TEXT], requests[UNITS_TEXT], driver[DISK_NAME + 4];

	snprintf(driver, sizeof(driver), "%s%s", or_none(disk->driver),
		 disk->unit_3ware ? " *" : "");
	fprintf(to, "%-10s %-13s %9s %9s %8" PRIu64 " %9s %6s %8s  %-11s",
		disk->name, driver,
		format_bytes(size, (double)disk->capacity_sectors *
					   SECTOR_BYTES),
		format_bytes(readahead, (double)disk->readahead_kib * 1024),
		disk->readahead_kib * 1024 / SECTOR_BYTES,
		format_bytes(largest, (double)disk->max_sectors_kb * 1024),
		or_na(depth, disk->queue_depth),
		or_na(requests, disk->nr_requests), or_none(disk->scheduler));
	fputc('\n', to);
	for (size_t i = 0; i < disk->nr_mounts; i++)
		fprintf(to, "%-10s   %s on %s type %s\n", "",
			disk->mounts[i].device, disk->mounts[i].dir,
			disk->mounts[i].fstype);
}

static void text_disks(FILE *to, const struct disk *disks, size_t nr)
{
	bool marked = false;

	if (!nr) {
		fputs("No disks.\n", to);
		return;
	}
	fprintf(to, "%s%-10s %-13s %9s %18s %9s %6s %8s  %-11s%s\n", bold(to),
		"DISK", "DRIVER", "SIZE", "READAHEAD", "LARGEST", "QUEUE",
		"NR", "SCHEDULER", plain(to));
	fprintf(to, "%s%-10s %-13s %9s %9s %8s %9s %6s %8s  %-11s%s\n",
		bold(to), "  mounts", "", "", "", "sectors", "REQUEST", "DEPTH",
		"REQUESTS", "", plain(to));
	for (size_t i = 0; i < nr; i++) {
		disk_line(to, &disks[i]);
		marked |= disks[i].unit_3ware;
	}
	fputs(marked ? "* unit of a 3ware 9000 controller\n" :
		       "No unit of a 3ware 9000 controller.\n", to);
}

static void target_line(FILE *to, const struct rt_target *t)
{
	char size[UNITS_TEXT], readahead[64];

	print_readahead(readahead, sizeof(readahead), t->readahead_sectors);
	fprintf(to, "  %-10s target %-3" PRIu32 " %-12s %9s  readahead %s%s%s\n",
		t->disk, t->id, or_none(t->driver),
		format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
		readahead, t->unit_3ware ? "  3ware unit" : "",
		t->gone ? "  GONE" : "");
}

static void text_status(FILE *to, const struct status *s)
{
	if (s->simulated)
		fprintf(to, "simulated  this machine is a guest of the lab, profile %s\n",
			or_none(s->profile));
	if (!s->loaded) {
		fputs("raidtrace  not loaded; load it with: raidctl load (as root)\n", to);
	} else {
		fprintf(to, "raidtrace  %s loaded, ABI %" PRIu32 "\n",
			s->info.version, s->info.abi);
		if (s->info.unavailable[0])
			fprintf(to, "           this kernel lacks the tracepoints: %s\n",
				s->info.unavailable);
		fprintf(to, "targets    %" PRIu32 " of at most %" PRIu32 "\n",
			s->info.nr_targets, s->info.max_targets);
	}
	for (size_t i = 0; i < s->nr_targets; i++)
		target_line(to, &s->targets[i]);
	fprintf(to, "3ware      %zu unit%s; see all disks: raidctl list\n",
		s->nr_units, s->nr_units == 1 ? "" : "s");
}

static void text_share(char *ret, const struct direction_stats *stats)
{
	format_share(ret, (double)stats->sequential, (double)stats->requests);
}

/* "128 KiB", or both ends of a bin that spans several sizes. */
static void text_mode(char *ret, size_t size, const struct range *mode)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	if (!mode->known) {
		snprintf(ret, size, "n/a");
		return;
	}
	format_bytes(low, (double)mode->low * SECTOR_BYTES);
	if (mode->high == mode->low + 1) {
		snprintf(ret, size, "%s", low);
		return;
	}
	format_bytes(high, (double)mode->high * SECTOR_BYTES);
	snprintf(ret, size, "%s..%s", low, high);
}

static void text_depth(char *mean, char *max, const struct direction_stats *s)
{
	if (!s->depth_known) {
		strcpy(mean, "n/a");
		strcpy(max, "n/a");
		return;
	}
	snprintf(mean, UNITS_TEXT, "%s%.2f", s->depth_open ? ">" : "",
		 s->depth_mean);
	snprintf(max, UNITS_TEXT, "%" PRIu64 "%s", s->depth_max,
		 s->depth_open ? "+" : "");
}

static void flow_header(FILE *to)
{
	fprintf(to, "  %s%-11s %11s %9s %8s %7s %4s %10s %9s %10s %9s%s\n",
		bold(to), "", "requests", "data", "MiB/s", "depth", "max",
		"size mode", "mean", "sequential", "seeks", plain(to));
}

static void flow_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	char requests[UNITS_TEXT], data[UNITS_TEXT], mean[UNITS_TEXT];
	char max[UNITS_TEXT], mode[3 * UNITS_TEXT], size[UNITS_TEXT] = "n/a";
	char share[UNITS_TEXT], seeks[UNITS_TEXT], rate[UNITS_TEXT];
	struct direction_stats stats;

	stats_of(c, d, &stats);
	text_depth(mean, max, &stats);
	text_mode(mode, sizeof(mode), &stats.size_mode);
	text_share(share, &stats);
	if (stats.requests)
		format_bytes(size, stats.size_mean_bytes);
	format_count(requests, stats.requests);
	format_bytes(data, (double)stats.bytes);
	format_count(seeks, stats.seeks);
	snprintf(rate, sizeof(rate), "%.2f", stats.bytes_per_s / (1 << 20));
	if (c->unknown & RT_COUNTER_BIT(ISSUED)) {
		strcpy(requests, "n/a");
		strcpy(data, "n/a");
		strcpy(seeks, "n/a");
	}
	if (c->unknown & RT_COUNTER_BIT(BYTES_COMPLETED))
		strcpy(rate, "n/a");
	fprintf(to, "  %-11s %11s %9s %8s %7s %4s %10s %9s %10s %9s\n",
		rt_direction_name(d), requests, data, rate, mean, max, mode,
		size, share, seeks);
}

static void bound(char *ret, const struct range *range)
{
	char low[UNITS_TEXT], high[UNITS_TEXT];

	if (!range->known)
		strcpy(ret, "n/a");
	else if (range->high == INT64_MAX)
		snprintf(ret, 2 * UNITS_TEXT, ">= %s",
			 format_ns(low, (double)range->low));
	else
		snprintf(ret, 2 * UNITS_TEXT, "< %s",
			 format_ns(high, (double)range->high));
}

static void latency_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	char mean[UNITS_TEXT], p50[2 * UNITS_TEXT], p99[2 * UNITS_TEXT];
	struct direction_stats stats;

	stats_of(c, d, &stats);
	if (!stats.d2c_p50.known)
		return;
	bound(p50, &stats.d2c_p50);
	bound(p99, &stats.d2c_p99);
	fprintf(to, "  %-11s d2c mean %s, p50 %s, p99 %s", rt_direction_name(d),
		format_ns(mean, stats.d2c_mean_ns), p50, p99);
	if (stats.seeks)
		fprintf(to, "; mean seek %s",
			format_bytes(mean, stats.seek_mean_sectors *
						   SECTOR_BYTES));
	fputc('\n', to);
}

/* A counter, or that it is not known. */
static const char *count_or_na(char *ret, const struct rt_counters *c,
			       uint64_t bit, uint64_t count)
{
	return c->unknown & bit ? "n/a" : format_count(ret, count);
}

static void merge_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	const struct rt_flow *flow = &c->flow[d];
	char queued[UNITS_TEXT], back[UNITS_TEXT], front[UNITS_TEXT];
	char request[UNITS_TEXT], splits[UNITS_TEXT];

	if (!flow->queued && !flow->issued)
		return;
	fprintf(to, "  %-11s bios %s, splits %s, merges: back %s, front %s, request %s",
		rt_direction_name(d),
		count_or_na(queued, c, RT_COUNTER_BIT(QUEUED), flow->queued),
		count_or_na(splits, c, RT_COUNTER_BIT(SPLITS), flow->splits),
		count_or_na(back, c, RT_COUNTER_BIT(BACK_MERGES),
			    flow->back_merges),
		count_or_na(front, c, RT_COUNTER_BIT(FRONT_MERGES),
			    flow->front_merges),
		count_or_na(request, c, RT_COUNTER_BIT(REQUEST_MERGES),
			    flow->request_merges));
	if (flow->requeued || flow->requeued_unissued)
		fprintf(to, "; requeued %" PRIu64,
			flow->requeued + flow->requeued_unissued);
	if (flow->errors)
		fprintf(to, "; ERRORS %" PRIu64, flow->errors);
	if (flow->unmatched)
		fprintf(to, "; unmatched %" PRIu64, flow->unmatched);
	fputc('\n', to);
}

/**
 * struct bar - a row of a character histogram
 * @label: what it stands for
 * @count: how much
 */
struct bar {
	char label[2 * UNITS_TEXT];
	uint64_t count;
};

/*
 * Fold bins to rows: depth and size grow by powers of two, which is how both
 * are spread; sizes that are a power of two in KiB begin a row.
 */
static size_t fold(const struct rt_histogram *h, unsigned int kind,
		   struct bar *bars, size_t max)
{
	bool size = kind == RAIDTRACE_HISTOGRAM_KIND_SIZE;
	int64_t edge = size ? 8 : 1, low = 0;
	size_t nr = 0;
	unsigned int i = 0;

	while (i < h->nr_bins && nr < max) {
		uint64_t count = 0;
		char text[UNITS_TEXT];

		for (; i < h->nr_bins &&
		       raidtrace_hist_low(kind, h->first_bin + i) < edge; i++)
			count += h->counts[i];
		if (nr || count) {
			if (size)
				snprintf(bars[nr].label, sizeof(bars[nr].label),
					 "%s %s", low ? "from" : "below",
					 format_bytes(text, (double)(low ? low :
								     edge) *
							    SECTOR_BYTES));
			else if (edge - low == 1)
				snprintf(bars[nr].label, sizeof(bars[nr].label),
					 "%" PRId64, low);
			else
				snprintf(bars[nr].label, sizeof(bars[nr].label),
					 "%" PRId64 "..%" PRId64, low,
					 edge - 1);
			bars[nr++].count = count;
		}
		low = edge;
		edge *= 2;
	}
	while (nr && !bars[nr - 1].count)
		nr--;
	return nr;
}

static void bar_text(char *ret, size_t size, const struct bar *bar,
		     uint64_t total)
{
	static const char full[BAR_WIDTH + 1] = "####################";
	char share[UNITS_TEXT];
	int length = (int)((double)bar->count / (double)total * BAR_WIDTH + 0.5);

	/* Something is never shown as nothing. */
	if (bar->count && !length)
		length = 1;
	snprintf(ret, size, "%12s |%-*.*s %7s", bar->label, BAR_WIDTH, length,
		 full, format_share(share, (double)bar->count, (double)total));
}

/* A picture of a few requests among many says nothing. */
static bool is_rare(const struct rt_counters *c, unsigned int direction)
{
	uint64_t all = 0;

	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		all += c->flow[d].issued;
	return c->flow[direction].issued < all / 100;
}

/* Request size on the left, in-flight on the right. */
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
	fprintf(to, "  %-48s %ss in flight, share of time\n", head,
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
			fprintf(to, "  %-46s %s\n", a, b);
		else
			fprintf(to, "  %s\n", a);
	}
}

static void each_busy(FILE *to, const struct rt_counters *c,
		      unsigned int first, unsigned int last,
		      void (*print)(FILE *, const struct rt_counters *,
				    unsigned int))
{
	for (unsigned int d = first; d <= last; d++)
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

static void span_flows(FILE *to, const struct rt_counters *c)
{
	if (span_is_idle(c)) {
		fputs("  no requests\n", to);
		return;
	}
	flow_header(to);
	each_busy(to, c, RAIDTRACE_DIRECTION_READ,
		  RAIDTRACE_DIRECTION_PASSTHROUGH, flow_line);
}

static void span_details(FILE *to, const struct rt_counters *c)
{
	each_busy(to, c, RAIDTRACE_DIRECTION_READ,
		  RAIDTRACE_DIRECTION_PASSTHROUGH, latency_line);
	each_busy(to, c, RAIDTRACE_DIRECTION_READ,
		  RAIDTRACE_DIRECTION_PASSTHROUGH, merge_line);
	each_busy(to, c, RAIDTRACE_DIRECTION_READ, RAIDTRACE_DIRECTION_WRITE,
		  bars_of);
}

static void text_counters(FILE *to, const struct rt_target *targets,
			  const struct span *spans, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct rt_counters *c = &spans[i].counters;
		char readahead[64];

		print_readahead(readahead, sizeof(readahead),
				c->readahead_sectors);
		fprintf(to, "%s%s%s%s%s  %s, counted for %.3f s, readahead %s%s\n",
			i ? "\n" : "", bold(to), spans[i].disk, plain(to),
			c->gone ? " (GONE)" : "", or_none(targets[i].driver),
			(double)(c->now_ns - c->since_ns) / 1e9, readahead,
			targets[i].unit_3ware ? ", 3ware unit" : "");
		span_flows(to, c);
		span_details(to, c);
	}
}

/* Where an imported recording comes from, and what of it is missing. */
static void text_source(FILE *to, const struct recording *r)
{
	const char *cut = recording_meta(r, "trace_cut");
	const char *late = recording_meta(r, "trace_late");
	const char *missing = recording_meta(r, "trace_missing");
	const char *started = recording_meta(r, "started_utc");

	fprintf(to, "imported   from %s, %s events; traced %s\n",
		recording_meta(r, "source"), recording_meta(r, "trace_events"),
		started[0] ? started : "at a time that it does not tell");
	if (missing[0] && strcmp(missing, "0"))
		fprintf(to, "LOST       %s events that the kernel had no room for\n", missing);
	if (late[0] && strcmp(late, "0"))
		fprintf(to, "LATE       %s events came too late to be put in order\n", late);
	if (cut[0])
		fprintf(to, "CUT        %s\n", cut);
}

static void text_meta(FILE *to, const struct recording *r)
{
	const char *simulated = recording_meta(r, "simulated");
	const char *end = recording_meta(r, "end");
	const char *invariants = recording_meta(r, "invariants");

	fprintf(to, "%srecording%s  %s\n", bold(to), plain(to), r->path);
	if (recording_meta(r, "source")[0])
		text_source(to, r);
	else
		fprintf(to, "recorded   %s on %s, Linux %s, raidtrace %s (ABI %s)\n",
			recording_meta(r, "started_utc"),
			recording_meta(r, "hostname"),
			recording_meta(r, "kernel"),
			recording_meta(r, "module_version"),
			recording_meta(r, "abi"));
	if (!strcmp(simulated, "yes"))
		fprintf(to, "simulated  profile %s: the controller and all times are of the lab's model\n",
			or_none(recording_meta(r, "lab_profile")));
	if (recording_meta(r, "command")[0])
		fprintf(to, "command    %.85s\n", recording_meta(r, "command"));
	if (!strcmp(end, "running"))
		fputs("end        not there: it is still running, or its recorder was killed\n", to);
	else if (recording_meta(r, "exit_status")[0])
		fprintf(to, "end        %s, exit status %s\n", end,
			recording_meta(r, "exit_status"));
	else
		fprintf(to, "end        %s\n", end);
	if (invariants[0])
		fprintf(to, "invariants %s\n", invariants);
	else
		fputs("invariants not checked\n", to);
}

static const char *setting_or_na(const struct recording *r, uint32_t target,
				 const char *name, uint64_t time_ns)
{
	const char *value = recording_setting(r, target, name, time_ns);

	return value && value[0] ? value : "n/a";
}

static void text_target(FILE *to, const struct recording *r,
			const struct rt_target *t, uint64_t time_ns)
{
	char size[UNITS_TEXT], largest[UNITS_TEXT];
	const char *mount = recording_setting(r, t->id, "mount", time_ns);

	if (t->name_only) {
		fprintf(to, "disk       %s%s%s  driver, size, limits and settings n/a: a trace does not tell\n",
			bold(to), t->disk, plain(to));
		return;
	}
	fprintf(to, "disk       %s%s%s  %s%s%s %s, %s, largest request %s (%" PRIu32 " sectors)\n",
		bold(to), t->disk, plain(to), or_none(t->driver),
		t->pci[0] ? " at " : "", t->pci, t->hctl,
		format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
		format_bytes(largest, (double)t->max_sectors * SECTOR_BYTES),
		t->max_sectors);
	fprintf(to, "           scheduler %s, nr_requests %s, queue depth %s, tags %" PRIu32 " x %" PRIu32 "\n",
		setting_or_na(r, t->id, "scheduler", time_ns),
		setting_or_na(r, t->id, "nr_requests", time_ns),
		setting_or_na(r, t->id, "queue_depth", time_ns),
		t->nr_hw_queues, t->nr_tags);
	if (mount && mount[0])
		fprintf(to, "           mounted on %s as %s (%.60s)\n", mount,
			setting_or_na(r, t->id, "fstype", time_ns),
			setting_or_na(r, t->id, "mount_options", time_ns));
}

/* Readahead where the phase began, and what it became in its course. */
static void readahead_of(FILE *to, const struct recording *r,
			 const struct rt_counters *c)
{
	const char *at_start = recording_setting(r, c->id, "readahead_sectors",
						 c->since_ns);
	char text[64];

	if (!at_start) {
		fputs(", readahead n/a", to);
		return;
	}
	print_readahead(text, sizeof(text), strtoull(at_start, NULL, 10));
	fprintf(to, ", readahead %s", text);
	for (size_t i = 0; i < r->nr_settings; i++) {
		const struct pair *setting = &r->settings[i];

		if (setting->target != c->id || setting->time_ns > c->now_ns ||
		    setting->time_ns <= c->since_ns ||
		    strcmp(setting->name, "readahead_sectors"))
			continue;
		print_readahead(text, sizeof(text),
				strtoull(setting->value, NULL, 10));
		fprintf(to, ", then %s", text);
	}
}

static void text_span(FILE *to, const struct recording *r,
		      const struct span *span)
{
	const struct rt_counters *c = &span->counters;

	fprintf(to, "\n%sphase %s%s  %s, %.3f s", bold(to), span->phase,
		plain(to), span->disk,
		(double)(c->now_ns - c->since_ns) / 1e9);
	readahead_of(to, r, c);
	fputc('\n', to);
	span_flows(to, c);
	/* Around the phases that a program names it is enough to know of it. */
	if (strcmp(span->phase, PHASE_OUTSIDE))
		span_details(to, c);
}

static void text_recording(FILE *to, const struct recording *r)
{
	uint64_t last_ns = UINT64_MAX;

	text_meta(to, r);
	for (size_t i = 0; i < r->nr_targets; i++)
		text_target(to, r, &r->targets[i], last_ns);
	for (size_t i = 0; i < r->nr_spans; i++) {
		const struct span *span = &r->spans[i];

		if (!strcmp(span->phase, PHASE_OUTSIDE) &&
		    span_is_idle(&span->counters))
			continue;
		text_span(to, r, span);
	}
	if (!r->nr_spans)
		fputs("\nno samples\n", to);
}

const struct print_ops print_text = {
	.disks = text_disks,
	.status = text_status,
	.counters = text_counters,
	.recording = text_recording,
};
