// SPDX-License-Identifier: GPL-2.0-or-later

/* Rows of raidctl top and keys, all drawn: golden/drawn-top.txt has a line for each walk. */

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "drawn.h"
#include "top/keys.h"
#include "top/view.h"

#define WALKS	12
#define STEPS	40
#define MS	((uint64_t)1000000)

/* Counters of one interval; few are what a text changes at. */
static void draw_span(struct rt_counters *c, uint64_t *state)
{
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
#define X(member, attribute, ...) if (!drawn(state, 3)) c->flow[d].member = drawn_edge(state) % 100000000;
		RT_FLOW_COUNTERS(X)
#undef X
		c->flow[d].issued += c->flow[d].reissued;
		c->flow[d].in_flight = (uint32_t)drawn(state, 3);
		c->flow[d].in_flight_max = (uint32_t)drawn(state, 40);
		for (unsigned int k = 0; k < RT_KINDS; k++)
			for (uint64_t n = drawn(state, 3); n; n--) {
				unsigned int bin = (unsigned int)drawn(state, raidtrace_hist_bins(k));

				rt_histogram_count(&c->histogram[d][k], bin, 1 + drawn(state, 2) * 9999);
			}
	}
	for (unsigned int i = 0; i < RT_CLASSES; i++)
		c->origin[i].seeks = drawn(state, 60) % 31 % 30;
}

static void say_row(FILE *to, const struct top_row *row)
{
	const char *why = top_state_text(row);
	char text[256];

	fprintf(to, "%s %u: %s, %.3f s, %" PRIu64 " errors:", row->target.disk, row->target.id, why ? why : "counted",
		row->seconds, row->errors);
	for (int c = TOP_DISK + 1; c < TOP_COLUMNS; c++) {
		top_cell_text(text, row, (enum top_column)c);
		fprintf(to, " %s", text);
	}
	top_bar_text(text, 10, top_value(row, TOP_READ_DEPTH), row->read.stats.depth_max, 32);
	fprintf(to, " [%s]", text);
	for (int line = 0; line < 2 * TOP_DETAILS && !why; line++) {
		top_detail_text(text, sizeof(text), row, line % 2, line / 2);
		fprintf(to, " %s", text);
	}
	if (!why) {
		top_classes_text(text, sizeof(text), row);
		fprintf(to, " %s", text);
	}
	fputc('\n', to);
}

static void say_top(FILE *to, const struct top *top)
{
	const struct top_row *picked = top_picked(top);

	fprintf(to, "by %s, picked %s, full %" PRIu64 "\n", top_column_name(top->sort), picked ? picked->target.disk : "none",
		top_full_depth(top));
	for (size_t i = 0; i < top->nr; i++)
		say_row(to, &top->rows[i]);
}

/* Disks that come, go and count; what is sorted, and which is picked. */
static void rows(FILE *to, uint64_t *state)
{
	struct top top = { .unavailable = drawn(state, 2) * RT_COUNTER_BIT(SPLITS) };
	struct rt_target known[5] = { 0 };

	for (uint32_t i = 0; i < 5; i++) {
		known[i].id = i + 1;
		known[i].bio_based = !drawn(state, 4);
		snprintf(known[i].disk, sizeof(known[i].disk), "sd%c%u", 'a' + (int)i % 2, (unsigned int)drawn(state, 20));
	}
	for (int step = 0; step < STEPS / 4; step++) {
		struct rt_target here[5];
		size_t nr = 0;

		for (uint32_t i = 0; i < 5; i++)
			if (drawn(state, 3))
				here[nr++] = known[i];
		assert_int_equal(top_targets(&top, here, nr), 0);
		for (size_t i = 0; i < top.nr; i++) {
			struct rt_counters span = { .since_ns = 1 + drawn(state, 2) };

			span.groups = drawn(state, 4) ? 0xfff : 0x1f;
			span.now_ns = span.since_ns + drawn(state, 5) * 500 * MS;
			span.gone = !drawn(state, 8);
			span.unknown = drawn(state, 3) ? 0 : (uint64_t)1 << drawn(state, 40);
			draw_span(&span, state);
			top.rows[i].last.gone = span.gone;
			top.rows[i].last.resets = (uint32_t)!drawn(state, 6);
			top.rows[i].last.readahead_sectors = drawn_edge(state);
			assert_int_equal(top_row_count(&top.rows[i], &span), 0);
			top.rows[i].unknown = top.unavailable | span.unknown;
			rt_counters_free(&span);
			if (!drawn(state, 9))
				top_row_restart(&top.rows[i]);
		}
		top.sort = (enum top_column)drawn(state, TOP_COLUMNS);
		top_sort(&top);
		top_pick(&top, (int)drawn(state, 7) - 3);
		say_top(to, &top);
	}
	top_free(&top);
}

