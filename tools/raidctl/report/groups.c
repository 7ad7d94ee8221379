// SPDX-License-Identifier: GPL-2.0-or-later

/* Streams, latencies, classes, processes, plugs and places of one span, as text. */

#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"
#include "histogram.h"
#include "numbers/numbers.h"

#define PLACE_WIDTH	48	/* characters for the whole disk */
#define SUBMITTERS	10	/* processes that are printed, as in raidctl report */
#define CGROUP_WIDTH	44	/* of a path; its end is more important than its start */

static bool known(const struct rt_counters *c, uint64_t bit)
{
	return !(c->unknown & bit);
}

/* Streams that were dropped from the table may have continued. */
static const char *at_least(uint64_t forgotten)
{
	return forgotten ? "at least " : "";
}

static void stream_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	const struct rt_flow *flow = &c->flow[d];
	char a[UNITS_TEXT], b[UNITS_TEXT], queued[UNITS_TEXT];
	char label[UNITS_TEXT], bios[4 * UNITS_TEXT] = "";
	char ahead[4 * UNITS_TEXT] = "";

	if (!known(c, RT_COUNTER_BIT(STREAM)) || !(flow->issued + flow->queued))
		return;
	snprintf(label, sizeof(label), "  %s", rt_direction_name(d));
	if (known(c, RT_COUNTER_BIT(STREAM_QUEUED)))
		snprintf(bios, sizeof(bios), ", bios %s%s; sequential bios %s",
			 at_least(c->disk.streams_forgotten_queued),
			 format_share(b, (double)flow->stream_queued,
				      (double)flow->queued),
			 format_share(queued, (double)flow->sequential_queued,
				      (double)flow->queued));
	if (known(c, RT_COUNTER_BIT(AHEAD_QUEUED)) && flow->ahead_queued)
		snprintf(ahead, sizeof(ahead), "; read ahead %s, %s",
			 format_count(a, flow->ahead_queued),
			 format_bytes(b, (double)flow->bytes_ahead_queued));
	print_labelled(to, DETAIL_WIDTH, label, "in streams: requests %s%s%s%s",
		       at_least(c->disk.streams_forgotten),
		       format_share(a, (double)flow->stream,
				    (double)(flow->issued - flow->reissued)), bios, ahead);
}

static void one_latency(FILE *to, const struct rt_counters *c, unsigned int d,
			unsigned int kind, uint64_t sum_ns)
{
	const struct rt_histogram *h = &c->histogram[d][kind];
	struct range p99 = histogram_percentile(h, kind, 0.99);
	uint64_t nr = rt_histogram_sum(h);
	char mean[UNITS_TEXT], bound[RANGE_TEXT];

	if (!nr || !counts_kind(c, kind))
		return;
	terminal_print(to, "  %-12s %s mean %s, p99 %s\n", rt_direction_name(d),
		       rt_kind_name(kind), format_ns(mean, (double)sum_ns / (double)nr),
		       format_range_ns(bound, &p99, "< ", ">= "));
}

static void latency_lines(FILE *to, const struct rt_counters *c, unsigned int d)
{
	one_latency(to, c, d, RAIDTRACE_HISTOGRAM_KIND_I2D,
		    c->flow[d].i2d_sum_ns);
	one_latency(to, c, d, RAIDTRACE_HISTOGRAM_KIND_Q2C,
		    c->flow[d].q2c_sum_ns);
}

static bool is_idle_class(const struct rt_origin *origin)
{
	return !(origin->queued | origin->issued);
}

static const char *class_count(char *ret, const struct rt_counters *c,
			       size_t offset, uint64_t count)
{
	return origin_unknown(c->unknown, offset) ? "n/a" : format_count(ret, count);
}

