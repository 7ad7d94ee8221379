// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings: the histograms of a sample as one text.
 *
 * A row for each bin would cost more than the rest of a sample together. So they are one JSON object,
 * {"read":{"size":{"8":3,"128":1}}}, which SQLite itself can parse: the view bin has a row for each bin.
 */

#include "store/db.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Most bytes of one bin: a comma, two numbers, two quotes and a colon. */
#define BIN_ROOM	40

/* Most bytes of the names around a histogram. */
#define NAMES_ROOM	64

/* In alphabetical order, so that a reader need not sort the rows. */
const uint8_t packed_directions[RT_DIRECTIONS] = {
	RAIDTRACE_DIRECTION_ALL,
	RAIDTRACE_DIRECTION_DISCARD,
	RAIDTRACE_DIRECTION_FLUSH,
	RAIDTRACE_DIRECTION_OTHER,
	RAIDTRACE_DIRECTION_PASSTHROUGH,
	RAIDTRACE_DIRECTION_READ,
	RAIDTRACE_DIRECTION_WRITE,
	RAIDTRACE_DIRECTION_WRITE_ZEROES,
};

static const uint8_t kinds[RT_KINDS] = {
	RAIDTRACE_HISTOGRAM_KIND_BLAME,
	RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE,
	RAIDTRACE_HISTOGRAM_KIND_D2C,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C_NS,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE,
	RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME,
	RAIDTRACE_HISTOGRAM_KIND_I2D,
	RAIDTRACE_HISTOGRAM_KIND_PLACE,
	RAIDTRACE_HISTOGRAM_KIND_Q2C,
	RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC,
	RAIDTRACE_HISTOGRAM_KIND_RA_SYNC,
	RAIDTRACE_HISTOGRAM_KIND_SEEK,
	RAIDTRACE_HISTOGRAM_KIND_SEEK_D2C,
	RAIDTRACE_HISTOGRAM_KIND_SEEK_D2C_NS,
	RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED,
	RAIDTRACE_HISTOGRAM_KIND_SIZE,
	RAIDTRACE_HISTOGRAM_KIND_SIZE_D2C,
	RAIDTRACE_HISTOGRAM_KIND_SIZE_D2C_NS,
	RAIDTRACE_HISTOGRAM_KIND_UNPLUG,
};

/* A text that grows at @at. */
struct text {
	struct packed *packed;
	char *at;
};

static bool make_room(struct text *text, size_t more)
{
	size_t used = (size_t)(text->at - text->packed->text);
	char *larger;

	if (used + more <= text->packed->room)
		return true;
	larger = realloc(text->packed->text, 2 * (used + more));
	if (!larger)
		return false;
	text->packed->text = larger;
	text->packed->room = 2 * (used + more);
	text->at = larger + used;
	return true;
}

static char *put_number(char *at, uint64_t number)
{
	char digits[24];
	int nr = 0;

	do
		digits[nr++] = (char)('0' + number % 10);
	while (number /= 10);
	while (nr)
		*at++ = digits[--nr];
	return at;
}

/* Write "name":{ and, after another member, a comma before it. */
static void open_member(struct text *text, const char *name)
{
	size_t len = strlen(name);

	if (text->at[-1] != '{')
		*text->at++ = ',';
	*text->at++ = '"';
	memcpy(text->at, name, len);
	text->at += len;
	memcpy(text->at, "\":{", 3);
	text->at += 3;
}

static void put_bins(struct text *text, const struct rt_histogram *h)
{
	for (unsigned int i = 0; i < h->nr_bins; i++) {
		if (!h->counts[i])
			continue;
		if (text->at[-1] != '{')
			*text->at++ = ',';
		*text->at++ = '"';
		text->at = put_number(text->at, h->first_bin + i);
		*text->at++ = '"';
		*text->at++ = ':';
		text->at = put_number(text->at, h->counts[i]);
	}
	*text->at++ = '}';
}

static bool is_empty(const struct rt_histogram *h)
{
	for (unsigned int i = 0; i < h->nr_bins; i++)
		if (h->counts[i])
			return false;
	return true;
}

static int put_direction(struct text *text, unsigned int direction,
			 const struct rt_histogram *histograms)
{
	bool any = false;

	for (unsigned int k = 0; k < RT_KINDS; k++) {
		const struct rt_histogram *h = &histograms[kinds[k]];

		if (is_empty(h))
			continue;
		if (!make_room(text, 2 * NAMES_ROOM + h->nr_bins * BIN_ROOM))
			return -ENOMEM;
		if (!any)
			open_member(text, rt_direction_name(direction));
		any = true;
		open_member(text, rt_kind_name(kinds[k]));
		put_bins(text, h);
	}
	if (any)
		*text->at++ = '}';
	return 0;
}

int packed_put(struct packed *packed, const struct rt_counters *span)
{
	struct text text = { packed, packed->text };
	int err = 0;

	if (!make_room(&text, NAMES_ROOM))
		return -ENOMEM;
	*text.at++ = '{';
	for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
		err = put_direction(&text, packed_directions[d],
				    span->histogram[packed_directions[d]]);
	if (err || !make_room(&text, NAMES_ROOM))
		return -ENOMEM;
	*text.at++ = '}';
	packed->len = (size_t)(text.at - packed->text);
	return 0;
}

void packed_free(struct packed *packed)
{
	free(packed->text);
	memset(packed, 0, sizeof(*packed));
}
