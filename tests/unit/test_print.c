// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording made here, printed, is what golden/ holds, byte by byte. */

#include "unit.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "bin_of.h"
#include "report/print.h"
#include "store/load.h"
#include "store/store.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define WRITE	RAIDTRACE_DIRECTION_WRITE
#define ALL	RAIDTRACE_DIRECTION_ALL

static char directory[] = "/tmp/raidtrace-print-XXXXXX";
static char path[64];
static struct recording recording;

static const struct rt_target target = {
	.disk = "sda", .driver = "3w-9xxx", .pci = "0000:01:00.0",
	.hctl = "0:0:0:0", .unit_3ware = true, .rotational = true,
	.capacity_sectors = 1742713344, .max_sectors = 256,
	.max_hw_sectors = 256, .max_segments = 72, .nr_requests = 256,
	.nr_hw_queues = 1, .nr_tags = 254, .attached_ns = NS_PER_S,
};

static void put(struct rt_counters *c, unsigned int direction,
		unsigned int kind, int64_t value, uint64_t n)
{
	rt_histogram_count(&c->histogram[direction][kind],
			   bin_of(kind, value), n);
}

/* 1000 reads of 128 KiB but 10 of 4 KiB, 900 of them sequential, 2 s long. */
static void fill_reads(struct rt_counters *c)
{
	struct rt_flow *flow = &c->flow[READ];

	flow->queued = 300;
	flow->splits = 700;
	flow->got = flow->inserted = flow->issued = flow->completed = 1000;
	flow->bytes_queued = flow->bytes_issued = flow->bytes_completed =
		UINT64_C(990) * 131072 + UINT64_C(10) * 4096;
	flow->sequential = 900;
	flow->seek_forward_sectors = 99 * 2048;
	flow->d2c_sum_ns = UINT64_C(1000) * 2500000;
	flow->in_flight_max = 40;
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_SIZE, 256, 990);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 10);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_SEEK, 0, 900);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_SEEK, 2048, 99);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_D2C, 2500000, 1000);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, NS_PER_S / 2);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 1, NS_PER_S);
	put(c, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 40, NS_PER_S / 2);
	put(c, ALL, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 1, 2 * NS_PER_S);
}

/* One write with an error, of those that nothing else is known of. */
static void fill_write(struct rt_counters *c)
{
	struct rt_flow *flow = &c->flow[WRITE];

	flow->queued = flow->issued = flow->completed = 1;
	flow->requeued = 1;
	flow->errors = 1;
	flow->bytes_issued = 512;
	put(c, WRITE, RAIDTRACE_HISTOGRAM_KIND_SIZE, 1, 1);
	put(c, WRITE, RAIDTRACE_HISTOGRAM_KIND_SEEK, -4096, 1);
	flow->seek_backward_sectors = 4096;
	put(c, WRITE, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, 2 * NS_PER_S);
}

static void put_all(struct store *store)
{
	static const char *const meta[][2] = {
		{ "abi", "1" }, { "end", "complete" }, { "exit_status", "0" },
		{ "hostname", "raid" }, { "invariants", "hold" },
		{ "kernel", "6.1.0" }, { "tool_version", "0.1.0" }, { "module_version", "0.1.0" },
		{ "simulated", "yes" }, { "lab_profile", "9500s-12-raid0" },
		{ "started_utc", "2026-01-02T03:04:05Z" },
		{ "command", "[\"dd\",\"if=/dev/sda\"]" },
	};
	static const char *const settings[][2] = {
		{ "readahead_sectors", "256" }, { "scheduler", "none" },
		{ "queue_depth", "254" }, { "mount", "/mnt" },
		{ "fstype", "xfs" }, { "mount_options", "rw,relatime" },
		{ "io.max", "/a b rbps=1048576 wbps=max riops=max wiops=max\n/c\x1b rbps=max wbps=max riops=max wiops=7" },
	};
	struct rt_counters c = { .since_ns = 2 * NS_PER_S, .now_ns = 4 * NS_PER_S };
	struct rt_counters nothing = { .since_ns = NS_PER_S, .now_ns = 2 * NS_PER_S };

	fill_reads(&c);
	fill_write(&c);
	store_begin(store);
	for (size_t i = 0; i < sizeof(meta) / sizeof(meta[0]); i++)
		store_put_meta(store, meta[i][0], meta[i][1]);
	store_put_target(store, 1, &target);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		store_put_setting(store, NS_PER_S, 1, settings[i][0],
				  settings[i][1]);
	store_begin_phase(store, 0, PHASE_OUTSIDE, NS_PER_S);
	store_put_sample(store, 1, 0, &nothing);
	store_end_phase(store, 0, 2 * NS_PER_S);
	store_begin_phase(store, 1, "read", 2 * NS_PER_S);
	store_put_sample(store, 1, 1, &c);
	store_put_setting(store, 4 * NS_PER_S, 1, "readahead_sectors", "16384");
	store_end_phase(store, 1, 4 * NS_PER_S);
	store_commit(store);
	rt_counters_free(&c);
}

