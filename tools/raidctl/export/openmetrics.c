// SPDX-License-Identifier: GPL-2.0-or-later

/* Counters of disks as OpenMetrics text. */

#include "export/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "numbers/numbers.h"

/* One disk over all its spans: sums, except in_flight_max, which is the highest. */
struct total {
	const char *disk;
	bool gone;
	uint64_t ns;		/* length of its spans */
	uint64_t unknown;	/* as in struct rt_counters, for any span; also in @disk_counters */
	struct rt_flow flow[RT_DIRECTIONS];
	struct rt_disk disk_counters;
	bool classes;		/* @origin is known for every span */
	struct rt_origin origin[RT_CLASSES];
	bool hwqs;		/* @hwq is known for every span */
	unsigned int nr_hwqs;	/* one more than the highest row of @hwq that is not zero */
	struct rt_hwq hwq[RT_HWQS];
};

/* Place of a family's counter: per direction, of the disk, per class, per hardware queue. */
enum place { IN_FLOW, IN_DISK, IN_ORIGIN, IN_HWQ };

/* One counter. */
struct family {
	const char *name;	/* without raidtrace_ and _total; ends with the OpenMetrics unit */
	const char *unit;	/* of the counter; ns become seconds, the unit of OpenMetrics */
	const char *help;
	enum place place;
	uint64_t unknown;	/* its bit in the set of counters that are not known */
	size_t offset;
};

static const struct family families[] = {
#define FLOW(member, attribute, name, unit, help)			\
	{ name, unit, help, IN_FLOW, RT_COUNTER_BIT(attribute), offsetof(struct rt_flow, member) },
#define DISK(member, attribute, name, unit, help)			\
	{ name, unit, help, IN_DISK, RT_DISK_BIT(attribute), offsetof(struct rt_disk, member) },
#define ORIGIN(member, attribute, name, unit, help)			\
	{ name, unit, help, IN_ORIGIN, 0, offsetof(struct rt_origin, member) },
#define HWQ(member, attribute, name, unit, help)			\
	{ name, unit, "of a hardware queue: " help, IN_HWQ, 0, offsetof(struct rt_hwq, member) },
	RT_FLOW_COUNTERS(FLOW)
	RT_DISK_COUNTERS(DISK)
	RT_ORIGIN_COUNTERS(ORIGIN)
	RT_HWQ_COUNTERS(HWQ)
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

static void add_span(struct total *total, const struct rt_counters *counters)
{
	total->ns += counters->now_ns - counters->since_ns;
	total->gone = counters->gone;
	total->unknown |= counters->unknown;
	total->disk_counters.unknown |= counters->disk.unknown;
#define X(member, attribute, ...)					\
	total->disk_counters.member += counters->disk.member;
	RT_DISK_COUNTERS(X)
#undef X
	total->classes &= counters->groups & RAIDTRACE_GROUP_ORIGIN ? 1 : 0;
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute, ...)					\
		total->origin[i].member += counters->origin[i].member;
		RT_ORIGIN_COUNTERS(X)
#undef X
	}
	total->hwqs &= counters->groups & RAIDTRACE_GROUP_HWQ ? 1 : 0;
	for (unsigned int i = 0; i < counters->nr_hwqs; i++) {
#define X(member, attribute, ...)					\
		total->hwq[i].member += counters->hwq[i].member;
		RT_HWQ_COUNTERS(X)
#undef X
	}
	if (total->nr_hwqs < counters->nr_hwqs)
		total->nr_hwqs = counters->nr_hwqs;
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		const struct rt_flow *from = &counters->flow[d];
		struct rt_flow *to = &total->flow[d];

#define X(member, attribute, ...) to->member += from->member;
		RT_FLOW_COUNTERS(X)
#undef X
		if (from->in_flight_max > to->in_flight_max)
			to->in_flight_max = from->in_flight_max;
	}
}

/* One total for each name of a disk, even if it was attached twice. */
static struct total *add_up(const struct span *spans, size_t nr_spans, size_t *nr)
{
	struct total *totals = calloc(nr_spans + 1, sizeof(*totals));

	*nr = 0;
	for (size_t i = 0; totals && i < nr_spans; i++) {
		const struct span *span = &spans[i];
		size_t at = 0;

		while (at < *nr && strcmp(totals[at].disk, span->disk))
			at++;
		if (at == *nr) {
			totals[at].classes = true;
			totals[at].hwqs = true;
			totals[(*nr)++].disk = span->disk;
		}
		add_span(&totals[at], &span->counters);
	}
	return totals;
}

static bool is_known(const struct total *total, const struct family *family)
{
	switch (family->place) {
	case IN_FLOW:
		return !(total->unknown & family->unknown);
	case IN_DISK:
		return !(total->disk_counters.unknown & family->unknown);
	case IN_HWQ:
		return total->hwqs;
	default:
		return total->classes && !origin_unknown(total->unknown, family->offset);
	}
}

