// SPDX-License-Identifier: GPL-2.0-or-later

/* Rows and keys of raidctl top: golden/top*.txt has the expected output. */

#include "unit.h"

#include <errno.h>
#include <math.h>

#include "internal.h"
#include "base/base.h"
#include "bin_of.h"
#include "full.h"
#include "top/top.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define WRITE	RAIDTRACE_DIRECTION_WRITE
#define SECOND	NS_PER_S

static void count(struct rt_counters *c, unsigned int direction, unsigned int kind, int64_t value, uint64_t n)
{
	assert_int_equal(rt_histogram_count(&c->histogram[direction][kind], bin_of(kind, value), n), 0);
}

static struct rt_target target(uint32_t id, const char *disk)
{
	struct rt_target ret = { .id = id, .readahead_sectors = 256 };

	snprintf(ret.disk, sizeof(ret.disk), "%s", disk);
	return ret;
}

/* Nothing has happened until @now_ns. */
static struct rt_counters nothing(uint64_t now_ns)
{
	return (struct rt_counters){ .id = 1, .since_ns = 1, .now_ns = now_ns, .readahead_sectors = 256 };
}

/*
 * Two seconds: 100 reads of 128 KiB, 95 sequential, 2 in flight half the time and 4 the other; 10 writes of 4 KiB, none
 * sequential, 1 in flight for a quarter. So they are 6.12 and 0.02 MiB/s, 3 and 0.25 in flight, 86.4 % sequential, 7.5
 * seeks, 3 merges and 2 splits a second. Of the time half is served, a quarter backlog, a tenth held, and 15 % empty. 10 of 108 took 50 ms: the bound of p99 is that of their bin. The bios: 6 MiB/s.
 */
static struct rt_counters two_seconds(uint64_t now_ns)
{
	struct rt_counters c = nothing(now_ns);

	c.flow[READ].issued = 100;
	c.flow[READ].completed = 98;
	c.flow[READ].bytes_issued = 100 * 128 * 1024;
	c.flow[READ].bytes_completed = 98 * 128 * 1024;
	c.flow[READ].bytes_queued = 96 * 128 * 1024;
	c.flow[READ].sequential = 95;
	c.flow[READ].back_merges = 3;
	c.flow[READ].front_merges = 2;
	c.flow[READ].request_merges = 1;
	c.flow[READ].splits = 4;
	c.flow[READ].d2c_sum_ns = 98 * 1000000;
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_SIZE, 256, 100);
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_SEEK, 0, 95);
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_SEEK, 1000, 5);
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_D2C, 1000000, 98);
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 2, SECOND);
	count(&c, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 4, SECOND);
	c.flow[WRITE].issued = 10;
	c.flow[WRITE].completed = 10;
	c.flow[WRITE].bytes_issued = 10 * 4096;
	c.flow[WRITE].bytes_completed = 10 * 4096;
	c.flow[WRITE].errors = 1;
	count(&c, WRITE, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 10);
	count(&c, WRITE, RAIDTRACE_HISTOGRAM_KIND_SEEK, -5000, 10);
	count(&c, WRITE, RAIDTRACE_HISTOGRAM_KIND_D2C, 50000000, 10);
	count(&c, WRITE, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, SECOND * 3 / 2);
	count(&c, WRITE, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 1, SECOND / 2);
	count(&c, RAIDTRACE_DIRECTION_ALL, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 0, SECOND / 2);
	count(&c, RAIDTRACE_DIRECTION_ALL, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 4, SECOND * 3 / 2);
	c.disk.held_ns = SECOND / 5;
	c.disk.backlog_ns = SECOND / 2;
	return c;
}

/* A later snapshot, freed here; 0 or what is wrong with it. */
static int count_snapshot(struct top_row *row, struct rt_counters now)
{
	struct rt_advance advance = { .last = &row->last, .now = now };
	struct rt_counters span = { 0 };
	int err = rt_advance_apply(&advance, &row->last, &span);

	if (!err)
		err = top_row_count(row, &span);
	rt_counters_free(&advance.now);
	rt_counters_free(&span);
	return err;
}

