// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording at a glance: a row for each phase. */

#include "report/report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"
#include "numbers/numbers.h"

#define NUMBERS_WIDTH	56	/* of the columns between name and limit */
#define WHOLE_WIDTH	72	/* a narrower terminal is narrow */
#define FEW_WIDTH	21	/* of these on a narrow terminal */
#define LEAST_NAME	5
#define NAME_MOST	512

/* Write milliseconds with as many digits as a bin of 1/16 justifies. */
static void text_ms(char *ret, const struct range *range)
{
	int64_t ns = range->high == INT64_MAX ? range->low : range->high;
	double ms = (double)ns / 1e6;

	if (!range->known)
		strcpy(ret, "n/a");
	else
		snprintf(ret, UNITS_TEXT, "%s%.*f",
			 range->high == INT64_MAX ? ">" : "",
			 ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

static void text_kib(char *ret, const struct range *mode)
{
	if (!mode->known)
		strcpy(ret, "n/a");
	else
		snprintf(ret, UNITS_TEXT, "%s%.4g",
			 mode->high == mode->low + 1 ? "" : ">=",
			 (double)mode->low * SECTOR_BYTES / 1024);
}

static bool has_several_disks(const struct span *spans, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(spans[i].disk, spans[0].disk))
			return true;
	return false;
}

static void name_of(char *ret, size_t size, const struct span *span, bool with_disk)
{
	if (with_disk)
		snprintf(ret, size, "%s %s", span->phase, span->disk);
	else
		snprintf(ret, size, "%s", span->phase);
}

/* A direction has a row if it moved data. */
static bool has_row(const struct span *span, unsigned int direction)
{
	const struct rt_flow *flow = &span->counters.flow[direction];

	return flow->bytes_queued || flow->bytes_issued || flow->bytes_completed;
}

struct layout {
	int name;		/* width of the name in columns */
	bool with_disk;		/* the name includes the disk */
	bool few;		/* narrow terminal: only rate and requests in flight */
};

static void row(FILE *to, const struct span *span, unsigned int d,
		const struct layout *layout)
{
	char rate[UNITS_TEXT], in_flight[UNITS_TEXT], size[UNITS_TEXT];
	char share[UNITS_TEXT], p50[UNITS_TEXT], p99[UNITS_TEXT];
	char longest[UNITS_TEXT], name[NAME_MOST];
	struct direction_stats stats;

	stats_of(&span->counters, span->bio_based, d, &stats);
	name_of(name, sizeof(name), span, layout->with_disk);
	text_rate(rate, &stats);
	format_depth(in_flight, &stats);
	text_kib(size, &stats.size_mode);
	snprintf(share, sizeof(share), "%.1f", 100.0 * (double)stats.sequential /
		 (double)(stats.requests ? stats.requests : 1));
	if (!stats.requests || !stats.sequential_known)
		strcpy(share, "n/a");
	text_ms(p50, &stats.d2c_p50);
	text_ms(p99, &stats.d2c_p99);
	text_ms(longest, &stats.d2c_max);
	if ((int)strlen(name) > layout->name) {
		terminal_print(to, "%s\n", name);
		name[0] = '\0';
	}
	terminal_print(to, "%-*s %-5s %7s %6s", layout->name, name,
		       rt_direction_name(d), rate, in_flight);
	if (!layout->few)
		terminal_print(to, " %6s %5s %6s %6s %7s", size, share, p50, p99,
			       longest);
	fputc('\n', to);
}

static void header(FILE *to, const struct layout *layout)
{
	int width = layout->name;

	if (layout->few) {
		terminal_print(to, "%s%-*s %5s %7s %6s\n", bold(to), width, "PHASE", "",
			       "MiB/s", "IN");
		terminal_print(to, "%-*s %5s %7s %6s%s\n", width, "", "", "", "FLIGHT",
			       plain(to));
		return;
	}
	terminal_print(to, "%s%-*s %5s %7s %6s %6s %5s %6s %6s %7s\n",
		       bold(to), width, "PHASE", "", "MiB/s", "IN", "SIZE",
		       "SEQU.", "p50", "p99", "MAX");
	terminal_print(to, "%-*s %5s %7s %6s %6s %5s %6s %6s %7s%s\n", width, "",
		       "", "", "FLIGHT", "KiB", "%", "ms", "ms", "ms", plain(to));
}

/* Directions without data are printed next to the table. */
static void print_other_directions(FILE *to, const struct span *spans, size_t nr)
{
	uint64_t sum[RT_DIRECTIONS] = { 0 };
	char text[RT_DIRECTIONS * 2 * UNITS_TEXT];
	size_t at = 0;

	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = RAIDTRACE_DIRECTION_DISCARD;
		     d < RAIDTRACE_DIRECTION_ALL; d++)
			sum[d] += spans[i].counters.flow[d].issued;
	for (unsigned int d = RAIDTRACE_DIRECTION_DISCARD;
	     d < RAIDTRACE_DIRECTION_ALL; d++) {
		char count[UNITS_TEXT];

		if (!sum[d])
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s",
				       at ? ", " : "Besides, requests: ",
				       rt_direction_name(d), format_count(count, sum[d]));
	}
	if (!at)
		return;
	snprintf(text + at, sizeof(text) - at, ".");
	print_wrapped(to, text, 0);
}

void glance_table(FILE *to, const struct span *spans, size_t nr)
{
	int width = 5, columns = terminal_width(to);
	struct layout layout = { .with_disk = has_several_disks(spans, nr) };
	size_t rows = 0;
	char name[NAME_MOST];

	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++) {
			if (!has_row(&spans[i], d))
				continue;
			name_of(name, sizeof(name), &spans[i], layout.with_disk);
			if ((int)strlen(name) > width)
				width = (int)strlen(name);
			rows++;
		}
	if (!rows) {
		fputs(nr ? "no data was moved\n" : "no samples\n", to);
		return;
	}
	layout.few = columns < WHOLE_WIDTH;
	columns -= layout.few ? FEW_WIDTH : NUMBERS_WIDTH;
	/* A longer name gets its own line. */
	if (columns < LEAST_NAME)
		columns = LEAST_NAME;
	layout.name = width < columns ? width : columns;
	header(to, &layout);
	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++)
			if (has_row(&spans[i], d))
				row(to, &spans[i], d, &layout);
	if (layout.few)
		print_wrapped(to, "A wider terminal also shows size, order and latency.", 0);
	print_other_directions(to, spans, nr);
}
