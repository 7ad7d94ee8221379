// SPDX-License-Identifier: GPL-2.0-or-later

/* The keys of raidctl top. */

#include "top/top.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define MS	((uint64_t)1000000)

static const uint64_t intervals[] = {
	TOP_SHORTEST_NS, 100 * MS,   200 * MS,	 500 * MS,   1000 * MS,
	2000 * MS,	 5000 * MS, 10000 * MS, 30000 * MS, TOP_LONGEST_NS,
};

#define NR_INTERVALS	(sizeof(intervals) / sizeof(intervals[0]))

void top_keys_message(struct top_keys *keys, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(keys->message, sizeof(keys->message), format, args);
	va_end(args);
}

char *top_readahead_text(char *ret, size_t size, uint64_t kib)
{
	snprintf(ret, size, "%" PRIu64 " KiB (%" PRIu64 " sectors)", kib,
		 kib * 1024 / SECTOR_BYTES);
	return ret;
}

void top_keys_edit(struct top_keys *keys, const struct top_row *row)
{
	keys->mode = TOP_VALUE;
	keys->disk = row->target;
	keys->disk.readahead_sectors = row->readahead_sectors;
	keys->digits[0] = '\0';
	keys->message[0] = '\0';
}

void top_keys_prompt(const struct top_keys *keys, char *ret, size_t size)
{
	char now[64], value[64];

	top_readahead_text(now, sizeof(now),
			   keys->disk.readahead_sectors * SECTOR_BYTES / 1024);
	top_readahead_text(value, sizeof(value), keys->kib);
	if (keys->mode == TOP_VALUE)
		snprintf(ret, size, "%s: readahead is %s; new value in KiB: %s",
			 keys->disk.disk, now, keys->digits);
	else if (keys->mode == TOP_CONFIRM)
		snprintf(ret, size, "%s: readahead %s -> %s? [y/n]",
			 keys->disk.disk, now, value);
	else
		snprintf(ret, size, "%s", keys->message);
}

static void change_interval(struct top_keys *keys, bool longer)
{
	uint64_t next = keys->interval_ns;

	if (longer) {
		for (size_t i = NR_INTERVALS; i-- > 0;)
			if (intervals[i] > keys->interval_ns)
				next = intervals[i];
	} else {
		for (size_t i = 0; i < NR_INTERVALS; i++)
			if (intervals[i] < keys->interval_ns)
				next = intervals[i];
	}
	if (next == keys->interval_ns)
		top_keys_message(keys, "this is the %s interval",
				 longer ? "longest" : "shortest");
	keys->interval_ns = next;
}

static enum top_action begin_readahead(struct top_keys *keys, struct top *top)
{
	struct top_row *row = top_picked(top);

	if (!row)
		return TOP_NOTHING;
	if (row->state == TOP_GONE) {
		top_keys_message(keys, "%s: removed or detached, so its readahead cannot be changed",
				 row->target.disk);
		return TOP_NOTHING;
	}
	top->picked = row->target.id;
	return TOP_MAY_WRITE;
}

static enum top_action command(struct top_keys *keys, struct top *top, int key)
{
	keys->message[0] = '\0';
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case '?':
	case 'h':
		keys->mode = TOP_HELP;
		return TOP_NOTHING;
	case TOP_KEY_UP:
	case 'k':
		top_pick(top, -1);
		return TOP_NOTHING;
	case TOP_KEY_DOWN:
	case 'j':
		top_pick(top, 1);
		return TOP_NOTHING;
	case 's':
		top->sort = (top->sort + 1) % TOP_COLUMNS;
		top_sort(top);
		return TOP_NOTHING;
	case 'f':
	case ' ':
		keys->frozen = !keys->frozen;
		return TOP_NOTHING;
	case '+':
	case '=':
	case '-':
		change_interval(keys, key != '-');
		return TOP_NOTHING;
	case 'r':
		return begin_readahead(keys, top);
	}
	return TOP_NOTHING;
}

static void cancel(struct top_keys *keys)
{
	keys->mode = TOP_WATCH;
	top_keys_message(keys, "%s: readahead was not changed", keys->disk.disk);
}

static void take_value(struct top_keys *keys)
{
	if (!keys->digits[0]) {
		cancel(keys);
		return;
	}
	keys->kib = strtoull(keys->digits, NULL, 10);
	keys->mode = TOP_CONFIRM;
}

static void edit_value(struct top_keys *keys, int key)
{
	size_t len = strlen(keys->digits);

	if (key == TOP_KEY_ESCAPE) {
		cancel(keys);
	} else if (key == TOP_KEY_ENTER) {
		take_value(keys);
	} else if (key == TOP_KEY_BACKSPACE) {
		if (len)
			keys->digits[len - 1] = '\0';
	} else if (key >= '0' && key <= '9' &&
		   len < sizeof(keys->digits) - 1) {
		keys->digits[len] = (char)key;
		keys->digits[len + 1] = '\0';
	}
}

enum top_action top_key(struct top_keys *keys, struct top *top, int key)
{
	switch (keys->mode) {
	case TOP_WATCH:
		return command(keys, top, key);
	case TOP_HELP:
		keys->mode = TOP_WATCH;
		return TOP_NOTHING;
	case TOP_VALUE:
		edit_value(keys, key);
		return TOP_NOTHING;
	case TOP_CONFIRM:
		if (key == 'y' || key == 'Y') {
			keys->mode = TOP_WATCH;
			return TOP_WRITE;
		}
		/* Only these keys cancel; all others are ignored. */
		if (key == 'n' || key == 'N' || key == 'q' ||
		    key == TOP_KEY_ESCAPE)
			cancel(keys);
		return TOP_NOTHING;
	}
	return TOP_NOTHING;
}