static int make_recording(void **state)
{
	struct store *store;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a.rtdb", directory);
	if (store_create(path, &store))
		return -1;
	put_all(store);
	store_close(store);
	if (store_open(path, &store) ||
	    recording_load(store, NULL, &recording))
		return -1;
	store_close(store);
	recording.path = "a.rtdb";
	return 0;
}

#define LONG_COMMAND "[\"sh\",\"-c\",\"for size in 4k 8k 16k 32k 64k 128k; do dd if=/dev/md0 of=/dev/null bs=$size count=1000 iflag=direct; done\"]"

/* A disk made of others: it has bios alone. */
static void put_md(struct store *store)
{
	const struct rt_target md = { .id = 1, .disk = "md0", .bio_based = true, .capacity_sectors = 2048,
				      .max_sectors = 128,
				      .groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_ORIGIN };
	struct rt_counters c = { .now_ns = NS_PER_S, .groups = md.groups,
				 .unknown = ~(RT_COUNTER_BIT(QUEUED) | RT_COUNTER_BIT(BYTES_QUEUED)) };

	c.flow[READ].queued = 64;
	c.origin[RAIDTRACE_CLASS_DIRECT].queued = 64;
	store_begin(store);
	store_put_meta(store, "tool_version", "0.1.0");
	store_put_meta(store, "command", LONG_COMMAND);
	store_put_target(store, 1, &md);
	store_put_setting(store, 0, 1, "mount", "/mnt");
	store_put_setting(store, 0, 1, "mount_options",
			  "rw,relatime,attr2,inode64,logbufs=8,logbsize=32k,sunit=128,swidth=1024,noquota,last");
	store_begin_phase(store, 0, "run", 0);
	store_put_sample(store, 1, 0, &c);
	store_end_phase(store, 0, NS_PER_S);
	store_commit(store);
}

static int remove_recording(void **state)
{
	(void)state;
	recording_free(&recording);
	unlink(path);
	return rmdir(directory);
}

static char *__attribute__((noinline)) printed_as(const struct print_ops *ops, const struct reading *reading)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	ops->recording(to, &recording, reading);
	fclose(to);
	return text;
}

static char *printed(const struct print_ops *ops)
{
	return printed_as(ops, &(struct reading){ .verbose = true });
}

static void text_report(void **state)
{
	(void)state;
	golden("golden/report.txt", printed(&print_text));
}

/* As raidctl explain prints it, of these members alone. */
#define EXPLAINED(limits, sentences) "{ \"chains\": [{ \"disk\": \"sda\", \"phase\": \"read\", \"direction\": \"read\", " \
	"\"title\": \"sda, phase read (reads, dd)\", \"limits\": [" limits "], \"summary\": [" sentences "] }] }"
#define INFERRED(title) "{ \"key\": \"k\", \"title\": \"" title "\", \"verdict\": \"inferred\" }"
#define OPEN(key) "{ \"key\": \"" key "\", \"verdict\": \"not shown\" }"

static char *at_a_glance(const char *json)
{
	struct explained explained;
	char *text;

	explained_of_text(json, &explained);
	text = printed_as(&print_text, &(struct reading){ .explained = &explained });
	explained_free(&explained);
	return text;
}

static void glance(void **state)
{
	(void)state;
	golden("golden/glance.txt", at_a_glance(EXPLAINED(
		INFERRED("Readahead") ", " OPEN("device"),
		"\"Limited by readahead: 61.9 MiB/s with 10.50 reads in flight, the longest 2.62 ms by 0.10 s.\", "
		"\"To do: blockdev --setra 16384 /dev/sda. Expected: 1.5 to 3.0 times as fast.\"")));
}

/* Of a recording with several phases: a row each, whatever else is said. */
static void opening(void **state)
{
	(void)state;
	golden("golden/opening.txt", at_a_glance(
		"{ \"chains\": [{ \"disk\": \"sda\", \"phase\": \"read\", \"direction\": \"read\", \"title\": \"not the first\", "
		"\"limits\": [" INFERRED("Readahead") "], \"summary\": [\"the longest\"] }], \"opening\": ["
		"[\"write\", \"Limited by controller: 202.4 MiB/s with 91.45 writes in flight, the longest under 88.1 ms by 0.30 s.\"], "
		"[\"a phase\\u001b[2J with a long name\", \"Limited by seeks: 3.9 MiB/s.\"], [\"read\", \"Limited by readahead.\"]] }"));
}

static bool row_ends(const char *text, const char *with)
{
	const char *row = strstr(text, "\nread  read ");
	const char *end = row ? strchr(row + 1, '\n') + 1 : NULL;

	return end && !strncmp(end - strlen(with), with, strlen(with));
}

