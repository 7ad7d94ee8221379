// SPDX-License-Identifier: GPL-2.0-or-later

/* Totals as OpenMetrics text: read back by its grammar, number by number. */

#include "unit.h"

#include <inttypes.h>

#include "base/base.h"
#include "export/openmetrics.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define WRITE	RAIDTRACE_DIRECTION_WRITE
#define ALL	RAIDTRACE_DIRECTION_ALL

/* A line read back; labels as they stand between the braces. */
struct sample {
	char name[128];
	char labels[512];
	char value[64];
};

static struct span spans[4];
static const struct metric_info info = {
	.hostname = "a\"b\\c\nd", .kernel = "6.12", .tool_version = "1",
};
static struct sample samples[1024];
static size_t nr_samples;
static char *text;

/* Two phases of sda, one of sdb, one of sdc, which was imported. */
static void fill_spans(void)
{
	static const char *const disks[] = { "sda", "sda", "sdb", "sdc" };

	memset(spans, 0, sizeof(spans));
	for (size_t i = 0; i < 4; i++) {
		spans[i].disk = disks[i];
		spans[i].counters.since_ns = 5 * NS_PER_S;
		spans[i].counters.now_ns = 6 * NS_PER_S + i;
	}
	spans[0].counters.flow[READ].issued = 100;
	spans[1].counters.flow[READ].issued = 23;
	spans[0].counters.flow[WRITE].bytes_completed = UINT64_C(1) << 62;
	spans[1].counters.flow[WRITE].bytes_completed = 1;
	spans[0].counters.flow[READ].d2c_sum_ns = 9 * NS_PER_S + 12345007;
	spans[0].counters.flow[READ].in_flight_max = 40;
	spans[1].counters.flow[READ].in_flight_max = 30;
	spans[0].counters.flow[ALL].in_flight_max = 41;
	spans[2].counters.flow[READ].issued = 5;
	spans[3].counters.flow[READ].issued = 6;
	spans[3].counters.unknown = RT_COUNTER_BIT(PARTIAL) |
				    RT_COUNTER_BIT(IN_FLIGHT);
}

/*
 * The grammar: every family begins with TYPE, UNIT and HELP; a counter's
 * samples end with _total, those of a histogram with _bucket, _count or _sum; a
 * family with a unit ends with it; families do not return; nothing follows the end mark.
 */
static void read_back(void)
{
	char family[128] = "", type[16] = "", unit[32], families[8192] = " ";
	char *copy = strdup(text), *rest = copy, *line;
	bool end = false;

	nr_samples = 0;
	while ((line = strsep(&rest, "\n")) && (*line || rest)) {
		struct sample *s = &samples[nr_samples];
		char word[130];

		assert_false(end);
		if (!strcmp(line, "# EOF")) {
			end = true;
		} else if (sscanf(line, "# TYPE %127s %15s", word, type) == 2) {
			strcpy(family, word);
			strcat(word, " ");
			if (strstr(families, word))
				fail_msg("family %s twice", family);
			strcat(families, word);
			if (strcmp(type, "counter") && strcmp(type, "gauge") && strcmp(type, "histogram"))
				fail_msg("%s: %s", family, type);
		} else if (sscanf(line, "# UNIT %127s %31s", word, unit) == 2) {
			assert_string_equal(word, family);
			assert_string_equal(family + strlen(family) - strlen(unit), unit);
		} else if (sscanf(line, "# HELP %127s %31s", word, unit) == 2) {
			assert_string_equal(word, family);
		} else {
			const char *suffix = !strcmp(type, "counter") ? "_total" : "";

			if (sscanf(line, "%127[a-z0-9_]{%511[^}]} %63s", s->name, s->labels, s->value) != 3)
				fail_msg("not a sample: %s", line);
			/* test_show has the buckets. */
			if (!strcmp(type, "histogram")) {
				assert_int_equal(strncmp(s->name, family, strlen(family)), 0);
				assert_non_null(strstr("_bucket _count _sum", s->name + strlen(family)));
				continue;
			}
			snprintf(word, sizeof(word), "%s", family);
			strcat(word, suffix);
			assert_string_equal(s->name, word);
			nr_samples++;
		}
	}
	assert_true(end);
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(copy);
}

/* Write spans to text, and read it back. */
static void write_text(const struct span *of, size_t nr)
{
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_int_equal(openmetrics_write(to, &info, of, nr), 0);
	fclose(to);
	read_back();
}

