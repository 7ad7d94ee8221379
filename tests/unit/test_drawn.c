// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings that are drawn, in each output: golden/drawn.txt has a line for
 * each.  What test_full shows once, at the numbers where a text changes, with
 * anything missing, in any order.
 */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "export/openmetrics.h"
#include "drawn.h"
#include "report/print.h"
#include "report/requests.h"
#include "store/load.h"
#include "store/machine.h"
#include "store/store.h"

#define RECORDINGS	40
#define PHASES		3
#define DISKS		3
#define REQUESTS	12
#define SPAN_NS		(2 * NS_PER_S)

static char directory[] = "/tmp/raidtrace-drawn-XXXXXX";

static const char *one_of(uint64_t *state, const char *const *texts, size_t nr)
{
	return texts[drawn(state, nr)];
}

#define ONE_OF(state, ...)	one_of(state, (const char *const[]){ __VA_ARGS__ },	\
				       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static struct rt_target draw_target(uint64_t *state, uint32_t number)
{
	struct rt_target t = { .id = number, .attached_ns = NS_PER_S };

	snprintf(t.disk, sizeof(t.disk), "%s%c", ONE_OF(state, "sd", "nvme", "md", "dm-"), (char)('a' + number));
	snprintf(t.driver, sizeof(t.driver), "%s", ONE_OF(state, "", "3w-9xxx", "nvme"));
	snprintf(t.pci, sizeof(t.pci), "%s", ONE_OF(state, "", "0000:01:00.0"));
	snprintf(t.hctl, sizeof(t.hctl), "%s", ONE_OF(state, "", "0:0:0:0"));
	t.name_only = !drawn(state, 6);
	t.unit_3ware = drawn(state, 2);
	t.bio_based = !drawn(state, 3);
	t.rotational = drawn(state, 2);
	t.capacity_sectors = drawn_edge(state);
	t.max_sectors = (uint32_t)drawn_edge(state);
	t.max_hw_sectors = (uint32_t)drawn_edge(state);
	t.max_segments = (uint32_t)drawn_edge(state);
	t.nr_requests = (uint32_t)drawn_edge(state);
	t.nr_hw_queues = (uint32_t)drawn(state, 3);
	t.nr_tags = (uint32_t)drawn_edge(state);
	t.groups = drawn(state, 3) ? 0xfff : (uint32_t)drawn(state, 0x1000);
	t.streams = (uint32_t)drawn(state, 3);
	t.place_sectors = drawn(state, 3);
	return t;
}

/* One counter of many is not known. */
static uint64_t draw_bits(uint64_t *state, unsigned int nr)
{
	uint64_t bits = 0;

	for (unsigned int i = drawn(state, 2) ? nr : 0; i < nr; i++)
		bits |= (uint64_t)!drawn(state, 12) << i;
	return bits;
}

static void draw_histogram(struct rt_histogram *h, unsigned int kind, uint64_t *state)
{
	unsigned int bins = raidtrace_hist_bins(kind), nr = (unsigned int)drawn(state, 4);

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int bin = (unsigned int)drawn(state, drawn(state, 2) ? bins : 4 < bins ? 4 : bins);

		bin = drawn(state, 8) ? bin : bins - 1;
		rt_histogram_count(h, bin, drawn(state, 2) ? 1 : 1 + drawn_edge(state) % 100000);
	}
}

static struct rt_submitter draw_submitter(uint64_t *state, uint32_t index, bool last)
{
	struct rt_submitter s = { .index = index, .rest = last && drawn(state, 2) };

	s.pid = 1 + (uint32_t)drawn(state, 3);
	snprintf(s.comm, sizeof(s.comm), "%s", s.rest ? "" : ONE_OF(state, "dd", "kworker/0:1", "jbd2\033/sda"));
	snprintf(s.path, sizeof(s.path), "%s", ONE_OF(state, "", "/", "/a", "/a/0123456789012345678901234567890123456789",
		 "/a/01234567890123456789012345678901234567890", "/system.slice/0123456789012345678901234567890123456789"));
#define X(member, attribute, ...) s.member = drawn_edge(state);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return s;
}