/* What explain complains of last is why; what it says, if it is much, too. */
static void complaint(void **state)
{
	static char cut[sizeof(((struct explained *)0)->complaint)];
	static const struct {
		const char *script, *why;
	} cases[] = {
		{ "echo first >&2; echo \"raidctl explain: $3: holds no sample\" >&2; exit 1", "a.rtdb: holds no sample" },
		{ "echo raidctl: something else >&2; exit 2", "raidctl: something else" },
		{ "printf 'raidctl explain: no line ends this' >&2; exit 1", "no line ends this" },
		{ "printf 'why\\n\\n\\n' >&2; exit 1", "why" }, { "echo >&2; exit 1", "raidctl explain failed" }, { "exit 3", "raidctl explain failed" },
		{ "echo why >&2; kill -9 $$", "why" }, { "echo '{}'; echo why >&2; exit 1", "why" }, { "echo '[]'", "raidctl explain said nothing that can be read" },
		{ "seq -s, 9999 >&2; echo 'raidctl explain: last' >&2; exit 1", "last" }, { "seq -s '' 2999 >&2; exit 1", cut },
		{ "echo x >&2; exit 1", "x" }, { "printf y >&2; exit 1", "y" },
		{ "echo '{}'; exec >&-; sleep 0.1", NULL }, /* ends later than what it says */
		{ "[ $# = 3 ] && echo '{}' || exit 1", NULL }, { "echo '{\"a\": \"'; seq 99999; echo '\"}'", NULL },
	};
	char program[96], all[12000];
	size_t size = 0;

	(void)state;
	for (int i = 1; i < 3000; i++)
		size += (size_t)sprintf(all + size, "%d", i);
	/* Of a line that is too long its end is read, the line end too, and of that the beginning is told. */
	snprintf(cut, sizeof(cut), "%s", all + size + 1 - 4095);
	snprintf(program, sizeof(program), "%s/complains", directory);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct explained explained;
		FILE *file = fopen(program, "we");

		assert_non_null(file);
		fprintf(file, "#!/bin/sh\n%s\n", cases[i].script);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(chmod(program, 0700), 0);
		memset(&explained, 0xff, sizeof(explained));
		explained_ask(program, "a.rtdb", NULL, &explained);
		if (!cases[i].why != !!explained.json || (cases[i].why && strcmp(explained.why_not, cases[i].why)))
			fail_msg("case %zu: %s", i, explained.why_not);
		explained_free(&explained);
		assert_null(explained.json);
	}
	unlink(program);
}

/* The last column is what was inferred, or that nothing was, or that nothing was said; no answer is no verdict. */
static void limit_column(void **state)
{
	static const struct {
		const char *json, *read, *all;
	} cases[] = {
		{ EXPLAINED(INFERRED("Slow drive"), "\"x\""), "  Slow drive\n", "write" },
		{ EXPLAINED(OPEN("device"), "\"x\""), "  not shown\n", "write" },
		{ EXPLAINED("", "\"x\""), "  not shown\n", "write" },
		{ "{ \"chains\": [], \"summary\": [\"No phase moved enough.\"] }", "  -\n", "No phase moved enough." },
		{ "{ \"chains\": 7, \"summary\": {} }", "  -\n", "PHASE" },
		{ "[1]", "2.62\n", "Why it is so: not available, raidctl explain said nothing that can be" },
		{ "", "2.62\n", "Why it is so: not available, raidctl explain said nothing that can be" },
		{ "{ \"chains\": [{ \"title\": \"a\\u001b[2Jb\", \"summary\": [\"c\\u001b[2Jd\"] }] }", "  -\n", "c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = at_a_glance(cases[i].json);

		if (!row_ends(text, cases[i].read) || !strstr(text, cases[i].all) || strchr(text, '\033'))
			fail_msg("case %zu: %s", i, text);
		free(text);
	}
}

static void not_installed(void **state)
{
	static const struct {
		const char *program, *why;
	} cases[] = {
		{ NULL, "raidctl-explain is not installed" }, { "/bin/false", "raidctl explain failed" },
		{ "/nowhere/raidctl-explain", "raidctl explain failed" }, { "/bin/true", "raidctl explain failed" },
		{ "/bin/echo", "raidctl explain said nothing that can be read" },
	};
	struct explained explained;
	char program[96];
	FILE *file;

	snprintf(program, sizeof(program), "%s/uninterpreted", directory);
	file = fopen(program, "we");
	assert_non_null(file);
	fputs("#!/nowhere/python3\n", file);
	assert_int_equal(fchmod(fileno(file), 0700), 0);
	assert_int_equal(fclose(file), 0);
	explained_ask(program, "a.rtdb", NULL, &explained);
	assert_null(explained.json);
	assert_string_equal(explained.why_not, "raidctl explain needs Python: apt-get install python3");
	explained_free(&explained);
	unlink(program);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		explained_ask(cases[i].program, "a.rtdb", i % 2 ? "read" : NULL, &explained);
		assert_null(explained.json);
		assert_string_equal(explained.why_not, cases[i].why);
		explained_free(&explained);
	}
}

