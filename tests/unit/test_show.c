// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Counters of disks with all that they can hold, as OpenMetrics: golden/show.prom.gz.
 *
 * Four disks: sda and sdb count everything, sdc less, and md0 has bios alone.
 * The numbers mean nothing (full.h); the test is that each stands in its place.
 * A counter that the file has not yet is left out: it changes no other number.
 */

#include "unit.h"

#include <json-c/json.h>

#include "base/base.h"
#include "export/openmetrics.h"
#include "full.h"
#include "store/store.h"

#define NR_DISKS	4
#define EVERY_GROUP	0x1fff

static const struct rt_target targets[NR_DISKS] = {
	{ .id = 1, .disk = "sda", .above = { "3w-9xxx", "0000:01:00.0", "0:0:0:0", true },
	  .rotational = true, .capacity_sectors = 1742713344, .max_sectors = 256, .max_hw_sectors = 257,
	  .max_segments = 72, .nr_requests = 258, .nr_hw_queues = 2, .nr_tags = 254, .attached_ns = NS_PER_S,
	  .groups = EVERY_GROUP, .streams = 16, .place_sectors = 6807474 },
	{ .id = 2, .disk = "sdb", .above.driver = "mpt3sas", .capacity_sectors = 99, .max_sectors = 2048, .groups = EVERY_GROUP },
	{ .id = 3, .disk = "sdc", .capacity_sectors = 8, .max_sectors = 8,
	  .groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE | RAIDTRACE_GROUP_STREAM | RAIDTRACE_GROUP_DEPTH },
	{ .id = 4, .disk = "md0", .bio_based = true, .capacity_sectors = 4096, .max_sectors = 128,
	  .groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE | RAIDTRACE_GROUP_STREAM | RAIDTRACE_GROUP_SUBMITTER },
};

/* Counters of each disk that are not known. */
static const uint64_t unknown[NR_DISKS] = {
	0, RT_COUNTER_BIT(STREAM_QUEUED) | RT_COUNTER_BIT(SPLITS) | RT_COUNTER_BIT(BYTES_ISSUED),
	RT_COUNTER_BIT(BYTES_COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT) | RT_COUNTER_BIT(AHEAD_QUEUED) | RT_COUNTER_BIT(QUEUED),
	~(RT_COUNTER_BIT(QUEUED) | RT_COUNTER_BIT(BYTES_QUEUED) | RT_COUNTER_BIT(SPLITS)),
};

static struct rt_submitter submitters[NR_DISKS][FULL_SUBMITTERS];
static struct span spans[NR_DISKS];
static const struct metric_info info = { .hostname = "raid", .kernel = "", .tool_version = "" };

static int make_spans(void **unused)
{
	uint64_t state = 3;

	(void)unused;
	for (unsigned int disk = 0; disk < NR_DISKS; disk++) {
		struct rt_counters *c = &spans[disk].counters;

		*c = (struct rt_counters){
			.since_ns = NS_PER_S, .now_ns = 2 * NS_PER_S, .groups = targets[disk].groups, .unknown = unknown[disk],
			.gone = disk == 2, .readahead_sectors = 256 << disk,
			.disk.unknown = disk == 1 ? RT_DISK_BIT(PLUGS) | RT_DISK_BIT(RA_SYNC_SECTORS) : 0,
		};
		full_counters(c, submitters[disk], &state);
		if (disk == 3) { /* without the privilege: one row for all processes */
			submitters[disk][0] = submitters[disk][FULL_SUBMITTERS - 1];
			c->nr_submitters = 1;
		}
		if (disk == 1)
			c->nr_submitters = 8;
		if (disk)
			c->disk.streams_forgotten = c->disk.streams_forgotten_queued = 0;
		spans[disk].disk = targets[disk].disk;
		spans[disk].bio_based = targets[disk].bio_based;
		strcpy(spans[disk].phase, disk == 1 ? "a phase whose name takes more columns than a terminal has" : "read");
	}
	return 0;
}

static int free_spans(void **unused)
{
	(void)unused;
	for (unsigned int disk = 0; disk < NR_DISKS; disk++) {
		spans[disk].counters.submitters = NULL;
		spans[disk].counters.nr_submitters = 0;
		rt_counters_free(&spans[disk].counters);
	}
	return 0;
}

/* Words in the lines of each counter: in JSON, before its samples, and in each sample. */
static const char *const marks[][3] = {
#define X(member, attribute, metric, ...) { "\"" #member "\":", " raidtrace_" metric " ", "raidtrace_" metric "_total{" },
	RT_FLOW_COUNTERS(X)
	RT_DISK_COUNTERS(X)
	RT_ORIGIN_COUNTERS(X)
	RT_SUBMITTER_COUNTERS(X)
	RT_HWQ_COUNTERS(X)
#undef X
};

/* Take the lines with a word out of a text. The last member of an object has no comma. */
static void leave_out(char *text, const char *word)
{
	for (char *line; (line = strstr(text, word));) {
		char *end = strchr(line, '\n');

		while (line > text && line[-1] != '\n')
			line--;
		if (end[-1] != ',' && line > text + 1 && line[-2] == ',')
			*(--line - 1) = '\n';
		memmove(line, end + 1, strlen(end + 1) + 1);
	}
}

static void golden_of_old(const char *name, char *text)
{
	const char *expected = golden_text(name, text);

	for (size_t i = 0; i < 3 * sizeof(marks) / sizeof(marks[0]); i++)
		if (!strstr(expected, marks[i / 3][i % 3]))
			leave_out(text, marks[i / 3][i % 3]);
	golden(name, text);
}

TEST(in_openmetrics)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_int_equal(openmetrics_write(to, &info, spans, NR_DISKS), 0);
	fclose(to);
	golden_of_old("golden/show.prom.gz", text);
}

GROUP_FIXTURE(make_spans, free_spans)