static void put_span(struct store *store, const struct rt_target *target, uint32_t phase, uint64_t *state)
{
	struct rt_submitter submitters[FULL_SUBMITTERS];
	struct rt_counters c = { .since_ns = (1 + phase) * SPAN_NS, .now_ns = (2 + phase) * SPAN_NS };
	static const uint64_t times[] = { 1, 2, 4, 40 };
	uint64_t rarely = times[drawn(state, 4)];

	c.groups = drawn(state, 8) ? target->groups : 0;
	c.unknown = draw_bits(state, RT_COUNTER_IN_FLIGHT + 1);
	c.disk.unknown = (uint32_t)draw_bits(state, RT_DISK_STREAMS_ALIVE_QUEUED + 1);
	if (!drawn(state, 12))
		c.now_ns = c.since_ns;
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
#define X(member, attribute, ...) if (!drawn(state, rarely)) c.flow[d].member = drawn_edge(state);
		RT_FLOW_COUNTERS(X)
#undef X
		c.flow[d].issued += c.flow[d].reissued; /* which are among them */
		c.flow[d].in_flight = (uint32_t)drawn(state, 3);
		c.flow[d].in_flight_max = (uint32_t)drawn_edge(state);
		for (unsigned int k = 0; k < RT_KINDS; k++)
			if (drawn(state, 3))
				draw_histogram(&c.histogram[d][k], k, state);
	}
#define X(member, attribute, ...) if (!drawn(state, rarely)) c.disk.member = drawn_edge(state);
	RT_DISK_COUNTERS(X)
#undef X
	c.disk.streams_alive = (uint32_t)drawn(state, 3);
	c.disk.streams_alive_queued = (uint32_t)drawn(state, 3);
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute, ...) if (!drawn(state, rarely)) c.origin[i].member = drawn_edge(state);
		RT_ORIGIN_COUNTERS(X)
#undef X
	}
	c.nr_submitters = drawn(state, FULL_SUBMITTERS + 1);
	for (uint32_t i = 0; i < c.nr_submitters; i++)
		submitters[i] = draw_submitter(state, i, i + 1 == c.nr_submitters);
	c.submitters = submitters;
	assert_int_equal(store_put_sample(store, target->id, phase, &c), 0);
	c.submitters = NULL;
	c.nr_submitters = 0;
	rt_counters_free(&c);
}

static void put_besides(struct store *store, uint32_t disks, uint64_t *state)
{
	for (uint32_t i = 1; i <= drawn(state, 4) * 4; i++) {
		struct disturbance what = { .number = i, .value = 7 * i, .start_ns = drawn_edge(state) * 4 };

		what.end_ns = what.start_ns + drawn_edge(state);
		snprintf(what.kind, sizeof(what.kind), "%s", ONE_OF(state, "processor", "swap"));
		snprintf(what.text, sizeof(what.text), "disturbed in way %u", i);
		assert_int_equal(store_put_disturbance(store, &what), 0);
	}
	for (uint32_t i = 0; i < drawn(state, 4); i++) {
		struct stacked stacked = { .target = 1 + (uint32_t)drawn(state, disks + 1) };

		stacked.parent = 1 + (uint32_t)drawn(state, disks);
		assert_int_equal(store_put_stacked(store, &stacked), 0);
	}
	for (uint32_t i = 0; i < drawn(state, 3); i++)
		assert_int_equal(store_put_note(store, &(struct note_row){ .time_ns = i, .text = "a note" }), 0);
}

