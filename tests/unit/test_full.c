// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings with all that one can hold, in each output: golden/full.*.
 *
 * Four disks: sda and sdb count everything, sdc is told little of, and md0 is
 * made of the first two.  Numbers are drawn (full.h) and mean nothing; that
 * each stands where it belongs is what is looked at.
 */

#include "unit.h"

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "export/openmetrics.h"
#include "export/tables.h"
#include "full.h"
#include "report/print.h"
#include "store/load.h"
#include "store/machine.h"
#include "store/store.h"

#define NR_DISKS	4
#define EVERY_GROUP	0xfff

static char directory[] = "/tmp/raidtrace-full-XXXXXX";
static char path[2][64];
static struct recording recordings[2];

static const struct rt_target targets[NR_DISKS] = {
	{ .id = 1, .disk = "sda", .driver = "3w-9xxx", .pci = "0000:01:00.0", .hctl = "0:0:0:0", .unit_3ware = true,
	  .rotational = true, .capacity_sectors = 1742713344, .max_sectors = 256, .max_hw_sectors = 257,
	  .max_segments = 72, .nr_requests = 258, .nr_hw_queues = 2, .nr_tags = 254, .attached_ns = NS_PER_S,
	  .groups = EVERY_GROUP, .streams = 16, .place_sectors = 6807474 },
	{ .id = 2, .disk = "sdb", .driver = "mpt3sas", .capacity_sectors = 99, .max_sectors = 2048, .groups = EVERY_GROUP },
	{ .id = 3, .disk = "sdc", .capacity_sectors = 8, .max_sectors = 8,
	  .groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE | RAIDTRACE_GROUP_STREAM | RAIDTRACE_GROUP_DEPTH },
	{ .id = 4, .disk = "md0", .bio_based = true, .capacity_sectors = 4096, .max_sectors = 128,
	  .groups = RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE | RAIDTRACE_GROUP_STREAM | RAIDTRACE_GROUP_SUBMITTER },
};

/* What of each disk is not known. */
static const uint64_t unknown[NR_DISKS] = {
	0, RT_COUNTER_BIT(STREAM_QUEUED) | RT_COUNTER_BIT(SPLITS) | RT_COUNTER_BIT(BYTES_ISSUED),
	RT_COUNTER_BIT(BYTES_COMPLETED) | RT_COUNTER_BIT(IN_FLIGHT) | RT_COUNTER_BIT(AHEAD_QUEUED) | RT_COUNTER_BIT(QUEUED),
	~(RT_COUNTER_BIT(QUEUED) | RT_COUNTER_BIT(BYTES_QUEUED) | RT_COUNTER_BIT(SPLITS)),
};

static void put_span(struct store *store, unsigned int disk, uint32_t phase, uint64_t *state)
{
	struct rt_submitter submitters[FULL_SUBMITTERS];
	struct rt_counters c = {
		.since_ns = (1 + phase) * NS_PER_S, .now_ns = (2 + phase) * NS_PER_S + phase * 1000,
		.groups = targets[disk].groups, .unknown = unknown[disk],
		.disk.unknown = disk == 1 ? RT_DISK_BIT(PLUGS) | RT_DISK_BIT(RA_SYNC_SECTORS) : 0,
	};

	full_counters(&c, submitters, state);
	if (disk == 3) { /* a kernel told who alone: one row of all */
		submitters[0] = submitters[FULL_SUBMITTERS - 1];
		c.nr_submitters = 1;
	}
	if (disk == 1)
		c.nr_submitters = 8;
	if (disk)
		c.disk.streams_forgotten = c.disk.streams_forgotten_queued = 0;
	assert_int_equal(store_put_sample(store, disk + 1, phase, &c), 0);
	c.submitters = NULL;
	c.nr_submitters = 0;
	rt_counters_free(&c);
}