static void origin_table(FILE *to, const struct rt_counters *c)
{
	bool any = false;

	for (unsigned int i = 0; i < RT_CLASSES; i++) {
		const struct rt_origin *o = &c->origin[i];
		char bios[UNITS_TEXT], queued[UNITS_TEXT], bio_seeks[UNITS_TEXT];
		char requests[UNITS_TEXT], issued[UNITS_TEXT];
		char seeks[UNITS_TEXT], distance[UNITS_TEXT] = "n/a";

		if (is_idle_class(o))
			continue;
		if (!any)
			terminal_print(to, "  %s%-9s %9s %8s %8s %9s %8s %8s %9s%s\n",
				       bold(to), "class", "bios", "data", "seeks",
				"requests", "data", "seeks", "mean seek",
				plain(to));
		any = true;
		if (o->seeks)
			format_bytes(distance, (double)o->seek_sectors *
				     SECTOR_BYTES / (double)o->seeks);
		terminal_print(to, "  %-9s %9s %8s %8s %9s %8s %8s %9s\n",
			       rt_class_name(i), format_count(bios, o->queued),
			format_bytes(queued, (double)o->bytes_queued),
			format_count(bio_seeks, o->seeks_queued),
			class_count(requests, c, offsetof(struct rt_origin, issued), o->issued),
			origin_unknown(c->unknown, offsetof(struct rt_origin, bytes_issued)) ? "n/a" :
				format_bytes(issued, (double)o->bytes_issued),
			class_count(seeks, c, offsetof(struct rt_origin, seeks), o->seeks),
			distance);
	}
}

static uint64_t bin_of(const struct rt_histogram *h, unsigned int bin)
{
	return bin >= h->first_bin && bin - h->first_bin < h->nr_bins ?
		       h->counts[bin - h->first_bin] : 0;
}