/* A row, with all its details or without. */
static void print_row(FILE *to, const struct top_row *row, bool details)
{
	const char *why = top_state_text(row);
	char text[256], bar[12], states[12];

	fprintf(to, "%s %u: %s, %.2f s, %" PRIu64 " errors:", row->target.disk, row->target.id, why ? why : "counted",
		row->seconds, row->errors);
	for (int c = TOP_DISK + 1; c < TOP_COLUMNS; c++) {
		top_cell_text(text, row, (enum top_column)c);
		fprintf(to, " %s", text);
	}
	top_bar_text(bar, 10, top_value(row, TOP_READ_DEPTH), row->read.stats.depth_max, 128);
	top_states_bar(states, 10, &row->states);
	if (why)
		text[0] = '\0';
	else
		top_classes_text(text, sizeof(text), row);
	fprintf(to, " [%s] [%s]%s", bar, why ? "" : states, text);
	fprintf(to, details ? "\n" : " %.9g ns\n", top_value(row, TOP_LATENCY));
	top_states_text(text, sizeof(text), &row->states);
	if (details && !why)
		fprintf(to, "time: %s\n", text);
	for (int line = 0; line < TOP_DETAILS && details && !why; line++)
		for (int reads = 1; reads >= 0; reads--) {
			top_detail_text(text, sizeof(text), row, reads, line);
			fprintf(to, "%s%s%s", reads ? top_detail_label(line) : "", reads ? ": " : " | ", text);
			fputs(reads ? "" : "\n", to);
		}
}

static void print_rows(FILE *to, const struct top *top)
{
	fprintf(to, " picked %u, full %" PRIu64 "\n", top->picked, top_full_depth(top));
	for (size_t i = 0; i < top->nr; i++)
		print_row(to, &top->rows[i], false);
}

/* Count a later snapshot of the first row. Print its defects and the rows. */
static void step(FILE *to, struct top *top, const char *name, struct rt_counters now)
{
	int err = count_snapshot(&top->rows[0], now);

	fprintf(to, "-- %s%s:", name, err == -ERANGE ? ", no span" : err ? ", error" : "");
	print_rows(to, top);
}

static void attach(FILE *to, struct top *top, const char *name, const struct rt_target *targets, size_t nr)
{
	assert_int_equal(top_targets(top, targets, nr), 0);
	fprintf(to, "-- %s:", name);
	print_rows(to, top);
}

/* The rows after each event, by numbers that can be worked out by hand. */
TEST(life_of_a_row)
{
	const struct rt_target sda = target(1, "sda"), other[] = { target(7, "sdb"), target(8, "sda") };
	struct rt_target dm = target(1, "dm-0");
	struct rt_counters now = two_seconds(13 * SECOND);
	struct top top = { 0 };
	struct top_row *row;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	attach(to, &top, "attached", &sda, 1);
	step(to, &top, "first snapshot", nothing(10 * SECOND));
	step(to, &top, "two seconds", two_seconds(12 * SECOND));
	count(&now, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 20, SECOND);
	step(to, &top, "a second without requests, with 20 in flight", now);
	now = nothing(14 * SECOND);
	now.resets = 1;
	step(to, &top, "reset", now);
	now = two_seconds(16 * SECOND);
	now.resets = 1;
	step(to, &top, "two seconds after the reset", now);
	row = &top.rows[0];
	row->read.stats.depth_mean = 0.001;
	row->write.stats.size_mode.high = 16;
	print_row(to, row, true);
	now = nothing(17 * SECOND);
	now.resets = 1;
	step(to, &top, "counters that fall are those of another target", now);
	top_row_restart(row);
	step(to, &top, "so it begins again", now);
	now.now_ns += SECOND;
	now.resets = 2;
	step(to, &top, "reset, and as much as before has happened since", now);
	now = two_seconds(20 * SECOND);
	now.resets = 2;
	now.gone = true;
	now.readahead_sectors = 0;
	step(to, &top, "gone", now);
	attach(to, &top, "detached, it stays", other, 1);
	attach(to, &top, "until its disk is attached again", other, 2);
	top_free(&top);
	assert_null(top_picked(&top));
	dm.bio_based = true;
	for (int i = 0; i < 2; i++) {
		top.unavailable = i ? 0 : RT_COUNTER_BIT(FRONT_MERGES);
		attach(to, &top, i ? "a disk of bios" : "a kernel that does not count front merges", i ? &dm : &sda, 1);
		assert_int_equal(count_snapshot(&top.rows[0], nothing(10 * SECOND)), 0);
		step(to, &top, "two seconds", two_seconds(12 * SECOND));
		top_free(&top);
	}
	fclose(to);
	golden("golden/top-row.txt", text);
}