static void put_host(struct store *store, uint32_t phase, uint64_t *state)
{
	static const char *const names[][3] = {
		{ "cpu", "user", "ns" }, { "cpu", "iowait", "ns" }, { "cpu", "idle", "ns" }, { "cpu", "guest", "ns" },
		{ "command", "cpu", "ns" }, { "command", "rchar", "bytes" }, { "command", "wchar", "bytes" },
		{ "command", "read_bytes", "bytes" }, { "disk", "user", "ns" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct host_row row = { .start_ns = (1 + phase) * SPAN_NS, .end_ns = (2 + phase) * SPAN_NS };

		row.value = (int64_t)drawn_edge(state);
		snprintf(row.source, sizeof(row.source), "%s", names[i][0]);
		snprintf(row.name, sizeof(row.name), "%s", names[i][1]);
		snprintf(row.unit, sizeof(row.unit), "%s", names[i][2]);
		if (drawn(state, 2))
			assert_int_equal(store_put_host(store, &row), 0);
	}
}

static void put_texts(struct store *store, uint32_t disks, uint64_t *state)
{
	static const char *const meta[][4] = {
		{ "abi", "1", "4", "" }, { "end", "complete", "running", "stopped" }, { "exit_status", "", "0", "3" },
		{ "hostname", "raid", "", "o" }, { "invariants", "hold", "do not", "" }, { "kernel", "6.1.0", "6", "" },
		{ "tool_version", "0.1.0", "0.1.1", "0.1.2" }, { "started_utc", "2026-01-02T03:04:05Z", "", "2" },
		{ "start_ns", "1000000000", "0", "3" }, { "command", "", "[\"dd\"]", "[\"cp\"]" },
		{ "watched", "swap", "", "processor" }, { "disturbance", "quiet", "disturbed", "" },
		{ "host_available", "cpu command-io", "cpu", "" }, { "lab_profile", "", "9500s", "jbod" },
		{ "simulated", "", "yes", "no" }, { "lab_time", "", "real", "simulated" }, { "lab_kernel", "", "6.12", "" },
		{ "trace_missing", "", "0", "6" }, { "trace_late", "", "0", "7" }, { "trace_cut", "", "", "at 19" },
		{ "source", "", "", "blktrace" }, { "trace_events", "", "4", "5" }, { "requests_lost", "", "0", "2" },
		{ "unavailable", "", "block_rq_merge", "" }, { "machine", "", "a", "b" },
	};
	static const char *const settings[] = {
		"readahead_sectors", "scheduler", "queue_depth", "nr_requests", "mount", "fstype", "mount_options",
		"reset", "state", "driver_stats",
	};

	for (size_t i = 0; i < sizeof(meta) / sizeof(meta[0]); i++)
		if (drawn(state, 4))
			store_put_meta(store, meta[i][0], meta[i][1 + drawn(state, 3)]);
	for (uint64_t i = 0; i < drawn(state, 24); i++) {
		const char *name = settings[drawn(state, 3) ? drawn(state, 10) : 0];
		const char *value = ONE_OF(state, "256", "16384", "0", "", "none", "m");
		uint32_t disk = 1 + (uint32_t)drawn(state, disks);

		store_put_setting(store, SPAN_NS * drawn(state, 8) / 2, disk, name, value);
	}
}

static void fill(struct store *store, uint64_t *state)
{
	uint32_t disks = (uint32_t)drawn(state, DISKS + 1);
	uint32_t phases = (uint32_t)drawn(state, PHASES + 1);
	struct rt_target targets[DISKS];

	store_begin(store);
	for (uint32_t i = 0; i < disks; i++) {
		targets[i] = draw_target(state, i + 1);
		store_put_target(store, i + 1, &targets[i]);
	}
	put_texts(store, disks ? disks : 1, state);
	for (uint32_t phase = 0; phase < phases; phase++) {
		store_begin_phase(store, phase, ONE_OF(state, PHASE_OUTSIDE, "write", "read", "a longer name of a phase"),
				  (1 + phase) * SPAN_NS);
		for (uint32_t i = 0; i < disks; i++)
			if (drawn(state, 4))
				put_span(store, &targets[i], phase, state);
		put_host(store, phase, state);
		store_end_phase(store, phase, (2 + phase) * SPAN_NS);
	}
	put_besides(store, disks ? disks : 1, state);
	assert_int_equal(store_commit(store), 0);
}

static void make(struct recording *recording, uint64_t *state)
{
	struct store *store;
	char path[64];

	snprintf(path, sizeof(path), "%s/a.rtdb", directory);
	assert_int_equal(store_create(path, &store), 0);
	fill(store, state);
	store_close(store);
	assert_int_equal(store_open(path, &store), 0);
	memset(recording, 0xff, sizeof(*recording));
	assert_int_equal(recording_load(store, drawn(state, 8) ? NULL : "read", recording), 0);
	store_close(store);
	recording->path = "a.rtdb";
	for (size_t i = 0; i < recording->nr_spans; i++) /* as what a module counts now */
		recording->spans[i].counters.gone = i % 2;
	unlink(path);
}

/* What explain could have said of its phases. */
static void draw_explained(struct explained *ret, const struct recording *r, uint64_t *state)
{
	char text[4096];
	int at = snprintf(text, sizeof(text), "{ %s\"chains\": [",
			  ONE_OF(state, "", "\"tested\": \"a test\", ", "\"summary\": [\"of all\", \"more\"], "));

	for (size_t i = 0; i < r->nr_spans; i++) {
		const char *direction = ONE_OF(state, "read", "write"), *said = ONE_OF(state, "", "\"one\"", "\"one\", \"two\"");
		const char *limits = ONE_OF(state, "", "{ \"title\": \"one\", \"verdict\": \"inferred\" }",
					    "{ \"title\": \"one\", \"verdict\": \"not shown\" }, { \"title\": \"queue depth\", \"verdict\": \"inferred\" }");

		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s{ \"disk\": \"%s\", \"phase\": \"%s\", \"direction\": "
			       "\"%s\", \"title\": \"title %zu\", \"limits\": [%s], \"summary\": [%s] }", i ? ", " : "",
			       r->spans[i].disk, r->spans[i].phase, direction, i, limits, said);
	}
	snprintf(text + at, sizeof(text) - (size_t)at, "] }");
	memset(ret, 0xff, sizeof(*ret)); /* nothing depends on what was there */
	explained_of_text(drawn(state, 8) ? text : "{", ret);
}

struct text {
	FILE *to;
	char *bytes;
	size_t size;
};

static FILE *open_text(struct text *text)
{
	text->to = open_memstream(&text->bytes, &text->size);
	assert_non_null(text->to);
	return text->to;
}

static void close_text(FILE *all, const char *name, unsigned int number, struct text *text)
{
	char full[64];

	fclose(text->to);
	empty_lists(text->bytes);
	snprintf(full, sizeof(full), "%s-%u", name, number);
	digest(all, full, text->bytes);
}

static void say(FILE *all, unsigned int number, const struct recording *r, uint64_t *state)
{
	struct explained explained;
	struct text text;

	draw_explained(&explained, r, state);
	print_text.recording(open_text(&text), r, &(struct reading){ .verbose = true });
	close_text(all, "verbose", number, &text);
	print_text.recording(open_text(&text), r, &(struct reading){ .explained = drawn(state, 4) ? &explained : NULL });
	close_text(all, "glance", number, &text);
	explained_free(&explained);
	print_json.recording(open_text(&text), r, &(struct reading){ 0 });
	close_text(all, "json", number, &text);
	openmetrics_write(open_text(&text), r, drawn(state, 2));
	close_text(all, "openmetrics", number, &text);
	print_text.counters(open_text(&text), r->targets, r->spans, r->nr_spans < r->nr_targets ? r->nr_spans : r->nr_targets);
	print_json.counters(text.to, r->targets, r->spans, r->nr_spans < r->nr_targets ? r->nr_spans : r->nr_targets);
	close_text(all, "counters", number, &text);
}

static void recordings(void **unused)
{
	struct recording r;
	uint64_t state = 20261123;
	struct text all;

	(void)unused;
	open_text(&all);
	for (unsigned int i = 0; i < RECORDINGS; i++) {
		make(&r, &state);
		say(all.to, i, &r, &state);
		recording_free(&r);
	}
	fclose(all.to);
	golden("golden/drawn.txt", all.bytes);
}

static struct rt_ended draw_request(uint64_t *state, uint64_t number)
{
	struct rt_ended e = { .number = number, .issued_ns = 2000 + drawn_edge(state) };

	e.sector = drawn_edge(state);
	e.bytes = (uint32_t)drawn_edge(state);
	e.direction = (uint32_t)drawn(state, RT_DIRECTIONS - 1);
	e.class_ = (uint32_t)drawn(state, RT_CLASSES);
	e.depth = (uint32_t)drawn_edge(state);
	e.known = drawn(state, 3);
	e.pid = (uint32_t)drawn(state, 3);
	e.error = !drawn(state, 3);
	e.again = !drawn(state, 3);
	e.queued_ns = drawn(state, 4) ? e.issued_ns + 1 - drawn(state, 3) * 1000 : drawn(state, 2);
	e.inserted_ns = drawn(state, 2) * e.queued_ns;
	e.completed_ns = e.issued_ns + drawn_edge(state);
	snprintf(e.comm, sizeof(e.comm), "%s", ONE_OF(state, "", "dd", "a,\"b\""));
	return e;
}

static void requests(void **unused)
{
	uint64_t state = 5;
	struct text text, all;

	(void)unused;
	open_text(&all);
	for (unsigned int i = 0; i < 12; i++) {
		struct rt_ended ended[REQUESTS];
		struct requests of = { .ended = ended, .nr = i, .frozen = i % 2 };
		size_t first = i > 4 ? drawn(&state, 4) : 0;
		uint64_t number = 4;

		for (size_t k = 0; k < REQUESTS; k++) {
			ended[k] = draw_request(&state, number);
			number += 1 + drawn(&state, 3);
		}
		requests_text(open_text(&text), &of, first, "sda");
		requests_csv_names(text.to);
		requests_csv(text.to, &of, first);
		requests_json(text.to, &of, first, "sda");
		close_text(all.to, "requests", i, &text);
	}
	fclose(all.to);
	golden("golden/drawn-requests.txt", all.bytes);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings), cmocka_unit_test(requests),
	};

	return cmocka_run_group_tests_name("drawn", tests, make_directory, remove_directory);
}
