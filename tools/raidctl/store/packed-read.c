// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The text that holds the histograms of a sample, taken apart:
 * {"read":{"size":{"8":3,"128":1}}}.  It is whatever a file holds.
 */

#include "store/packed-read.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* struct place - in the text, and in what */
struct place {
	const char *at;
	const struct packed_reader *reader;
	char direction[PACKED_NAME];
	char kind[PACKED_NAME];
};

static bool take(struct place *place, const char *what)
{
	size_t len = strlen(what);

	if (strncmp(place->at, what, len))
		return false;
	place->at += len;
	return true;
}

/* A name, the quote behind it and what begins its object. */
static bool take_name(struct place *place, char *ret)
{
	size_t len = strspn(place->at, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!len || len >= PACKED_NAME)
		return false;
	memcpy(ret, place->at, len);
	ret[len] = '\0';
	place->at += len;
	return take(place, "\":{");
}

static bool take_number(struct place *place, uint64_t most, uint64_t *ret)
{
	const char *from = place->at;

	for (*ret = 0; *place->at >= '0' && *place->at <= '9'; place->at++) {
		unsigned int digit = (unsigned int)(*place->at - '0');

		if (*ret > (most - digit) / 10)
			return false;
		*ret = 10 * *ret + digit;
	}
	return place->at != from;
}

/* Members of an object up to its end; @member begins behind the quote of its name. */
static int take_members(struct place *place, int (*member)(struct place *))
{
	if (take(place, "}"))
		return 0;
	do {
		int err = take(place, "\"") ? member(place) : -EINVAL;

		if (err)
			return err;
	} while (take(place, ","));
	return take(place, "}") ? 0 : -EINVAL;
}

static int take_bin(struct place *place)
{
	uint64_t bin, count;

	if (!take_number(place, PACKED_BINS - 1, &bin) || !take(place, "\":") ||
	    !take_number(place, INT64_MAX, &count))
		return -EINVAL;
	return place->reader->bin(place->reader->data, (unsigned int)bin, count);
}

static int take_kind(struct place *place)
{
	int err = take_name(place, place->kind) ? 0 : -EINVAL;

	if (!err)
		err = place->reader->histogram(place->reader->data,
					       place->direction, place->kind);
	return err ? err : take_members(place, take_bin);
}

static int take_direction(struct place *place)
{
	if (!take_name(place, place->direction))
		return -EINVAL;
	return take_members(place, take_kind);
}

int packed_read(const char *text, const struct packed_reader *reader)
{
	struct place place = { .at = text, .reader = reader };
	int err = take(&place, "{") ? take_members(&place, take_direction) :
				      -EINVAL;

	return err ? err : *place.at ? -EINVAL : 0;
}
