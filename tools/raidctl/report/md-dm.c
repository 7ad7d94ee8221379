// SPDX-License-Identifier: GPL-2.0-or-later

/* What a disk that is made of others gave to them, as text and as JSON. */

#include "report/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "format/json.h"
#include "base/terminal.h"

#define MEMBERS	64	/* as many as the kernel module counts at once */

/**
 * struct family - a disk and what it is made of, in one phase
 * @recording: that they are of
 * @parent: the disk
 * @nr: length of @members
 * @members: in the order of the recording
 */
struct family {
	const struct recording *recording;
	const struct span *parent;
	size_t nr;
	const struct span *members[MEMBERS];
};

static bool is_made_of(const struct recording *r, uint32_t parent,
		       uint32_t member)
{
	for (size_t i = 0; i < r->besides.nr_stacked; i++)
		if (r->besides.stacked[i].parent == parent &&
		    r->besides.stacked[i].target == member)
			return true;
	return false;
}

static struct family family_of(const struct recording *r,
			       const struct span *parent)
{
	struct family family = { .recording = r, .parent = parent };

	for (size_t i = 0; i < r->nr_spans && family.nr < MEMBERS; i++)
		if (r->spans[i].number == parent->number &&
		    is_made_of(r, parent->counters.id, r->spans[i].counters.id))
			family.members[family.nr++] = &r->spans[i];
	return family;
}

/* What its members were given in a direction, and what it was given itself. */
struct given {
	uint64_t own_bios;
	uint64_t own_bytes;
	uint64_t splits;
	uint64_t bios;
	uint64_t bytes;
};

static struct given given_of(const struct family *family, unsigned int d)
{
	const struct rt_flow *own = &family->parent->counters.flow[d];
	struct given given = {
		.own_bios = own->queued, .own_bytes = own->bytes_queued,
		.splits = own->splits,
	};

	for (size_t i = 0; i < family->nr; i++) {
		given.bios += family->members[i]->counters.flow[d].queued;
		given.bytes += family->members[i]->counters.flow[d].bytes_queued;
	}
	return given;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : NAN;
}

static const char *ratio_text(char *ret, double value)
{
	if (isnan(value))
		return "n/a";
	snprintf(ret, UNITS_TEXT, "%.3f", value);
	return ret;
}

/* Sectors of readahead where the phase began, -1 when that is not known. */
static int64_t readahead_of(const struct family *family, const struct span *span)
{
	const char *text = recording_setting(family->recording,
					     span->counters.id,
					     "readahead_sectors",
					     span->counters.since_ns);

	return text ? strtoll(text, NULL, 10) : -1;
}

static void text_direction(FILE *to, const struct family *family, unsigned int d)
{
	struct given given = given_of(family, d);
	char fan[UNITS_TEXT], bytes[UNITS_TEXT], split[UNITS_TEXT];

	if (!given.own_bios && !given.bios)
		return;
	terminal_print(to, "  %-11s to members: bios x %s, bytes x %s; splits for each bio %s\n",
		       rt_direction_name(d),
		ratio_text(fan, ratio(given.bios, given.own_bios)),
		ratio_text(bytes, ratio(given.bytes, given.own_bytes)),
		ratio_text(split, ratio(given.splits, given.own_bios)));
	terminal_print(to, "  %-11s of the bytes:", "");
	for (size_t i = 0; i < family->nr; i++) {
		const struct span *member = family->members[i];

		if (i && !(i % 4))
			terminal_print(to, "\n  %-11s              ", "");
		terminal_print(to, " %s %s", member->disk,
			       format_share(split, (double)member->counters.flow[d].bytes_queued,
					    (double)given.bytes));
	}
	fputc('\n', to);
}

/* Files are read ahead by the disk that they are on, and by no other. */
static void text_readahead(FILE *to, const struct family *family)
{
	int64_t own = readahead_of(family, family->parent);
	char kib[UNITS_TEXT];

	if (own < 0)
		return;
	terminal_print(to, "  readahead   that of %s counts, %s (%" PRId64 " sectors), for all that is read through it; of members",
		       family->parent->disk,
		format_bytes(kib, (double)own * SECTOR_BYTES), own);
	for (size_t i = 0; i < family->nr; i++) {
		int64_t of = readahead_of(family, family->members[i]);

		if (!(i % 6))
			terminal_print(to, "\n             ");
		terminal_print(to, " %s ", family->members[i]->disk);
		if (of < 0)
			fputs("n/a", to);
		else
			terminal_print(to, "%" PRId64, of);
	}
	fputc('\n', to);
}

void print_stack_text(FILE *to, const struct recording *r, uint32_t phase)
{
	for (size_t i = 0; i < r->nr_spans; i++) {
		struct family family;

		if (r->spans[i].number != phase)
			continue;
		family = family_of(r, &r->spans[i]);
		if (!family.nr)
			continue;
		terminal_print(to, "\n%sphase %s%s  %s over its %zu members\n",
			       bold(to), family.parent->phase, plain(to),
			family.parent->disk, family.nr);
		for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
			text_direction(to, &family, d);
		text_readahead(to, &family);
	}
}

static struct json_object *direction_object(const struct family *family,
					    unsigned int d)
{
	struct json_object *object = json_new_object();
	struct given given = given_of(family, d);
	double fan = ratio(given.bios, given.own_bios);
	double bytes = ratio(given.bytes, given.own_bytes);
	double split = ratio(given.splits, given.own_bios);

	json_add_number(object, "fan_out", !isnan(fan), fan);
	json_add_number(object, "bytes_ratio", !isnan(bytes), bytes);
	json_add_number(object, "split_share", !isnan(split), split);
	return object;
}

static struct json_object *member_object(const struct family *family,
					 const struct span *member)
{
	struct json_object *object = json_new_object();
	struct json_object *shares = json_new_object();

	json_add_text(object, "disk", member->disk);
	json_add_or_null(object, "readahead_sectors",
			 readahead_of(family, member));
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		struct given given = given_of(family, d);

		if (given.bytes)
			json_add_number(shares, rt_direction_name(d), true,
					ratio(member->counters.flow[d].bytes_queued,
					      given.bytes));
	}
	json_member(object, "member_share", shares);
	return object;
}

void print_stack_json(struct json_object *to, const struct recording *r,
		      const struct span *span)
{
	struct family family = family_of(r, span);
	struct json_object *object, *directions, *members;

	if (!family.nr)
		return;
	object = json_new_object();
	directions = json_new_object();
	members = json_new_array();
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		struct given given = given_of(&family, d);

		if (given.own_bios || given.bios)
			json_member(directions, rt_direction_name(d),
				    direction_object(&family, d));
	}
	for (size_t i = 0; i < family.nr; i++)
		json_element(members, member_object(&family, family.members[i]));
	json_member(object, "directions", directions);
	json_add_or_null(object, "readahead_sectors",
			 readahead_of(&family, span));
	json_member(object, "members", members);
	json_member(to, "members", object);
}