static void put_machine(struct store *store, uint32_t phase, bool other, uint64_t *state)
{
	static const char *const names[][3] = {
		{ "cpu", "user", "ns" }, { "cpu", "system", "ns" }, { "cpu", "iowait", "ns" }, { "cpu", "idle", "ns" },
		{ "cpu", "guest", "ns" }, { "cpu", "steal", "ns" }, { "command", "cpu", "ns" }, { "command", "rchar", "bytes" },
		{ "command", "read_bytes", "bytes" }, { "command", "wchar", "bytes" }, { "vmstat", "pgpgin", "KiB" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct host_row row = { .start_ns = (1 + phase) * NS_PER_S, .end_ns = (2 + phase) * NS_PER_S,
					.value = (int64_t)(full_next(state) % 1000000000) };

		/* Once more was read from disks than the command asked for. */
		if (i == 8)
			row.value = other ? 0 : row.value * (int64_t)phase;
		snprintf(row.source, sizeof(row.source), "%s", names[i][0]);
		snprintf(row.name, sizeof(row.name), "%s", names[i][1]);
		snprintf(row.unit, sizeof(row.unit), "%s", names[i][2]);
		assert_int_equal(store_put_host(store, &row), 0);
	}
}

static void put_besides(struct store *store)
{
	for (uint32_t i = 1; i <= 10; i++) {
		struct disturbance what = { .number = i, .start_ns = i * NS_PER_S / 2, .end_ns = (i + 1) * NS_PER_S,
					    .value = 7 * i };

		snprintf(what.kind, sizeof(what.kind), i % 2 ? "processor" : "swap");
		snprintf(what.subject, sizeof(what.subject), "subject %u", i);
		snprintf(what.unit, sizeof(what.unit), "bytes");
		snprintf(what.text, sizeof(what.text), "disturbed in way %u", i);
		assert_int_equal(store_put_disturbance(store, &what), 0);
	}
	assert_int_equal(store_put_stacked(store, &(struct stacked){ .target = 1, .parent = 4 }), 0);
	assert_int_equal(store_put_stacked(store, &(struct stacked){ .target = 2, .parent = 4 }), 0);
	assert_int_equal(store_put_note(store, &(struct note_row){ .time_ns = NS_PER_S, .text = "the fan was off" }), 0);
	assert_int_equal(store_put_note(store, &(struct note_row){ .time_ns = 2 * NS_PER_S, .text = "a second note" }), 0);
}

/*
 * The other recording is of another machine, was cut short, knows two disks by
 * name alone, and has texts of one character: the shortest that is one.
 */
static void fill(struct store *store, bool other)
{
	static const char *const meta[][3] = {
		{ "abi", "4", "4" }, { "end", "complete", "k" }, { "exit_status", "0", "3" },
		{ "hostname", "raid", "o" }, { "invariants", "hold", "n" }, { "kernel", "6.1.0", "6" },
		{ "tool_version", "0.1.0", "1" }, { "module_version", "0.1.0", "0.1.1" },
		{ "started_utc", "2026-01-02T03:04:05Z", "2" }, { "start_ns", "1000000000", "2000000000" },
		{ "command", "[\"dd\",\"if=/dev/sda\"]", "d" }, { "watched", "processor swap", "swap" },
		{ "disturbance", "disturbed", "quiet" }, { "host_available", "cpu command-io", "cpu command-io" },
		{ "lab_profile", "", "9" }, { "simulated", "", "yes" }, { "lab_time", "", "real" }, { "lab_kernel", "", "u" },
		{ "trace_missing", "17", "6" }, { "trace_late", "0", "7" }, { "trace_cut", "at 19", "c" },
	};
	static const char *const settings[][2] = {
		{ "readahead_sectors", "256" }, { "scheduler", "none" }, { "queue_depth", "254" }, { "nr_requests", "128" },
		{ "mount", "/mnt" }, { "fstype", "xfs" }, { "mount_options", "rw,relatime" },
	};
	uint64_t state = other ? 7 : 3;
	unsigned int disks = other ? NR_DISKS - 1 : NR_DISKS;

	store_begin(store);
	for (size_t i = 0; i < sizeof(meta) / sizeof(meta[0]); i++)
		store_put_meta(store, meta[i][0], meta[i][1 + other]);
	for (unsigned int i = 0; i < disks; i++) {
		struct rt_target target = targets[i];

		if (other) {
			target.max_sectors++;
			target.nr_requests++;
			memcpy(target.driver, "d", 2);
			memcpy(target.pci, "p", 2);
			memcpy(target.hctl, "h", 2);
			target.name_only = i > 0;
			target.capacity_sectors = i > 1 ? 0 : target.capacity_sectors;
		}
		store_put_target(store, i + 1, &target);
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		for (uint32_t disk = 1; disk <= disks; disk += 1 + i / 2)
			store_put_setting(store, NS_PER_S, disk, settings[i][0], other && i ? "m" : settings[i][1]);
	for (uint32_t phase = 0; phase < 3; phase++) {
		static const char *const names[2][3] = { { PHASE_OUTSIDE, "write", "read" }, { PHASE_OUTSIDE, "write", "again" } };

		store_begin_phase(store, phase, names[other][phase], (1 + phase) * NS_PER_S);
		/* All of them in one phase, one in what lies around it, two behind it. */
		for (unsigned int disk = 0; disk < disks; disk++)
			if (phase == 1 || (phase ? disk > 1 : !disk))
				put_span(store, disk, phase, &state);
		put_machine(store, phase, other, &state);
		store_end_phase(store, phase, (2 + phase) * NS_PER_S + phase * 1000);
	}
	store_put_setting(store, 2 * NS_PER_S + 5, 1, "readahead_sectors", "512");
	if (!other)
		put_besides(store);
	store_put_output(store, 3 * NS_PER_S, "stdout", "some text\n", 10);
	assert_int_equal(store_commit(store), 0);
}

static int make_recordings(void **state)
{
	struct store *store;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%c.rtdb", directory, 'a' + i);
		if (store_create(path[i], &store))
			return -1;
		fill(store, i);
		store_close(store);
		if (store_open(path[i], &store) || recording_load(store, NULL, &recordings[i]))
			return -1;
		store_close(store);
		recordings[i].path = i ? "b.rtdb" : "a.rtdb";
	}
	return 0;
}

static int remove_recordings(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		recording_free(&recordings[i]);
		unlink(path[i]);
	}
	return rmdir(directory);
}