static void value(FILE *to, const struct family *family, const void *counters)
{
	uint64_t n;

	memcpy(&n, (const char *)counters + family->offset, sizeof(n));
	fputs("} ", to);
	metric_total(to, family->unit, n);
	fputc('\n', to);
}

static void line(FILE *to, const struct family *family, const struct total *total,
		 const char *label, const char *name, const void *counters)
{
	fprintf(to, "raidtrace_%s_total", family->name);
	metric_labels(to, total->disk, label, name);
	value(to, family, counters);
}

static void write_of_disk(FILE *to, const struct family *family, const struct total *total)
{
	switch (family->place) {
	case IN_FLOW:
		for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
			line(to, family, total, "direction", rt_direction_name(d), &total->flow[d]);
		break;
	case IN_DISK:
		line(to, family, total, NULL, NULL, &total->disk_counters);
		break;
	case IN_ORIGIN:
		for (unsigned int i = 0; i < RT_CLASSES; i++)
			line(to, family, total, "class", rt_class_name(i), &total->origin[i]);
		break;
	case IN_HWQ:
		for (unsigned int i = 0; i < total->nr_hwqs; i++) {
			char number[16];

			snprintf(number, sizeof(number), "%u", i);
			if (total->hwq[i].issued | total->hwq[i].depth_sum_ns)
				line(to, family, total, "hwq", number, &total->hwq[i]);
		}
		break;
	}
}

static void write_family(FILE *to, const struct family *family,
			 const struct total *totals, size_t nr)
{
	bool begun = false;

	for (size_t i = 0; i < nr; i++) {
		if (!is_known(&totals[i], family))
			continue;
		if (!begun)
			metric_head(to, family->name, "counter", family->unit, family->help);
		begun = true;
		write_of_disk(to, family, &totals[i]);
	}
}

static void write_info(FILE *to, const struct metric_info *info)
{
	/* An export of a recording had more labels; they remain and are "". */
	const struct {
		const char *name;
		const char *value;
	} labels[] = {
		{ "hostname", info->hostname }, { "kernel", info->kernel },
		{ "tool_version", info->tool_version }, { "started_utc", "" },
		{ "end", "counting" }, { "invariants", "" }, { "simulated", "" },
		{ "lab_profile", "" },
	};

	/* A gauge, because the exporter that reads the file accepts only the types that it had itself. */
	metric_head(to, "recording_info", "gauge", NULL, "labels that describe the recording");
	fputs("raidtrace_recording_info{", to);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		fprintf(to, "%s%s=", i ? "," : "", labels[i].name);
		metric_quoted(to, labels[i].value);
	}
	fputs("} 1\n", to);
}

static void write_gauges(FILE *to, const struct total *totals, size_t nr)
{
	metric_head(to, "recorded_seconds", "gauge", "seconds",
		    "length of all samples of the disk together");
	for (size_t i = 0; i < nr; i++) {
		fputs("raidtrace_recorded_seconds", to);
		metric_labels(to, totals[i].disk, NULL, NULL);
		fputs("} ", to);
		metric_seconds(to, totals[i].ns);
		fputc('\n', to);
	}
	metric_head(to, "in_flight_max_requests", "gauge", "requests",
		    "highest depth since attach or reset, not a difference");
	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
			if (totals[i].unknown & RT_COUNTER_BIT(IN_FLIGHT))
				continue;
			fputs("raidtrace_in_flight_max_requests", to);
			metric_labels(to, totals[i].disk, "direction", rt_direction_name(d));
			fprintf(to, "} %" PRIu32 "\n",
				totals[i].flow[d].in_flight_max);
		}
}

static void write_gone(FILE *to, const struct total *totals, size_t nr)
{
	metric_head(to, "disk_gone", "gauge", NULL,
		    "1: the disk was removed, so its counters no longer change");
	for (size_t i = 0; i < nr; i++) {
		fputs("raidtrace_disk_gone", to);
		metric_labels(to, totals[i].disk, NULL, NULL);
		fprintf(to, "} %d\n", totals[i].gone);
	}
}

int openmetrics_write(FILE *to, const struct metric_info *info, const struct span *spans, size_t nr_spans)
{
	size_t nr;
	int err;
	struct total *totals = add_up(spans, nr_spans, &nr);

	if (!totals)
		return -ENOMEM;
	write_info(to, info);
	write_gauges(to, totals, nr);
	for (size_t i = 0; i < NR_FAMILIES; i++)
		write_family(to, &families[i], totals, nr);
	err = openmetrics_cgroups(to, spans, nr_spans);
	if (!err) {
		write_gone(to, totals, nr);
		err = openmetrics_histograms(to, spans, nr_spans);
	}
	fputs("# EOF\n", to);
	free(totals);
	return err;
}
