// SPDX-License-Identifier: GPL-2.0-or-later

/* Rows and keys of raidctl top, compared with numbers worked out by hand. */

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

static void count(struct rt_counters *c, unsigned int direction,
		  unsigned int kind, int64_t value, uint64_t n)
{
	assert_int_equal(rt_histogram_count(&c->histogram[direction][kind],
					    bin_of(kind, value),
					    n), 0);
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
	return (struct rt_counters){ .id = 1, .since_ns = 1, .now_ns = now_ns,
				     .readahead_sectors = 256 };
}

/*
 * Two seconds: 100 reads of 128 KiB, 95 sequential, 2 in flight half the time
 * and 4 the other; 10 writes of 4 KiB, none sequential, 1 in flight for a
 * quarter.
 */
static struct rt_counters two_seconds(uint64_t now_ns)
{
	struct rt_counters c = nothing(now_ns);

	c.flow[READ].issued = 100;
	c.flow[READ].completed = 98;
	c.flow[READ].bytes_issued = 100 * 128 * 1024;
	c.flow[READ].bytes_completed = 98 * 128 * 1024;
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

/* One row that has counted two_seconds(). */
static void set_up(struct top *top, struct rt_target target)
{
	struct rt_counters first = nothing(10 * SECOND);
	struct rt_counters second = two_seconds(12 * SECOND);

	assert_int_equal(top_targets(top, &target, 1), 0);
	assert_int_equal(top->rows[0].state, TOP_FRESH);
	assert_true(isnan(top_value(&top->rows[0], TOP_SEEKS)));
	assert_int_equal(count_snapshot(&top->rows[0], first), 0);
	assert_int_equal(top->rows[0].state, TOP_FRESH);
	assert_int_equal(count_snapshot(&top->rows[0], second), 0);
}

TEST(values)
{
	struct top top = { 0 };
	const struct top_row *row;

	set_up(&top, target(1, "sda"));
	row = &top.rows[0];
	assert_int_equal(row->state, TOP_COUNTED);
	assert_true(row->seconds == 2);
	assert_true(top_value(row, TOP_READ_RATE) == 49 * 128 * 1024);
	assert_true(top_value(row, TOP_WRITE_RATE) == 5 * 4096);
	assert_true(top_value(row, TOP_READ_DEPTH) == 3);
	assert_true(top_value(row, TOP_WRITE_DEPTH) == 0.25);
	assert_true(top_value(row, TOP_SIZE) == 128 * 1024);
	assert_true(top_value(row, TOP_SEQUENTIAL) == 95.0 / 110);
	assert_true(top_value(row, TOP_SEEKS) == 7.5);
	assert_true(top_value(row, TOP_MERGES) == 3);
	assert_true(top_value(row, TOP_SPLITS) == 2);
	assert_true(top_value(row, TOP_READAHEAD) == 256);
	/* 10 of 108 took 50 ms: p99 is the bin of these. */
	assert_true(top_value(row, TOP_LATENCY) > 50e6);
	assert_true(top_value(row, TOP_LATENCY) < 50e6 * 1.07);
	assert_int_equal(row->read.stats.depth_max, 4);
	assert_int_equal(row->errors, 1);
	assert_int_equal(top_full_depth(&top), 8);
	top_free(&top);
}

/* The second interval is what happened in it, not since attach. */
TEST(intervals)
{
	struct top top = { 0 };
	struct rt_counters same = two_seconds(13 * SECOND);

	set_up(&top, target(1, "sda"));
	count(&same, READ, RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME, 20, SECOND);
	assert_int_equal(count_snapshot(&top.rows[0], same), 0);
	assert_true(top_value(&top.rows[0], TOP_READ_RATE) == 0);
	assert_true(top_value(&top.rows[0], TOP_READ_DEPTH) == 20);
	assert_int_equal(top_full_depth(&top), 32);
	/* Without requests there is no size and no share. */
	assert_true(isnan(top_value(&top.rows[0], TOP_SIZE)));
	assert_true(isnan(top_value(&top.rows[0], TOP_SEQUENTIAL)));
	assert_true(isnan(top_value(&top.rows[0], TOP_LATENCY)));
	top_free(&top);
}

TEST(reset)
{
	struct top top = { 0 };
	struct rt_counters again = nothing(13 * SECOND);

	set_up(&top, target(1, "sda"));
	again.resets = 1;
	assert_int_equal(count_snapshot(&top.rows[0], again), 0);
	assert_int_equal(top.rows[0].state, TOP_FRESH);
	assert_true(isnan(top_value(&top.rows[0], TOP_READ_RATE)));
	again = two_seconds(15 * SECOND);
	again.resets = 1;
	assert_int_equal(count_snapshot(&top.rows[0], again), 0);
	assert_int_equal(top.rows[0].state, TOP_COUNTED);
	assert_true(top_value(&top.rows[0], TOP_READ_DEPTH) == 3);
	/* Counters that go backwards are those of another target. */
	again = nothing(16 * SECOND);
	again.resets = 1;
	assert_int_equal(count_snapshot(&top.rows[0], again), -ERANGE);
	top_row_restart(&top.rows[0]);
	assert_int_equal(top.rows[0].state, TOP_FRESH);
	assert_int_equal(count_snapshot(&top.rows[0], again), 0);
	assert_int_equal(top.rows[0].state, TOP_FRESH);
	/* Reset, and as much as before has happened since. */
	again = nothing(17 * SECOND);
	again.resets = 2;
	assert_int_equal(count_snapshot(&top.rows[0], again), 0);
	assert_int_equal(top.rows[0].state, TOP_FRESH);
	top_free(&top);
}

TEST(gone)
{
	struct top top = { 0 };
	struct rt_counters last = two_seconds(13 * SECOND);
	struct rt_target other[] = { target(7, "sdb"), target(8, "sda") };

	set_up(&top, target(1, "sda"));
	last.gone = true;
	last.readahead_sectors = 0;
	assert_int_equal(count_snapshot(&top.rows[0], last), 0);
	assert_int_equal(top.rows[0].state, TOP_GONE);
	assert_true(isnan(top_value(&top.rows[0], TOP_READAHEAD)));
	assert_true(isnan(top_value(&top.rows[0], TOP_READ_RATE)));
	/* Detached: it stays, until its disk is attached again. */
	assert_int_equal(top_targets(&top, other, 1), 0);
	assert_int_equal(top.nr, 2);
	assert_int_equal(top.rows[0].state, TOP_DETACHED);
	assert_int_equal(top.picked, 1);
	assert_int_equal(top_targets(&top, other, 2), 0);
	assert_int_equal(top.nr, 2);
	assert_int_equal(top.picked, 8);
	assert_string_equal(top_picked(&top)->target.disk, "sda");
	top_free(&top);
	assert_null(top_picked(&top));
}

TEST(not_counted)
{
	struct top top = { .unavailable = RT_COUNTER_BIT(FRONT_MERGES) };
	struct rt_target dm = target(1, "dm-0");
	char text[TOP_TEXT];

	set_up(&top, target(1, "sda"));
	assert_true(isnan(top_value(&top.rows[0], TOP_MERGES)));
	assert_true(top_value(&top.rows[0], TOP_SPLITS) == 2);
	top_free(&top);
	dm.bio_based = true;
	set_up(&top, dm);
	for (enum top_column c = TOP_READ_RATE; c < TOP_SPLITS; c++) {
		assert_true(isnan(top_value(&top.rows[0], c)));
		top_cell_text(text, &top.rows[0], c);
		assert_string_equal(text, "n/a");
	}
	assert_true(top_value(&top.rows[0], TOP_SPLITS) == 2);
	top_free(&top);
}

/* Highest first, unknown last, then by name with numbers as numbers. */
TEST(sorting)
{
	struct rt_target targets[] = { target(1, "sd10"), target(2, "sd9"),
				       target(3, "sd2"), target(4, "sd1") };
	static const uint32_t by_name[] = { 4, 3, 2, 1 };
	static const uint32_t by_rate[] = { 3, 1, 4, 2 };
	struct top top = { 0 };

	assert_int_equal(top_targets(&top, targets, 4), 0);
	top_sort(&top);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(top.rows[i].target.id, by_name[i]);
	for (size_t i = 0; i < 4; i++) {
		struct top_row *row = &top.rows[i];

		row->state = row->target.id == 3 || row->target.id == 1 ?
			     TOP_COUNTED : TOP_FRESH;
		row->read.stats.bytes_per_s = row->target.id == 3 ? 20 : 10;
	}
	top.sort = TOP_READ_RATE;
	top_sort(&top);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(top.rows[i].target.id, by_rate[i]);
	/* The selection is a disk, not a line. */
	assert_int_equal(top_picked(&top)->target.id, 1);
	top_pick(&top, 1);
	assert_int_equal(top.picked, 4);
	top_pick(&top, 100);
	assert_int_equal(top.picked, 2);
	top_pick(&top, -100);
	assert_int_equal(top.picked, 3);
	for (int c = 0; c < TOP_COLUMNS; c++)
		assert_non_null(top_column_name(c));
	top_free(&top);
}

/* Texts that golden/top.txt does not contain. */
TEST(texts)
{
	struct top top = { 0 };
	char text[128];

	set_up(&top, target(1, "sda"));
	top_cell_text(text, &top.rows[0], TOP_READ_RATE);
	assert_string_equal(text, "6.12");
	top_cell_text(text, &top.rows[0], TOP_SEQUENTIAL);
	assert_string_equal(text, "86.4");
	top.rows[0].read.stats.depth_mean = 0.001;
	top_cell_text(text, &top.rows[0], TOP_READ_DEPTH);
	assert_string_equal(text, "<.01");
	top_detail_text(text, sizeof(text), &top.rows[0], false, 2);
	assert_string_equal(text, "4 KiB, 4 KiB");
	top.rows[0].write.stats.size_mode.high = 16;
	top_detail_text(text, sizeof(text), &top.rows[0], false, 2);
	assert_string_equal(text, "4 KiB..8 KiB, 4 KiB");
	top_free(&top);
}

TEST(bars)
{
	char text[16];

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
}

static enum top_action press_keys(struct top_keys *keys, struct top *top,
			    const char *text)
{
	enum top_action action = TOP_NOTHING;

	for (; *text; text++)
		action = top_key(keys, top,
				 *text == '\n' ? TOP_KEY_ENTER : *text);
	return action;
}

TEST(commands)
{
	struct top_keys keys = { .interval_ns = SECOND };
	struct top top = { 0 };

	set_up(&top, target(1, "sda"));
	assert_int_equal(press_keys(&keys, &top, "s"), TOP_NOTHING);
	assert_int_equal(top.sort, TOP_READ_RATE);
	for (int i = 1; i < TOP_COLUMNS; i++)
		press_keys(&keys, &top, "s");
	assert_int_equal(top.sort, TOP_DISK);
	press_keys(&keys, &top, "f");
	assert_true(keys.frozen);
	press_keys(&keys, &top, " ");
	assert_false(keys.frozen);
	press_keys(&keys, &top, "+");
	assert_int_equal(keys.interval_ns, 2 * SECOND);
	press_keys(&keys, &top, "--");
	assert_int_equal(keys.interval_ns, SECOND / 2);
	keys.interval_ns = 700000000;
	press_keys(&keys, &top, "=");
	assert_int_equal(keys.interval_ns, SECOND);
	press_keys(&keys, &top, "-----------------");
	assert_int_equal(keys.interval_ns, TOP_SHORTEST_NS);
	assert_string_equal(keys.message, "this is the shortest interval");
	press_keys(&keys, &top, "+++++++++++++++++");
	assert_int_equal(keys.interval_ns, TOP_LONGEST_NS);
	press_keys(&keys, &top, "?");
	assert_int_equal(keys.mode, TOP_HELP);
	assert_int_equal(press_keys(&keys, &top, "q"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_WATCH);
	assert_int_equal(press_keys(&keys, &top, "q"), TOP_QUIT);
	top_free(&top);
	/* Keys without a row. */
	assert_int_equal(press_keys(&keys, &top, "rjks+"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_WATCH);
}

TEST(readahead)
{
	struct top_keys keys = { .interval_ns = SECOND };
	struct top top = { 0 };
	char prompt[160];

	set_up(&top, target(1, "sda"));
	assert_int_equal(press_keys(&keys, &top, "r"), TOP_MAY_WRITE);
	/* No dialogue begins before the caller has checked the permission. */
	assert_int_equal(keys.mode, TOP_WATCH);
	strcpy(keys.message, "of another disk");
	top_keys_edit(&keys, &top.rows[0]);
	assert_string_equal(keys.message, "");
	press_keys(&keys, &top, "8a-19");
	top_key(&keys, &top, TOP_KEY_BACKSPACE);
	press_keys(&keys, &top, "2");
	top_keys_prompt(&keys, prompt, sizeof(prompt));
	assert_string_equal(prompt, "sda: readahead is 128 KiB (256 sectors); new value in KiB: 812");
	assert_int_equal(press_keys(&keys, &top, "\n"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_CONFIRM);
	top_keys_prompt(&keys, prompt, sizeof(prompt));
	assert_string_equal(prompt, "sda: readahead 128 KiB (256 sectors) -> 812 KiB (1624 sectors)? [y/n]");
	assert_int_equal(press_keys(&keys, &top, "x \n"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_CONFIRM);
	assert_int_equal(press_keys(&keys, &top, "n"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_WATCH);
	assert_string_equal(keys.message, "sda: readahead was not changed");
	/* Digits beyond nine are not taken, a value of none is no value. */
	top_keys_edit(&keys, &top.rows[0]);
	assert_int_equal(press_keys(&keys, &top, "1234567890123\ny"), TOP_WRITE);
	assert_int_equal(keys.kib, 123456789);
	top_keys_edit(&keys, &top.rows[0]);
	assert_int_equal(press_keys(&keys, &top, "\n"), TOP_NOTHING);
	assert_int_equal(keys.mode, TOP_WATCH);
	top_keys_edit(&keys, &top.rows[0]);
	top_key(&keys, &top, TOP_KEY_ESCAPE);
	assert_int_equal(keys.mode, TOP_WATCH);
	top.rows[0].state = TOP_GONE;
	assert_int_equal(press_keys(&keys, &top, "r"), TOP_NOTHING);
	assert_string_equal(keys.message, "sda: gone; it has no readahead any more");
	top_free(&top);
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

/* A row with all its details. */
static void print_row(FILE *to, const struct top_row *row)
{
	const char *why = top_state_text(row);
	char text[256], bar[12];

	fprintf(to, "%s %u: %s, %.2f s, %" PRIu64 " errors:", row->target.disk, row->target.id, why ? why : "counted",
		row->seconds, row->errors);
	for (int c = TOP_DISK + 1; c < TOP_COLUMNS; c++) {
		top_cell_text(text, row, (enum top_column)c);
		fprintf(to, " %s", text);
	}
	top_bar_text(bar, 10, top_value(row, TOP_READ_DEPTH), row->read.stats.depth_max, 128);
	if (why)
		text[0] = '\0';
	else
		top_classes_text(text, sizeof(text), row);
	fprintf(to, " [%s]%s\n", bar, text);
	for (int line = 0; line < TOP_DETAILS && !why; line++)
		for (int reads = 1; reads >= 0; reads--) {
			top_detail_text(text, sizeof(text), row, reads, line);
			fprintf(to, "%s%s%s", reads ? top_detail_label(line) : "", reads ? ": " : " | ", text);
			fputs(reads ? "" : "\n", to);
		}
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
		print_row(to, &top.rows[i]);
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
		print_row(to, &top.rows[i]);
	}
	top_row_restart(&top.rows[2]);
	print_row(to, &top.rows[2]);
	/* All but the first two are detached; one of a detached one's name comes, and one that was not there. */
	disks[0] = target(12, "sda");
	disks[1] = disks[4];
	assert_int_equal(top_targets(&top, disks, 2), 0);
	top.sort = TOP_DISK;
	top_sort(&top);
	for (size_t i = 0; i < top.nr; i++)
		print_row(to, &top.rows[i]);
	fprintf(to, "picked: %u\n", top.picked);
	for (int i = 0; top_help_line(i); i++)
		fprintf(to, "%s\n", top_help_line(i));
	/* The histograms of each disk are freed, as a sanitizer checks. */
	top_free(&top);
	assert_int_equal(top.nr, 0);
	fclose(to);
	golden("golden/top.txt", text);
}