/* Value of one sample, NULL when there is none; twice is a failure. */
static const char *value(const char *name, const char *labels)
{
	const char *ret = NULL;

	for (size_t i = 0; i < nr_samples; i++) {
		if (strcmp(samples[i].name, name) || strcmp(samples[i].labels, labels))
			continue;
		assert_null(ret);
		ret = samples[i].value;
	}
	return ret;
}

#define is(name, labels, expected)					\
	assert_string_equal(value("raidtrace_" name, labels), expected)

TEST(totals)
{
	fill_spans();
	write_text(spans, 4);
	is("issued_requests_total", "disk=\"sda\",direction=\"read\"", "123");
	is("issued_requests_total", "disk=\"sdb\",direction=\"read\"", "5");
	is("issued_requests_total", "disk=\"sda\",direction=\"write\"", "0");
	is("completed_bytes_total", "disk=\"sda\",direction=\"write\"", "4611686018427387905");
	is("d2c_seconds_total", "disk=\"sda\",direction=\"read\"", "9.012345007");
	is("recorded_seconds", "disk=\"sda\"", "2.000000001");
	is("recorded_seconds", "disk=\"sdb\"", "1.000000002");
	is("in_flight_max_requests", "disk=\"sda\",direction=\"read\"", "40");
	is("in_flight_max_requests", "disk=\"sda\",direction=\"all\"", "41");
	/* An unknown counter is left out, a known one is not. */
	assert_null(value("raidtrace_partial_completions_total", "disk=\"sdc\",direction=\"read\""));
	is("partial_completions_total", "disk=\"sda\",direction=\"read\"", "0");
	assert_null(value("raidtrace_in_flight_max_requests", "disk=\"sdc\",direction=\"read\""));
	is("issued_requests_total", "disk=\"sdc\",direction=\"read\"", "6");
	assert_null(value("raidtrace_issued_requests_total", "disk=\"sda\",direction=\"all\""));
	/* Quotes, backslashes and ends of lines in a label are escaped. */
	assert_string_equal(samples[0].name, "raidtrace_recording_info");
	assert_non_null(strstr(samples[0].labels, "hostname=\"a\\\"b\\\\c\\nd\","));
	free(text);
}

/* Counters without a direction and of classes are summed over spans, and left out when a span does not know them. */
TEST(groups)
{
	struct span made[2] = { { .disk = "sda" }, { .disk = "sda" } };

	for (size_t i = 0; i < 2; i++) {
		made[i].counters.groups = ~0U;
		made[i].counters.disk.plugs = 5;
		made[i].counters.disk.unknown = RT_DISK_BIT(TAG_WAITS);
		made[i].counters.origin[RAIDTRACE_CLASS_JOURNAL].seeks = 4;
	}
	for (int known = 1; known >= 0; known--) {
		if (!known)
			made[1].counters.groups = RAIDTRACE_GROUP_FLOW;
		write_text(made, 2);
		assert_int_equal(!!strstr(text, "raidtrace_class_seeks_requests_total{disk=\"sda\",class=\"journal\"} 8\n"), known);
		assert_non_null(strstr(text, "raidtrace_plugs_total{disk=\"sda\"} 10\n"));
		assert_null(strstr(text, "tag_waits"));
		free(text);
	}
}

/* Rows of a cgroup, of all processes and spans, are one; those of nobody known are left out. */
TEST(cgroups)
{
	struct rt_submitter first[] = { { .path = "/a\"b", .queued = 3, .bytes_queued = 40 },
					{ .path = "/a\"b", .queued = 4, .seeks_queued = 7 }, { .path = "", .queued = 99 } };
	struct rt_submitter second[] = { { .path = "/a\"b", .queued = 5 }, { .path = "/c", .queued = 1 } };
	struct span made[] = { { .disk = "sda" }, { .disk = "sda" }, { .disk = "sdb" } };

	made[0].counters.submitters = first;
	made[0].counters.nr_submitters = 3;
	made[1].counters.submitters = second;
	made[1].counters.nr_submitters = 2;
	made[2].counters.submitters = second;
	made[2].counters.nr_submitters = 1;
	write_text(made, 3);
	is("cgroup_queued_bios_total", "disk=\"sda\",cgroup=\"/a\\\"b\"", "12");
	is("cgroup_queued_bytes_total", "disk=\"sda\",cgroup=\"/a\\\"b\"", "40");
	is("cgroup_queued_seeks_bios_total", "disk=\"sda\",cgroup=\"/a\\\"b\"", "7");
	is("cgroup_queued_bios_total", "disk=\"sda\",cgroup=\"/c\"", "1");
	is("cgroup_queued_bios_total", "disk=\"sdb\",cgroup=\"/a\\\"b\"", "5");
	assert_null(strstr(text, "cgroup=\"\""));
	free(text);
}
