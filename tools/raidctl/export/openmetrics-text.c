// SPDX-License-Identifier: GPL-2.0-or-later

/* Lines of OpenMetrics: the head of a family, and labels. */

#include "export/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "base/base.h"
#include "numbers/numbers.h"

void metric_quoted(FILE *to, const char *text)
{
	size_t len = strlen(text), bytes;
	uint32_t code;

	fputc('"', to);
	for (; len; text += bytes, len -= bytes) {
		bytes = foreign_next(text, len, &code);
		if (*text == '\n')
			fputs("\\n", to);
		else if (code == FOREIGN_INVALID)
			fputs("\xef\xbf\xbd", to);
		else if (foreign_is_hidden(code))
			fprintf(to, "\\\\u%04" PRIx32, code);
		else
			fprintf(to, "%s%.*s", strchr("\"\\", *text) ? "\\" : "",
				(int)bytes, text);
	}
	fputc('"', to);
}

void metric_head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help)
{
	fprintf(to, "# TYPE raidtrace_%s %s\n", name, type);
	if (unit)
		fprintf(to, "# UNIT raidtrace_%s %s\n", name, strcmp(unit, "ns") ? unit : "seconds");
	fprintf(to, "# HELP raidtrace_%s %s\n", name, help);
}

void metric_labels(FILE *to, const char *disk, const char *label,
		   const char *value)
{
	fputs("{disk=", to);
	metric_quoted(to, disk);
	if (label)
		fprintf(to, ",%s=\"%s\"", label, value);
}

void metric_seconds(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

void metric_total(FILE *to, const char *unit, uint64_t total)
{
	if (strcmp(unit, "ns"))
		fprintf(to, "%" PRIu64, total);
	else
		metric_seconds(to, total);
}

/*
 * Histograms of disks as classic histograms of OpenMetrics. Their bounds include the value itself; the module's bins do
 * not include their upper bound. So a bound is the largest value of a bin. Native histograms with exponential buckets
 * would move counts across bounds that the module does not have. A Prometheus that converts classic histograms to
 * native ones keeps these bounds.
 */

/* One family. */
struct shape {
	enum raidtrace_histogram_kind kind;
	const char *name;
	const char *unit;
	const char *help;
	uint64_t scale;	/* factor of the module's value in @unit; 0 for nanoseconds in seconds */
	int64_t from;	/* lowest bound that is printed, in the module's unit */
	int64_t to;	/* highest bound */
	size_t sum;	/* offset in struct rt_flow of the sum of all values, 0 for none */
};

static const struct shape shapes[] = {
	{ RAIDTRACE_HISTOGRAM_KIND_D2C, "d2c_latency_seconds", "seconds",
	  "requests completed, by time from issue to completion", 0,
	  1000, INT64_C(1) << 37, offsetof(struct rt_flow, d2c_sum_ns) },
	{ RAIDTRACE_HISTOGRAM_KIND_SIZE, "request_size_bytes", "bytes",
	  "requests issued, by size", SECTOR_BYTES, 1, 1 << 16,
	  offsetof(struct rt_flow, bytes_issued) },
	{ RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE, "depth_at_issue_requests",
	  "requests", "requests issued, by the number of requests in flight at the issue",
	  1, 1, 128, 0 },
};

static bool is_power(int64_t value)
{
	return value > 0 && !(value & (value - 1));
}

/* The largest value of a bin if it is used as a bound, -1 otherwise. */
static int64_t bound(const struct shape *shape, unsigned int bin)
{
	int64_t low = bin_low(shape->kind, bin);
	int64_t high = bin_high(shape->kind, bin);

	if (high == INT64_MAX || low < shape->from || low > shape->to)
		return -1;
	return is_power(high - low == 1 ? low : high) ? high - 1 : -1;
}

static void value(FILE *to, const struct shape *shape, uint64_t of)
{
	if (shape->scale)
		fprintf(to, "%" PRIu64, of);
	else
		metric_seconds(to, of);
}

static void bucket(FILE *to, const struct shape *shape, const char *disk,
		   unsigned int direction, int64_t at, uint64_t count)
{
	fprintf(to, "raidtrace_%s_bucket", shape->name);
	metric_labels(to, disk, "direction", rt_direction_name(direction));
	fputs(",le=\"", to);
	if (at < 0)
		fputs("+Inf", to);
	else if (shape->scale) /* in OpenMetrics a bound is not an integer */
		fprintf(to, "%" PRIu64 ".0", (uint64_t)at * shape->scale);
	else
		value(to, shape, (uint64_t)at);
	fprintf(to, "\"} %" PRIu64 "\n", count);
}

static void write_one(FILE *to, const struct shape *shape, const char *disk,
		      unsigned int direction,
		      const struct rt_histogram *histogram, uint64_t sum)
{
	unsigned int nr = raidtrace_hist_bins(shape->kind);
	uint64_t count = 0;

	for (unsigned int bin = 0; bin < nr; bin++) {
		int64_t at = bound(shape, bin);

		if (bin - histogram->first_bin < histogram->nr_bins)
			count += histogram->counts[bin - histogram->first_bin];
		if (at >= 0)
			bucket(to, shape, disk, direction, at, count);
	}
	bucket(to, shape, disk, direction, -1, count);
	if (!shape->sum)
		return;
	fprintf(to, "raidtrace_%s_count", shape->name);
	metric_labels(to, disk, "direction", rt_direction_name(direction));
	fprintf(to, "} %" PRIu64 "\n", count);
	fprintf(to, "raidtrace_%s_sum", shape->name);
	metric_labels(to, disk, "direction", rt_direction_name(direction));
	fputs("} ", to);
	value(to, shape, sum);
	fputc('\n', to);
}

/* Is it the first span of its disk? */
static bool is_first(const struct span *spans, size_t of)
{
	for (size_t i = 0; i < of; i++)
		if (!strcmp(spans[i].disk, spans[of].disk))
			return false;
	return true;
}

/* Print the sum of all spans of a disk. */
static int write_disk(FILE *to, const struct shape *shape,
		      const struct span *spans, size_t nr, size_t first,
		      unsigned int direction)
{
	const char *disk = spans[first].disk;
	struct rt_histogram all = { 0 };
	uint64_t sum = 0, part;
	int err = 0;

	for (size_t i = first; i < nr && !err; i++) {
		const struct rt_counters *c = &spans[i].counters;

		if (strcmp(spans[i].disk, disk))
			continue;
		/* If one span does not count it, the sum is not known. */
		if (!counts_kind(c, shape->kind))
			goto free_all;
		err = rt_histogram_add(&all, &c->histogram[direction][shape->kind]);
		memcpy(&part, (const char *)&c->flow[direction] + shape->sum,
		       sizeof(part));
		sum += part;
	}
	/* Reads and writes are always printed, other directions only if they have a request. */
	if (!err && (direction <= RAIDTRACE_DIRECTION_WRITE || all.nr_bins))
		write_one(to, shape, disk, direction, &all, sum);
free_all:
	free(all.counts);
	return err;
}

int openmetrics_histograms(FILE *to, const struct span *spans, size_t nr)
{
	int err = 0;

	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		metric_head(to, shapes[k].name, "histogram", shapes[k].unit,
			    shapes[k].help);
		for (size_t i = 0; i < nr; i++)
			for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
				if (d != RAIDTRACE_DIRECTION_ALL &&
				    is_first(spans, i))
					err = write_disk(to, &shapes[k],
							 spans, nr, i, d);
	}
	return err;
}