static void json_report(void **state)
{
	(void)state;
	golden("golden/report.json", printed(&print_json));
}

/* As printed, each line break and the blanks behind it as one blank. */
static char *joined(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == ' ' && to > text && to[-1] == ' ')
			continue;
		*to++ = *from == '\n' ? ' ' : *from;
	}
	*to = '\0';
	return text;
}

/* Requests of a disk that has none are not 0, and what is long is told whole. */
static void without_requests(void **state)
{
	static const char *const said[] = {
		"command " LONG_COMMAND " ", "disk md0 md or dm, 1 MiB,", "tags n/a ", "noquota,last) ",
		" direct 64 0 B 0 n/a n/a n/a n/a ",
	};
	struct recording other = recording;
	struct store *store;
	char name[64], *text;

	(void)state;
	snprintf(name, sizeof(name), "%s/md.rtdb", directory);
	assert_int_equal(store_create(name, &store), 0);
	put_md(store);
	store_close(store);
	assert_int_equal(store_open(name, &store), 0);
	assert_int_equal(recording_load(store, NULL, &recording), 0);
	store_close(store);
	unlink(name);
	text = joined(printed(&print_text));
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (!strstr(text, said[i]))
			fail_msg("\"%s\" is not in %s", said[i], text);
	free(text);
	text = joined(printed(&print_json));
	assert_non_null(strstr(text, "\"direct\":{ \"queued\":64, \"bytes_queued\":0, \"seeks_queued\":0, \"issued\":null, "
				     "\"bytes_issued\":null, \"seeks\":null, \"seek_sectors\":null }"));
	free(text);
	recording_free(&recording);
	recording = other;
}

/* No line is wider than a terminal that shows 80 columns. */
static void eighty_columns(void **state)
{
	char *text = printed(&print_text), *rest = text, *line;

	(void)state;
	while ((line = strsep(&rest, "\n")))
		assert_true(strlen(line) <= 80);
	free(text);
}

static struct json_object *member(struct json_object *of, const char *name)
{
	struct json_object *found = NULL;

	if (!json_object_object_get_ex(of, name, &found))
		fail_msg("no member %s", name);
	return found;
}

/* The numbers, not their form: each was worked out by hand. */
static void json_numbers(void **state)
{
	char *text = printed(&print_json);
	struct json_object *all = json_tokener_parse(text), *span, *read;

	(void)state;
	assert_non_null(all);
	span = json_object_array_get_idx(member(all, "spans"), 1);
	assert_string_equal(json_object_get_string(member(span, "phase")), "read");
	assert_true(json_object_get_double(member(span, "seconds")) == 2);
	read = member(member(span, "directions"), "read");
	assert_int_equal(json_object_get_int64(member(read, "seeks")), 99);
	assert_true(json_object_get_double(member(read, "in_flight_mean")) == 10.5);
	assert_int_equal(json_object_get_int64(member(read, "in_flight_max")), 40);
	assert_true(json_object_get_double(member(read, "sequential_share")) == 0.9);
	assert_int_equal(json_object_get_int64(member(read, "request_sectors_mode_low")), 256);
	assert_true(json_object_get_double(member(read, "seek_sectors_mean")) == 2048);
	assert_true(json_object_get_double(member(read, "d2c_mean_ns")) == 2500000);
	json_object_put(all);
	free(text);
}

/* The setting in force in a phase is not one that came after it. */
static void setting_in_time(void **state)
{
	(void)state;
	assert_string_equal(recording_setting(&recording, 1, "readahead_sectors",
					      3 * NS_PER_S), "256");
	assert_string_equal(recording_setting(&recording, 1, "readahead_sectors",
					      5 * NS_PER_S), "16384");
	assert_null(recording_setting(&recording, 1, "readahead_sectors", 1));
	assert_null(recording_setting(&recording, 2, "readahead_sectors",
				      5 * NS_PER_S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_report),
		cmocka_unit_test(glance),
		cmocka_unit_test(opening),
		cmocka_unit_test(limit_column),
		cmocka_unit_test(not_installed),
		cmocka_unit_test(complaint),
		cmocka_unit_test(json_report),
		cmocka_unit_test(without_requests),
		cmocka_unit_test(eighty_columns),
		cmocka_unit_test(json_numbers),
		cmocka_unit_test(setting_in_time),
	};

	return cmocka_run_group_tests_name("print", tests, make_recording,
					   remove_recording);
}