/* An object of JSON on each line: what is within the lines, report.json shows. */
static char *in_lines(char *json)
{
	struct json_object *parsed = json_tokener_parse(json);
	const char *from;
	char *to;

	assert_non_null(parsed);
	from = json_object_to_json_string_ext(parsed, JSON_C_TO_STRING_PLAIN);
	to = json = realloc(json, 2 * strlen(from) + 1);
	for (; *from; from++) {
		*to++ = *from;
		if (*from == '}' || (*from == ',' && to[-2] == '}'))
			*to++ = '\n';
	}
	*to = '\0';
	json_object_put(parsed);
	return json;
}

static char *printed(const struct print_ops *print, int which, const struct reading *reading)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	print->recording(to, &recordings[which], reading);
	fclose(to);
	return text;
}

static void in_text(void **state)
{
	(void)state;
	golden("golden/full.txt", printed(&print_text, 0, &(struct reading){ .verbose = true }));
	golden("golden/full-other.txt", printed(&print_text, 1, &(struct reading){ .verbose = true }));
}

/* What a terminal of so many columns is shown, appended to what others were. */
static void show(FILE *all, unsigned short columns, const struct explained *explained)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	char text[8192];
	int terminal, status;
	pid_t pid = forkpty(&terminal, NULL, NULL, &size);
	ssize_t len;

	assert_true(pid >= 0);
	if (!pid) {
		unsetenv("NO_COLOR");
		print_text.recording(stdout, &recordings[0], &(struct reading){ .explained = explained });
		fflush(stdout);
		_exit(0);
	}
	fprintf(all, "%u columns\n", columns);
	while ((len = read(terminal, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)len, all);
	close(terminal);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define CHAIN(phase, disk, limits) "{ \"disk\": \"" disk "\", \"phase\": \"" phase "\", \"direction\": \"read\", " \
	"\"title\": \"" disk ", phase " phase "\", \"limits\": [" limits "], \"summary\": [\"one of " disk "\"] }"

static void on_terminals(void **state)
{
	static const unsigned short columns[] = { 1, 24, 71, 72, 80, 130 };
	struct explained explained, why_not = { .why_not = "it was not asked" };
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	char *text;
	size_t size;
	FILE *all;

	(void)state;
	if (fd < 0) /* a chroot without /dev/pts */
		skip();
	close(fd);
	all = open_memstream(&text, &size);
	explained_of_text("{ \"tested\": \"t\", \"chains\": ["
			  CHAIN("write", "sda", "{ \"title\": \"queue depth\", \"verdict\": \"inferred\" }") ","
			  CHAIN("write", "sdb", "{ \"title\": \"device\", \"verdict\": \"not shown\" }") "] }", &explained);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		show(all, columns[i], i % 2 ? &explained : NULL);
	show(all, 80, &why_not);
	fclose(all);
	explained_free(&explained);
	golden("golden/full-terminals.txt.gz", text);
}

static void in_json(void **state)
{
	(void)state;
	golden("golden/full.json.gz", in_lines(printed(&print_json, 0, &(struct reading){ 0 })));
	golden("golden/full-other.json.gz", in_lines(printed(&print_json, 1, &(struct reading){ 0 })));
}

static void in_openmetrics(void **state)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(openmetrics_write(to, &recordings[0], true), 0);
	fclose(to);
	golden("golden/full.prom.gz", text);
}

/* One phase of several is loaded when it is named, and none that there is not. */
static void one_phase(void **state)
{
	struct recording one;
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path[0], &store), 0);
	assert_int_equal(recording_load(store, "write", &one), 0);
	assert_int_equal(one.nr_spans, NR_DISKS);
	for (size_t i = 0; i < one.nr_spans; i++)
		assert_string_equal(one.spans[i].phase, "write");
	recording_free(&one);
	assert_int_equal(recording_load(store, "nowhere", &one), 0);
	assert_int_equal(one.nr_spans, 0);
	recording_free(&one);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_text), cmocka_unit_test(one_phase), cmocka_unit_test(on_terminals), cmocka_unit_test(in_json), cmocka_unit_test(in_openmetrics),
	};

	return cmocka_run_group_tests_name("full", tests, make_recordings, remove_recordings);
}