/* Print seeks by the class of the request before and of the request itself. Classes without a seek are left out. */
static void blame_table(FILE *to, const struct rt_counters *c)
{
	const struct rt_histogram *blame =
		&c->histogram[RAIDTRACE_DIRECTION_ALL][RAIDTRACE_HISTOGRAM_KIND_BLAME];
	uint32_t used = 0;

	for (unsigned int i = 0; i < RT_CLASSES * RT_CLASSES; i++)
		if (bin_of(blame, i))
			used |= 1U << i / RT_CLASSES | 1U << i % RT_CLASSES;
	if (!used)
		return;
	terminal_print(to, "  %-13s", "seeks to");
	for (unsigned int i = 0; i < RT_CLASSES; i++)
		if (used & 1U << i)
			terminal_print(to, " %9s", rt_class_name(i));
	fputc('\n', to);
	for (unsigned int row = 0; row < RT_CLASSES; row++) {
		char from[32], count[UNITS_TEXT];

		if (!(used & 1U << row))
			continue;
		snprintf(from, sizeof(from), "%s %s", "from",
			 rt_class_name(row));
		terminal_print(to, "  %-14s", from);
		for (unsigned int i = 0; i < RT_CLASSES; i++)
			if (used & 1U << i)
				terminal_print(to, " %9s",
					       format_count(count, bin_of(blame, row * RT_CLASSES + i)));
		fputc('\n', to);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct rt_submitter *x = *(const struct rt_submitter *const *)a;
	const struct rt_submitter *y = *(const struct rt_submitter *const *)b;

	return (x->bytes_queued < y->bytes_queued) -
	       (x->bytes_queued > y->bytes_queued);
}

static void submitter_table(FILE *to, const struct rt_counters *c)
{
	const struct rt_submitter **order =
		calloc(c->nr_submitters + 1, sizeof(*order));

	for (size_t i = 0; order && i < c->nr_submitters; i++)
		order[i] = &c->submitters[i];
	if (order)
		qsort(order, c->nr_submitters, sizeof(*order), by_bytes);
	for (size_t i = 0; order && i < c->nr_submitters && i < SUBMITTERS;
	     i++) {
		const struct rt_submitter *s = order[i];
		char bios[UNITS_TEXT], data[UNITS_TEXT], seeks[UNITS_TEXT];
		char who[48];

		/* Without privilege, a user gets only the sum of all processes. */
		if (s->rest)
			snprintf(who, sizeof(who), "all %s",
				 c->nr_submitters > 1 ? "others" : "processes");
		else
			snprintf(who, sizeof(who), "%s, pid %" PRIu32, s->comm,
				 s->pid);
		if (!i)
			terminal_print(to, "  %s%-30s %11s %9s %9s%s\n", bold(to),
				       "submitter", "bios", "data", "seeks", plain(to));
		terminal_print(to, "  %-30s %11s %9s %9s\n", who,
			       format_count(bios, s->queued),
			format_bytes(data, (double)s->bytes_queued),
			format_count(seeks, s->seeks_queued));
	}
	free(order);
	if (c->nr_submitters > SUBMITTERS)
		terminal_print(to, "  and %zu more\n", c->nr_submitters - SUBMITTERS);
}

/* Print the sum of all processes of a cgroup, at the first of them. Return: was it printed? */
static bool cgroup_row(FILE *to, const struct rt_counters *c, size_t first, bool headed)
{
	const char *path = c->submitters[first].path;
	size_t len = strlen(path), cut = len > CGROUP_WIDTH ? len - (CGROUP_WIDTH - 3) : 0;
	char bios[UNITS_TEXT], data[UNITS_TEXT], seeks[UNITS_TEXT];
	struct rt_submitter sum = { 0 };

	for (size_t i = 0; i < c->nr_submitters; i++) {
		if (strcmp(c->submitters[i].path, path))
			continue;
		if (i < first)
			return false;
#define X(member, attribute, ...) sum.member += c->submitters[i].member;
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	if (!headed)
		terminal_print(to, "  %s%11s %9s %9s  %s%s\n", bold(to), "bios", "data", "seeks",
			       "cgroup", plain(to));
	terminal_print(to, "  %11s %9s %9s  %s%s\n", format_count(bios, sum.queued),
		       format_bytes(data, (double)sum.bytes_queued),
		       format_count(seeks, sum.seeks_queued), cut ? "..." : "",
		       *path ? path + cut : "not known");
	return true;
}

/* Print the cgroups of the bios, unless all are the root or not known. */
static void cgroup_table(FILE *to, const struct rt_counters *c)
{
	bool any = false;

	for (size_t i = 0; i < c->nr_submitters; i++)
		any |= *c->submitters[i].path && strcmp(c->submitters[i].path, "/");
	for (size_t i = 0, rows = 0; any && i < c->nr_submitters; i++)
		rows += cgroup_row(to, c, i, rows);
}

/* Print a line for each hardware queue that had a request. The last row stands for several queues. */
static void hwq_table(FILE *to, const struct rt_counters *c)
{
	bool any = false;

	for (unsigned int i = 0; i < c->nr_hwqs; i++) {
		const struct rt_hwq *hwq = &c->hwq[i];
		char name[UNITS_TEXT], issued[UNITS_TEXT], completed[UNITS_TEXT];
		char most[UNITS_TEXT], same[UNITS_TEXT], other[UNITS_TEXT], node[UNITS_TEXT];
		double all = (double)rt_hwq_completed(hwq);

		if (!(hwq->issued | hwq->depth_sum_ns))
			continue;
		snprintf(name, sizeof(name), i < RAIDTRACE_HWQ_REST ? "%u" : "from %u", i);
		if (!any)
			terminal_print(to, "  %s%-14s %9s %9s %9s %9s %9s %10s%s\n", bold(to),
				       "hardware queue", "issued", "completed", "max depth",
				       "same CPU", "other CPU", "other node", plain(to));
		any = true;
		terminal_print(to, "  %-14s %9s %9s %9s %9s %9s %10s\n", name,
			       format_count(issued, hwq->issued),
			       format_count(completed, rt_hwq_completed(hwq)),
			       format_count(most, hwq->in_flight_max),
			       format_share(same, (double)hwq->completed_same_cpu, all),
			       format_share(other, (double)hwq->completed_other_cpu, all),
			       format_share(node, (double)hwq->completed_other_node, all));
	}
}

static const char *disk_count(char *ret, const struct rt_counters *c,
			      uint32_t bit, uint64_t count)
{
	return c->disk.unknown & bit ? "n/a" : format_count(ret, count);
}

static void plug_lines(FILE *to, const struct rt_counters *c)
{
	const struct rt_histogram *unplug =
		&c->histogram[RAIDTRACE_DIRECTION_ALL][RAIDTRACE_HISTOGRAM_KIND_UNPLUG];
	const struct rt_disk *disk = &c->disk;
	char plugs[UNITS_TEXT], explicit_[UNITS_TEXT], schedule[UNITS_TEXT];
	char waits[UNITS_TEXT], each[2 * UNITS_TEXT] = "";
	double sent = 0;

	if (!counts_group(c, RAIDTRACE_GROUP_PLUG))
		return;
	for (unsigned int i = 0; i < unplug->nr_bins; i++)
		sent += (double)(unplug->first_bin + i) * (double)unplug->counts[i];
	if (rt_histogram_sum(unplug))
		snprintf(each, sizeof(each), ", %.1f requests each",
			 sent / (double)rt_histogram_sum(unplug));
	print_labelled(to, DETAIL_WIDTH, "  plugs",
		       "%s; unplugs: done %s, slept %s%s; waits for tags %s",
		disk_count(plugs, c, RT_DISK_BIT(PLUGS), disk->plugs),
		disk_count(explicit_, c, RT_DISK_BIT(UNPLUGS_EXPLICIT),
			   disk->unplugs_explicit),
		disk_count(schedule, c, RT_DISK_BIT(UNPLUGS_SCHEDULE),
			   disk->unplugs_schedule), each,
		disk_count(waits, c, RT_DISK_BIT(TAG_WAITS), disk->tag_waits));
}

static void window_line(FILE *to, const struct rt_counters *c,
			unsigned int kind, uint32_t bit, uint64_t sectors,
			const char *what)
{
	const struct rt_histogram *h = &c->histogram[RAIDTRACE_DIRECTION_ALL][kind];
	uint64_t nr = rt_histogram_sum(h);
	char count[UNITS_TEXT], mean[UNITS_TEXT];

	if ((c->disk.unknown & bit) || !nr)
		return;
	terminal_print(to, "  readahead, %s: %s windows, mean %s\n", what,
		       format_count(count, nr),
		format_bytes(mean, (double)sectors * SECTOR_BYTES / (double)nr));
}

/* Print the disk from its first to its last sector. A darker character means more bytes. */
static void place_line(FILE *to, const struct rt_counters *c, unsigned int d)
{
	static const char shades[] = " .:-=+*#%@";
	const struct rt_histogram *h =
		&c->histogram[d][RAIDTRACE_HISTOGRAM_KIND_PLACE];
	uint64_t bytes[PLACE_WIDTH] = { 0 }, most = 0;

	if (!rt_histogram_sum(h))
		return;
	for (unsigned int i = 0; i < RAIDTRACE_PLACE_BINS; i++) {
		uint64_t *part = &bytes[i * PLACE_WIDTH / RAIDTRACE_PLACE_BINS];

		*part += bin_of(h, i);
		most = *part > most ? *part : most;
	}
	terminal_print(to, "  %-12s by place |", rt_direction_name(d));
	for (unsigned int i = 0; i < PLACE_WIDTH; i++)
		fputc(shades[bytes[i] ? 1 + bytes[i] * 8 / most : 0], to);
	fputs("|\n", to);
}

void span_groups(FILE *to, const struct rt_counters *c)
{
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++)
		latency_lines(to, c, d);
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++)
		stream_line(to, c, d);
	origin_table(to, c);
	blame_table(to, c);
	submitter_table(to, c);
	cgroup_table(to, c);
	hwq_table(to, c);
	plug_lines(to, c);
	window_line(to, c, RAIDTRACE_HISTOGRAM_KIND_RA_SYNC,
		    RT_DISK_BIT(RA_SYNC_SECTORS), c->disk.ra_sync_sectors,
		    "because a page was missing");
	window_line(to, c, RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC,
		    RT_DISK_BIT(RA_ASYNC_SECTORS), c->disk.ra_async_sectors,
		    "because a marked page was met");
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++)
		place_line(to, c, d);
}
