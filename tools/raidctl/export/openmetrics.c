// SPDX-License-Identifier: GPL-2.0-or-later

/* Totals of a recording as OpenMetrics text. */

#include "export/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/units.h"
#include "numbers/columns.h"
#include "numbers/groups.h"

/**
 * struct total - one disk over all its spans
 * @disk: its name
 * @ns: length of its samples together
 * @unknown: as in struct rt_counters, of any span
 * @flow: sums; in_flight_max is the highest
 * @disk_counters: sums; unknown of any span
 * @classes: @origin is known of every span
 * @origin: sums
 */
struct total {
	const char *disk;
	uint64_t ns;
	uint64_t unknown;
	struct rt_flow flow[RT_DIRECTIONS];
	struct rt_disk disk_counters;
	bool classes;
	struct rt_origin origin[RT_CLASSES];
};

/**
 * struct family - one counter
 * @name: without raidtrace_ and _total; ends with the unit
 * @unit: of OpenMetrics, which wants seconds
 * @column: of the table flow, whose words are its help
 * @bit: of struct rt_counters.unknown
 * @offset: of the member of struct rt_flow
 */
struct family {
	const char *name;
	const char *unit;
	const char *column;
	uint64_t bit;
	size_t offset;
};

#define FAMILY(family_name, family_unit, member, attribute)		\
	{ family_name, family_unit, #member, RT_COUNTER_BIT(attribute),	\
	  offsetof(struct rt_flow, member) }

static const struct family families[] = {
	FAMILY("queued_bios", "bios", queued, QUEUED),
	FAMILY("got_requests", "requests", got, GOT),
	FAMILY("back_merged_bios", "bios", back_merges, BACK_MERGES),
	FAMILY("front_merged_bios", "bios", front_merges, FRONT_MERGES),
	FAMILY("merged_requests", "requests", request_merges, REQUEST_MERGES),
	FAMILY("split_bios", "bios", splits, SPLITS),
	FAMILY("inserted_requests", "requests", inserted, INSERTED),
	FAMILY("issued_requests", "requests", issued, ISSUED),
	FAMILY("requeued_requests", "requests", requeued, REQUEUED),
	FAMILY("requeued_unissued_requests", "requests", requeued_unissued,
	       REQUEUED_UNISSUED),
	FAMILY("completed_requests", "requests", completed, COMPLETED),
	FAMILY("partial_completions", "completions", partial, PARTIAL),
	FAMILY("failed_completions", "completions", errors, ERRORS),
	FAMILY("unmatched_requests", "requests", unmatched, UNMATCHED),
	FAMILY("unissued_requests", "requests", unissued, UNISSUED),
	FAMILY("abandoned_requests", "requests", abandoned, ABANDONED),
	FAMILY("queued_bytes", "bytes", bytes_queued, BYTES_QUEUED),
	FAMILY("issued_bytes", "bytes", bytes_issued, BYTES_ISSUED),
	FAMILY("completed_bytes", "bytes", bytes_completed, BYTES_COMPLETED),
	FAMILY("sequential_requests", "requests", sequential, SEQUENTIAL),
	FAMILY("seek_forward_sectors", "sectors", seek_forward_sectors,
	       SEEK_FORWARD_SECTORS),
	FAMILY("seek_backward_sectors", "sectors", seek_backward_sectors,
	       SEEK_BACKWARD_SECTORS),
	FAMILY("d2c_seconds", "seconds", d2c_sum_ns, D2C_SUM_NS),
	FAMILY("sequential_queued_bios", "bios", sequential_queued,
	       SEQUENTIAL_QUEUED),
	FAMILY("seek_queued_forward_sectors", "sectors",
	       seek_queued_forward_sectors, SEEK_QUEUED_FORWARD_SECTORS),
	FAMILY("seek_queued_backward_sectors", "sectors",
	       seek_queued_backward_sectors, SEEK_QUEUED_BACKWARD_SECTORS),
	FAMILY("stream_requests", "requests", stream, STREAM),
	FAMILY("stream_queued_bios", "bios", stream_queued, STREAM_QUEUED),
	FAMILY("i2d_seconds", "seconds", i2d_sum_ns, I2D_SUM_NS),
	FAMILY("q2c_seconds", "seconds", q2c_sum_ns, Q2C_SUM_NS),
	FAMILY("q2c_unknown_pieces", "pieces", q2c_unknown, Q2C_UNKNOWN),
	FAMILY("ahead_queued_bios", "bios", ahead_queued, AHEAD_QUEUED),
	FAMILY("ahead_queued_bytes", "bytes", bytes_ahead_queued,
	       BYTES_AHEAD_QUEUED),
	FAMILY("reissued_requests", "requests", reissued, REISSUED),
	FAMILY("refused_bios", "bios", refused, REFUSED),
	FAMILY("in_flight_request_seconds", "seconds", depth_sum_ns, DEPTH_SUM_NS),
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))
#define X(member, attribute) + 1
_Static_assert(NR_FAMILIES == 0 RT_FLOW_COUNTERS(X), "each counter once");
#undef X