/* Keys at random, those of digits and of answers more often. */
static void keys(FILE *to, uint64_t *state)
{
	static const int known[] = {
		'q', 's', 'f', ' ', '+', '-', '=', '?', 'h', 'r', 'j', 'k', 'y', 'n', 'p', 'g', 'G', ',', '.', '0', '1', '7', '9',
		TOP_KEY_UP, TOP_KEY_DOWN, TOP_KEY_ENTER, TOP_KEY_BACKSPACE, TOP_KEY_ESCAPE, 'x', '/', ':',
	};
	struct rt_target targets[3] = { { .id = 1, .disk = "sda" }, { .id = 2, .disk = "sdb" }, { .id = 3, .disk = "sdc" } };
	struct top_keys k = { .interval_ns = NS_PER_S };
	struct top top = { 0 };
	char prompt[160];

	assert_int_equal(top_targets(&top, targets, drawn(state, 4)), 0);
	for (int step = 0; step < 10 * STEPS; step++) {
		int key = drawn(state, 3) ? known[drawn(state, sizeof(known) / sizeof(known[0]))] : (int)('0' + drawn(state, 10));
		enum top_action action;

		if (k.mode != TOP_WATCH && !drawn(state, 3))
			key = drawn(state, 2) ? TOP_KEY_ENTER : 'y';
		for (size_t i = 0; i < top.nr; i++) {
			top.rows[i].readahead_sectors = drawn_edge(state);
			top.rows[i].state = (enum top_state)drawn(state, TOP_DETACHED + 1);
		}
		action = top_key(&k, &top, key);
		if (action == TOP_MAY_WRITE)
			top_keys_ask(&k, top_picked(&top));
		top_keys_prompt(&k, prompt, sizeof(prompt));
		fprintf(to, "%x: %d, mode %d, frozen %d, %" PRIu64 " ms, %" PRIu64 " KiB, by %d, picked %u: %s | %s\n", key, action,
			k.mode, k.frozen, k.interval_ns / MS, k.kib, top.sort, top.picked, k.message, prompt);
	}
	top_free(&top);
}

/* Numbers where a text becomes shorter. */
static void texts(FILE *to, uint64_t *state)
{
	for (int i = 0; i < 400; i++) {
		static const double at[] = { 0, 0.005, 0.01, 1, 9.995, 10, 99.95, 100, 1000, 10000 };
		struct direction_stats stats = { .depth_exact = drawn(state, 2) };
		double mean = at[drawn(state, 10)];
		uint64_t most = drawn(state, 12);
		char text[128];

		top_depth_text(text, &stats, mean + (i % 3 - 1) / 1000.0);
		fprintf(to, "%s", text);
		top_bar_text(text, i % 12, (double)drawn(state, 40) / 4, most, i % 13U);
		fprintf(to, " [%s]", text);
		fprintf(to, " %s\n", top_readahead_text(text, sizeof(text), drawn_edge(state)));
	}
}

static void walks(void **unused)
{
	static const struct drawn_kind kinds[] = { { "rows", rows }, { "keys", keys }, { "texts", texts } };

	(void)unused;
	drawn_golden("golden/drawn-top.txt", kinds, sizeof(kinds) / sizeof(kinds[0]), WALKS, 23112026);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(walks) };

	return cmocka_run_group_tests_name("drawn-top", tests, NULL, NULL);
}