/*
 * Press keys, and print the mode afterwards, the order, the interval, the new readahead in KiB, and prompt or message. The
 * dialogue begins where the caller has to check the permission.
 */
static void press_keys(FILE *to, struct top_keys *keys, struct top *top, const char *text)
{
	static const char *const modes[] = { "watch", "help", "value", "confirm" };
	static const char *const actions[] = { "", ", quit", ", may write", ", write" };
	enum top_action action = TOP_NOTHING;
	char prompt[160] = "";

	fprintf(to, "%s ->", text);
	for (; *text; text++)
		action = top_key(keys, top, *text == '$' ? TOP_KEY_ENTER : *text == '<' ? TOP_KEY_BACKSPACE :
				 *text == '!' ? TOP_KEY_ESCAPE : *text);
	if (keys->mode == TOP_VALUE || keys->mode == TOP_CONFIRM)
		top_keys_prompt(keys, prompt, sizeof(prompt));
	fprintf(to, " %s%s, by %s, %" PRIu64 " ms%s, %" PRIu64 " KiB%s%s%s\n", modes[keys->mode], actions[action],
		top_column_name(top->sort), keys->interval_ns / 1000000, keys->frozen ? ", frozen" : "", (uint64_t)keys->kib,
		*prompt || *keys->message ? ": " : "", prompt, keys->message);
	if (action == TOP_MAY_WRITE) {
		strcpy(keys->message, "of another disk");
		top_keys_edit(keys, &top->rows[0]);
	}
}

/* $ is Enter, < is Backspace, ! is Escape. */
TEST(keys)
{
	static const char *const lines[] = {
		"s", "ssssssssssss", "f", " ", "+", "--", "=", "-----------------", "+++++++++++++++++", "?", "q",
		/* Only digits of the new readahead, nine at most; only y and n answer the question. */
		"r", "8a-19<2", "$", "x $", "n", "r", "1234567890123$", "y", "r", "$", "r", "5!",
	};
	struct top_keys keys = { .interval_ns = 700000000 };
	const struct rt_target sda = target(1, "sda");
	struct top top = { 0 };
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	fputs("-- without a row\n", to);
	press_keys(to, &keys, &top, "rjks+");
	keys.interval_ns = SECOND;
	assert_int_equal(top_targets(&top, &sda, 1), 0);
	assert_int_equal(count_snapshot(&top.rows[0], nothing(10 * SECOND)), 0);
	fputs("-- with one\n", to);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		press_keys(to, &keys, &top, lines[i]);
	top.rows[0].state = TOP_GONE;
	press_keys(to, &keys, &top, "r");
	press_keys(to, &keys, &top, "q");
	top_free(&top);
	fclose(to);
	golden("golden/top-keys.txt", text);
}

/* Sort; compare the numbers of the targets. */
static void expect_order(struct top *top, const char *ids)
{
	top_sort(top);
	for (size_t i = 0; i < top->nr; i++)
		assert_int_equal(top->rows[i].target.id, ids[i] - '0');
}