static uint64_t value_of(const struct rt_flow *flow, const struct family *family)
{
	uint64_t value;

	memcpy(&value, (const char *)flow + family->offset, sizeof(value));
	return value;
}

static void add_span(struct total *total, const struct rt_counters *counters)
{
	total->ns += counters->now_ns - counters->since_ns;
	total->unknown |= counters->unknown;
	total->disk_counters.unknown |= counters->groups ?
		counters->disk.unknown : ~0U;
#define X(member, attribute)						\
	total->disk_counters.member += counters->disk.member;
	RT_DISK_COUNTERS(X)
#undef X
	total->classes &= counters->groups & RAIDTRACE_GROUP_ORIGIN ? 1 : 0;
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute)						\
		total->origin[i].member += counters->origin[i].member;
		RT_ORIGIN_COUNTERS(X)
#undef X
	}
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		const struct rt_flow *from = &counters->flow[d];
		struct rt_flow *to = &total->flow[d];

#define X(member, attribute) to->member += from->member;
		RT_FLOW_COUNTERS(X)
#undef X
		if (from->in_flight_max > to->in_flight_max)
			to->in_flight_max = from->in_flight_max;
	}
}

/* One per name of a disk; a disk that was attached twice is one. */
static struct total *add_up(const struct recording *recording, size_t *nr)
{
	struct total *totals = calloc(recording->nr_spans + 1, sizeof(*totals));

	*nr = 0;
	for (size_t i = 0; totals && i < recording->nr_spans; i++) {
		const struct span *span = &recording->spans[i];
		size_t at = 0;

		while (at < *nr && strcmp(totals[at].disk, span->disk))
			at++;
		if (at == *nr) {
			totals[at].classes = true;
			totals[(*nr)++].disk = span->disk;
		}
		add_span(&totals[at], &span->counters);
	}
	return totals;
}

/* A label's value, in quotes: what a terminal would obey as its number. */
static void quoted(FILE *to, const char *text)
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

static void head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help)
{
	fprintf(to, "# TYPE raidtrace_%s %s\n", name, type);
	if (unit)
		fprintf(to, "# UNIT raidtrace_%s %s\n", name, unit);
	fprintf(to, "# HELP raidtrace_%s %s\n", name, help);
}

static const char *help_of(const char *table, const char *column)
{
	for (size_t i = 0; i < nr_columns; i++)
		if (!strcmp(columns[i].table, table) &&
		    !strcmp(columns[i].name, column))
			return columns[i].meaning;
	return "";
}

static void labels(FILE *to, const struct total *total, unsigned int direction)
{
	fputs("{disk=", to);
	quoted(to, total->disk);
	fprintf(to, ",direction=\"%s\"}", rt_direction_name(direction));
}

/* Nanoseconds are written as seconds, digit by digit: no bit is lost. */
static void number(FILE *to, const struct family *family, uint64_t value)
{
	if (!strcmp(family->unit, "seconds"))
		fprintf(to, " %" PRIu64 ".%09" PRIu64 "\n", value / NS_PER_S,
			value % NS_PER_S);
	else
		fprintf(to, " %" PRIu64 "\n", value);
}

static void write_family(FILE *to, const struct family *family,
			 const struct total *totals, size_t nr)
{
	bool known = false;

	for (size_t i = 0; i < nr; i++)
		known |= !(totals[i].unknown & family->bit);
	if (!known)
		return;
	head(to, family->name, "counter", family->unit,
	     help_of("flow", family->column));
	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
			if (d == RAIDTRACE_DIRECTION_ALL ||
			    (totals[i].unknown & family->bit))
				continue;
			fprintf(to, "raidtrace_%s_total", family->name);
			labels(to, &totals[i], d);
			number(to, family, value_of(&totals[i].flow[d], family));
		}
}

static void write_info(FILE *to, const struct recording *recording)
{
	static const char *const keys[] = {
		"hostname", "kernel", "tool_version", "started_utc", "end",
		"invariants", "simulated", "lab_profile",
	};

	/* A gauge: the exporter that reads the file knows no other type of OpenMetrics than it had itself. */
	head(to, "recording_info", "gauge", NULL, "what was recorded");
	fputs("raidtrace_recording_info{", to);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		fprintf(to, "%s%s=", i ? "," : "", keys[i]);
		quoted(to, recording_meta(recording, keys[i]));
	}
	fputs("} 1\n", to);
}

