// SPDX-License-Identifier: GPL-2.0-or-later

/* The values of raidctl top as text. */

#include "top/top.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* Write at most four characters for a value below 10,000. */
static void short_number(char *ret, double value)
{
	if (isnan(value))
		strcpy(ret, "n/a");
	else if (value > 0 && value < 0.005)
		strcpy(ret, "<.01");
	else
		snprintf(ret, UNITS_TEXT, "%.*f",
			 value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

void top_depth_text(char *ret, const struct direction_stats *stats,
		    double mean)
{
	char number[UNITS_TEXT];

	short_number(number, mean);
	snprintf(ret, TOP_TEXT, "%s%s",
		 !isnan(mean) && !stats->depth_exact ? ">" : "", number);
}

static void percent_text(char *ret, double share)
{
	char *blank;

	if (isnan(share)) {
		strcpy(ret, "n/a");
		return;
	}
	format_share(ret, share, 1);
	blank = strchr(ret, ' ');
	if (blank)
		*blank = '\0';
}

static char *format_or_na(char *ret, double value, char *(*format)(char *ret, double value))
{
	return isnan(value) ? strcpy(ret, "n/a") : format(ret, value);
}

void top_cell_text(char *ret, const struct top_row *row,
		   enum top_column column)
{
	double value = top_value(row, column);

	switch (column) {
	case TOP_READ_RATE:
	case TOP_WRITE_RATE:
		short_number(ret, value / (1 << 20));
		return;
	case TOP_SIZE:
		format_or_na(ret, value, format_bytes);
		return;
	case TOP_BUSY:
	case TOP_SEQUENTIAL:
		percent_text(ret, value);
		return;
	case TOP_LATENCY:
		if (isnan(value))
			strcpy(ret, "n/a");
		else
			format_range_ns(ret, &row->both.stats.d2c_p99, "<", ">");
		return;
	case TOP_READAHEAD:
		if (isnan(value))
			strcpy(ret, "n/a");
		else
			snprintf(ret, UNITS_TEXT, "%.0f", value * SECTOR_BYTES / 1024);
		return;
	default:
		short_number(ret, value);
	}
}

void top_bar_text(char *ret, int width, double mean, uint64_t most,
		  uint64_t full)
{
	int of_mean, of_most;

	ret[0] = '\0';
	if (isnan(mean))
		return;
	of_mean = (int)lround(mean * width / (double)full);
	of_most = (int)lround((double)most * width / (double)full);
	/* A small value gets at least one mark. */
	if (!of_mean && mean > 0)
		of_mean = 1;
	for (int i = 0; i < width; i++)
		ret[i] = i < of_mean ? '#' : i < of_most ? '-' : '.';
	ret[width] = '\0';
}

void top_states_bar(char *ret, int width, const struct time_states *states)
{
	const struct {
		double share;
		char mark;
	} parts[] = {
		{ states->served, '#' }, { states->backlog, '=' }, { states->held, '-' }, { states->empty, '.' },
	};
	double until = 0;
	int at = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && states->known; i++) {
		until += parts[i].share;
		while (at < width && at < (int)lround(until * width))
			ret[at++] = parts[i].mark;
	}
	/* Little is not nothing. */
	if (at && ret[0] == '.' && states->empty < 1)
		ret[0] = states->held > states->served + states->backlog ? '-' : states->served > 0 ? '#' : '=';
	ret[at] = '\0';
}

void top_states_text(char *ret, size_t size, const struct time_states *states)
{
	char served[UNITS_TEXT], backlog[UNITS_TEXT], held[UNITS_TEXT], empty[UNITS_TEXT];

	format_share(served, states->served, 1);
	format_share(backlog, states->backlog, 1);
	format_share(held, states->held, 1);
	format_share(empty, states->empty, 1);
	if (!states->known)
		snprintf(ret, size, "n/a");
	else if (states->waits_known)
		snprintf(ret, size, "served %s, backlog %s, held %s, empty %s", served, backlog, held, empty);
	else
		snprintf(ret, size, "busy %s, not busy %s", served, empty);
}

const char *top_state_text(const struct top_row *row)
{
	switch (row->state) {
	case TOP_GONE:
		return "gone: the disk was removed";
	case TOP_DETACHED:
		return "detached: no longer counted";
	case TOP_FRESH:
		return "the first interval is under way";
	default:
		return NULL;
	}
}

static void rate_text(char *ret, const struct top_row *row,
		      enum top_column column, uint64_t count)
{
	/* If a value is not known for one direction, it is not known for both. */
	if (isnan(top_value(row, column)))
		strcpy(ret, "n/a");
	else
		short_number(ret, (double)count / row->seconds);
}

/* Share of requests in streams, and bios that read ahead. */
static void stream_text(char *ret, size_t size, const struct top_row *row,
			const struct top_flow *flow)
{
	char share[UNITS_TEXT] = "n/a", ahead[TOP_TEXT] = "n/a";

	if (!isnan(flow->stream))
		format_share(share, flow->stream, (double)flow->stats.requests);
	if (!isnan(flow->ahead))
		short_number(ahead, flow->ahead / row->seconds);
	snprintf(ret, size, "%s, %s", share, ahead);
}

void top_classes_text(char *ret, size_t size, const struct top_row *row)
{
	size_t used = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; i < RT_CLASSES && row->classes; i++) {
		char rate[TOP_TEXT];

		if (!row->seeks[i] || used >= size)
			continue;
		short_number(rate, (double)row->seeks[i] / row->seconds);
		used += (size_t)snprintf(ret + used, size - used, "%s %s %s",
					 used ? "," : "", rate,
					 rt_class_name(i));
	}
}