/* Highest first, unknown last, then by name with numbers as numbers. */
TEST(sorting)
{
	const struct rt_target targets[] = { target(1, "sd10"), target(2, "sd9"), target(3, "sd2"), target(4, "sd1") };
	struct top top = { 0 };

	assert_int_equal(top_targets(&top, targets, 4), 0);
	expect_order(&top, "4321");
	for (size_t i = 0; i < 4; i++) {
		struct top_row *row = &top.rows[i];

		row->state = row->target.id == 3 || row->target.id == 1 ? TOP_COUNTED : TOP_FRESH;
		row->read.stats.bytes_per_s = row->target.id == 3 ? 20 : 10;
	}
	top.sort = TOP_READ_RATE;
	expect_order(&top, "3142");
	/* The selection is a disk, not a line. */
	assert_int_equal(top_picked(&top)->target.id, 1);
	top_pick(&top, 1);
	assert_int_equal(top.picked, 4);
	top_pick(&top, 100);
	assert_int_equal(top.picked, 2);
	top_pick(&top, -100);
	assert_int_equal(top.picked, 3);
	top_free(&top);
}

TEST(bars)
{
	struct time_states states = { .known = true, .waits_known = true, .served = 0.5, .backlog = 0.2, .held = 0.1, .empty = 0.2 };
	char text[128];

	top_bar_text(text, 8, 2, 4, 8);
	assert_string_equal(text, "##--....");
	top_bar_text(text, 8, 0, 0, 8);
	assert_string_equal(text, "........");
	/* Little is not nothing. */
	top_bar_text(text, 8, 0.001, 1, 32);
	assert_string_equal(text, "#.......");
	top_bar_text(text, 8, 8, 8, 8);
	assert_string_equal(text, "########");
	top_bar_text(text, 8, NAN, 8, 8);
	assert_string_equal(text, "");
	top_states_bar(text, 10, &states);
	assert_string_equal(text, "#####==-..");
	states = (struct time_states){ .known = true, .held = 0.001, .empty = 0.999 };
	top_states_bar(text, 10, &states);
	assert_string_equal(text, "-.........");
	/* Without counters of waits there are two states. */
	top_states_text(text, sizeof(text), &states);
	assert_string_equal(text, "busy 0.0 %, not busy 99.9 %");
	states.known = false;
	top_states_bar(text, 10, &states);
	assert_string_equal(text, "");
	top_states_text(text, sizeof(text), &states);
	assert_string_equal(text, "n/a");
}

/* Classes that do not fit are cut. */
TEST(classes_are_cut)
{
	struct top_row row = { .seconds = 2, .classes = true, .seeks[RAIDTRACE_CLASS_DATA] = 6, .seeks[RAIDTRACE_CLASS_JOURNAL] = 3 };
	char text[128];

	top_classes_text(text, sizeof(text), &row);
	assert_string_equal(text, " 3.00 data, 1.50 journal");
	memset(text, 'x', sizeof(text));
	top_classes_text(text, 12, &row);
	assert_string_equal(text, " 3.00 data,");
	assert_int_equal(text[12], 'x');
}

/* Losses name disk and kind, and are cut at the size. */
TEST(losses)
{
	const struct rt_target targets[] = { target(1, "sda"), target(2, "sdb") };
	struct top top = { 0 };
	char text[256];

	assert_int_equal(top_targets(&top, targets, 2), 0);
	top_losses_text(text, sizeof(text), &top);
	assert_string_equal(text, "");
	top.rows[0].losses = (struct losses){ .lost = { .records = { [1] = 3, [4] = 1 } }, .undelivered = 2 };
	top.rows[1].losses.lost.missed = 7;
	top_losses_text(text, sizeof(text), &top);
	assert_string_equal(text, "LOST sda: 6 events: 3 queue, 1 insert (a buffer was full: depths and times may be wrong), 2 ends of requests (not delivered by the kernel); sdb: 7 events: 7 of any disk (missed: they interrupted another)");
	memset(text, 'x', sizeof(text));
	top_losses_text(text, 9, &top);
	assert_string_equal(text, "LOST sda");
	assert_int_equal(text[9], 'x');
	top_free(&top);
}