static void write_gauges(FILE *to, const struct total *totals, size_t nr)
{
	head(to, "recorded_seconds", "gauge", "seconds",
	     "length of all samples of the disk together");
	for (size_t i = 0; i < nr; i++) {
		fputs("raidtrace_recorded_seconds{disk=", to);
		quoted(to, totals[i].disk);
		fprintf(to, "} %" PRIu64 ".%09" PRIu64 "\n",
			totals[i].ns / NS_PER_S, totals[i].ns % NS_PER_S);
	}
	head(to, "in_flight_max_requests", "gauge", "requests",
	     help_of("flow", "in_flight_max"));
	for (size_t i = 0; i < nr; i++)
		for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
			if (totals[i].unknown & RT_COUNTER_BIT(IN_FLIGHT))
				continue;
			fputs("raidtrace_in_flight_max_requests", to);
			labels(to, &totals[i], d);
			fprintf(to, " %" PRIu32 "\n",
				totals[i].flow[d].in_flight_max);
		}
}

/* One family of what has no direction. */
static void write_disk_family(FILE *to, const char *name, const char *unit,
			      const char *column, uint32_t bit,
			      size_t offset, const struct total *totals,
			      size_t nr)
{
	bool begun = false;

	for (size_t i = 0; i < nr; i++) {
		uint64_t value;

		if (totals[i].disk_counters.unknown & bit)
			continue;
		if (!begun)
			head(to, name, "counter", unit, help_of("sample", column));
		begun = true;
		memcpy(&value, (const char *)&totals[i].disk_counters + offset,
		       sizeof(value));
		fprintf(to, "raidtrace_%s_total{disk=", name);
		quoted(to, totals[i].disk);
		fprintf(to, "} %" PRIu64 "\n", value);
	}
}

static void write_disk(FILE *to, const struct total *totals, size_t nr)
{
#define DISK(name, unit, member, attribute)				\
	write_disk_family(to, name, unit, #member, RT_DISK_BIT(attribute), \
			  offsetof(struct rt_disk, member), totals, nr);
	DISK("plugs", "plugs", plugs, PLUGS)
	DISK("done_unplugs", "unplugs", unplugs_explicit, UNPLUGS_EXPLICIT)
	DISK("slept_unplugs", "unplugs", unplugs_schedule, UNPLUGS_SCHEDULE)
	DISK("tag_waits", "waits", tag_waits, TAG_WAITS)
	DISK("readahead_sync_sectors", "sectors", ra_sync_sectors, RA_SYNC_SECTORS)
	DISK("readahead_async_sectors", "sectors", ra_async_sectors, RA_ASYNC_SECTORS)
	DISK("forgotten_streams", "streams", streams_forgotten, STREAMS_FORGOTTEN)
	DISK("forgotten_streams_of_bios", "streams", streams_forgotten_queued, STREAMS_FORGOTTEN_QUEUED)
#undef DISK
}

/* One family of what each class had. */
static void write_class_family(FILE *to, const char *name, const char *unit,
			       const char *column, size_t offset,
			       const struct total *totals, size_t nr)
{
	bool begun = false;

	for (size_t i = 0; i < nr; i++)
		for (unsigned int k = 0; k < RT_CLASSES && totals[i].classes;
		     k++) {
			uint64_t value;

			if (origin_unknown(totals[i].unknown, offset))
				break;
			if (!begun)
				head(to, name, "counter", unit,
				     help_of("origin", column));
			begun = true;
			memcpy(&value, (const char *)&totals[i].origin[k] + offset,
			       sizeof(value));
			fprintf(to, "raidtrace_%s_total{disk=", name);
			quoted(to, totals[i].disk);
			fprintf(to, ",class=\"%s\"} %" PRIu64 "\n",
				rt_class_name(k), value);
		}
}

static void write_classes(FILE *to, const struct total *totals, size_t nr)
{
#define CLASS(name, unit, member)					\
	write_class_family(to, name, unit, #member,			\
			   offsetof(struct rt_origin, member), totals, nr);
	CLASS("class_queued_bios", "bios", queued)
	CLASS("class_queued_bytes", "bytes", bytes_queued)
	CLASS("class_queued_seeks_bios", "bios", seeks_queued)
	CLASS("class_issued_requests", "requests", issued)
	CLASS("class_issued_bytes", "bytes", bytes_issued)
	CLASS("class_seeks_requests", "requests", seeks)
	CLASS("class_seek_sectors", "sectors", seek_sectors)
#undef CLASS
}

int openmetrics_write(FILE *to, const struct recording *recording)
{
	size_t nr;
	struct total *totals = add_up(recording, &nr);

	if (!totals)
		return -ENOMEM;
	write_info(to, recording);
	write_gauges(to, totals, nr);
	for (size_t i = 0; i < NR_FAMILIES; i++)
		write_family(to, &families[i], totals, nr);
	write_disk(to, totals, nr);
	write_classes(to, totals, nr);
	fputs("# EOF\n", to);
	free(totals);
	return 0;
}