void top_losses_text(char *ret, size_t size, const struct top *top)
{
	char text[LOSSES_TEXT];
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < top->nr && used < size; i++)
		if (losses_text(text, &top->rows[i].losses)[0])
			used += (size_t)snprintf(ret + used, size - used, "%s %s: %" PRIu64 " events: %s",
						 used ? ";" : "LOST", top->rows[i].target.disk,
						 losses_sum(&top->rows[i].losses), text);
}

void top_detail_text(char *ret, size_t size, const struct top_row *row,
		     bool reads, int line)
{
	const struct top_flow *flow = reads ? &row->read : &row->write;
	const struct direction_stats *stats = &flow->stats;
	char a[TOP_TEXT], b[TOP_TEXT], c[TOP_TEXT];
	double mean;

	switch (line) {
	case 0:
		mean = top_value(row, reads ? TOP_READ_DEPTH : TOP_WRITE_DEPTH);
		if (isnan(mean)) {
			snprintf(ret, size, "n/a");
			return;
		}
		top_depth_text(a, stats, mean);
		snprintf(ret, size, "%s mean, %" PRIu64 "%s max", a,
			 stats->depth_max, stats->depth_open ? "+" : "");
		return;
	case 1:
		short_number(a, top_value(row, reads ? TOP_READ_RATE :
						       TOP_WRITE_RATE) /
				(1 << 20));
		rate_text(b, row, TOP_SEEKS, stats->requests);
		snprintf(ret, size, "%s MiB/s, %s requests/s", a, b);
		return;
	case 2:
		format_range_bytes(a, &stats->size_mode);
		format_or_na(b, stats->requests ? stats->size_mean_bytes : NAN, format_bytes);
		snprintf(ret, size, "%s, %s", a, b);
		return;
	case 3:
		if (stats->sequential_known)
			format_share(a, (double)stats->sequential,
				     (double)stats->requests);
		else
			strcpy(a, "n/a");
		rate_text(b, row, TOP_SEEKS, stats->seeks);
		snprintf(ret, size, "%s, %s seeks/s", a, b);
		return;
	case 4:
		rate_text(a, row, TOP_MERGES, flow->merges);
		rate_text(b, row, TOP_SPLITS, flow->splits);
		snprintf(ret, size, "%s, %s", a, b);
		return;
	case 5:
		stream_text(ret, size, row, flow);
		return;
	case 6:
		format_or_na(a, flow->i2d_ns, format_ns);
		format_or_na(b, flow->q2c_ns, format_ns);
		snprintf(ret, size, "%s, %s", a, b);
		return;
	default:
		format_or_na(a, stats->d2c_mean_known ? stats->d2c_mean_ns : NAN, format_ns);
		format_range_ns(b, &stats->d2c_p99, "<", ">");
		format_range_ns(c, &stats->d2c_p999, "<", ">");
		snprintf(ret, size, "%s, %s, %s", a, b, c);
	}
}

const char *top_detail_label(int line)
{
	static const char *const labels[TOP_DETAILS] = {
		"in flight", "completed, issued", "size mode, mean",
		"sequential", "merges/s, splits/s", "streams, ahead/s",
		"I2D, Q2C mean", "D2C mean,p99,p99.9",
	};

	return labels[line];
}

const char *top_help_line(int line)
{
	static const char *const lines[] = {
		"raidctl top: the requests of the attached disks, live",
		"",
		"up down k j  pick a disk; its details are shown below the list",
		"s            sort by the next column; the column is marked with *",
		"f or space   freeze the display; the next interval includes that time",
		"+ -          longer or shorter interval",
		"r            change the readahead of the selected disk; asks first",
		"q or Ctrl-C  quit",
		"",
		"time         share: # served, requests in flight; = backlog, bios wait, too;",
		"             - held: bios wait, no request in flight; . empty: neither",
		"in flight    requests with the driver: mean over the interval, by time;",
		"             in a bar # is the mean, - the maximum",
		"size         most frequent size of a request; beyond 128 KiB a range,",
		"             of which the list prints the low end",
		"seq.         share of requests that began where the previous one ended",
		"D2C          from issue to completion; 99 % took at most p99",
		"n/a          not counted for this disk, or there was no request",
		"streams      share of requests that continue one of the last streams",
		"I2D, Q2C     from insert to issue, from queue to completion",
		"LOST         events by kind that BPF programs did not deliver since the start",
		"",
		"any key goes back",
	};
	size_t nr = sizeof(lines) / sizeof(lines[0]);

	return line < (int)nr ? lines[line] : NULL;
}