/* Four disks with all counters, two with fewer; then one is new, one is gone, one is reset, one has no answer. */
TEST(everything)
{
	static const uint64_t unknown[] = {
		0, RT_COUNTER_BIT(STREAM) | RT_COUNTER_BIT(IN_FLIGHT), 0,
		RT_COUNTER_BIT(COMPLETED) | RT_COUNTER_BIT(AHEAD_QUEUED) | RT_COUNTER_BIT(BYTES_COMPLETED),
	};
	struct rt_target disks[] = { target(4, "sdd"), target(2, "sda"), target(7, "sda"), target(3, "nvme0n1"), target(9, "sdz") };
	struct rt_submitter submitters[FULL_SUBMITTERS];
	struct top top = { .unavailable = RT_COUNTER_BIT(SPLITS) };
	uint64_t seed = 11;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	disks[3].bio_based = true;
	assert_int_equal(top_targets(&top, disks, 4), 0);
	for (size_t i = 0; i < 4; i++) {
		struct rt_counters span = {
			.since_ns = SECOND, .now_ns = (3 + i) * SECOND + SECOND / 2, .unknown = unknown[i],
			.groups = i == 1 ? RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE : 0xfff,
		};

		full_counters(&span, submitters, &seed);
		top.rows[i].last.readahead_sectors = 100 * i + 7;
		count(&top.rows[i].last, READ, RAIDTRACE_HISTOGRAM_KIND_SIZE, 8, 1);
		for (unsigned int d = 0; d < RT_DIRECTIONS; d++)
			top.rows[i].last.flow[d].errors = 1 + d + 10 * i;
		assert_int_equal(top_row_count(&top.rows[i], &span), 0);
		top.rows[i].unknown = top.unavailable | span.unknown;
		span.nr_submitters = 0;
		span.submitters = NULL;
		rt_counters_free(&span);
	}
	for (size_t i = 0; i < top.nr; i++)
		print_row(to, &top.rows[i], true);
	for (int c = 0; c < TOP_COLUMNS; c++) {
		top.sort = (enum top_column)c;
		top_sort(&top);
		fprintf(to, "by %s:", top_column_name(top.sort));
		for (size_t i = 0; i < top.nr; i++)
			fprintf(to, " %u", top.rows[i].target.id);
		fprintf(to, "; full: %" PRIu64 "\n", top_full_depth(&top));
	}
	top_pick(&top, 2);
	fprintf(to, "picked: %u\n", top.picked);
	/* A clock that began anew, and a reset target. */
	for (size_t i = 0; i < 2; i++) {
		struct rt_counters none = { .since_ns = 5, .now_ns = i ? 6 : 5 };

		top.rows[i].last.resets = (uint32_t)i;
		assert_int_equal(top_row_count(&top.rows[i], &none), 0);
		print_row(to, &top.rows[i], true);
	}
	top_row_restart(&top.rows[2]);
	print_row(to, &top.rows[2], true);
	/* All but the first two are detached; one of a detached one's name comes, and one that was not there. */
	disks[0] = target(12, "sda");
	disks[1] = disks[4];
	assert_int_equal(top_targets(&top, disks, 2), 0);
	top.sort = TOP_DISK;
	top_sort(&top);
	for (size_t i = 0; i < top.nr; i++)
		print_row(to, &top.rows[i], true);
	fprintf(to, "picked: %u\n", top.picked);
	for (int i = 0; top_help_line(i); i++)
		fprintf(to, "%s\n", top_help_line(i));
	/* The histograms of each disk are freed, as a sanitizer checks. */
	top_free(&top);
	assert_int_equal(top.nr, 0);
	fclose(to);
	golden("golden/top.txt", text);
}
