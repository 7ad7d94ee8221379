// SPDX-License-Identifier: GPL-2.0-or-later

/* Two recordings side by side: which spans belong together, what differs. */

#include "report/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_disk(const struct comparison *c, const char *a, const char *b)
{
	if (c->a->nr_targets == 1 && c->b->nr_targets == 1)
		return true;
	return !strcmp(a, b);
}

static bool fits(const struct comparison *c, const struct span *a,
		 const struct span *b)
{
	return !strcmp(a->phase, b->phase) && same_disk(c, a->disk, b->disk);
}

static bool is_paired(const struct comparison *c, long b)
{
	for (size_t i = 0; i < c->nr_pairs; i++)
		if (c->pairs[i].b == b)
			return true;
	return false;
}

static int pair_spans(struct comparison *c)
{
	size_t nr_a = c->a->nr_spans, nr_b = c->b->nr_spans;

	c->pairs = calloc(nr_a + nr_b + 1, sizeof(*c->pairs));
	if (!c->pairs)
		return -ENOMEM;
	for (size_t i = 0; i < nr_a; i++) {
		struct paired pair = { .a = (long)i, .b = -1 };

		for (size_t k = 0; k < nr_b && pair.b < 0; k++)
			if (fits(c, &c->a->spans[i], &c->b->spans[k]) &&
			    !is_paired(c, (long)k))
				pair.b = (long)k;
		c->pairs[c->nr_pairs++] = pair;
	}
	for (size_t k = 0; k < nr_b; k++)
		if (!is_paired(c, (long)k))
			c->pairs[c->nr_pairs++] =
				(struct paired){ .a = -1, .b = (long)k };
	return 0;
}

static const char *or_na(const char *text)
{
	return text && text[0] ? text : "n/a";
}

static bool is_imported(const struct recording *r)
{
	return recording_meta(r, "source")[0];
}

/* Which of the two is a trace that does not hold this, if just one is a trace. */
static const char *lacks(const struct comparison *c, const char *a, const char *b)
{
	if (is_imported(c->a) == is_imported(c->b))
		return NULL;
	if (is_imported(c->a))
		return a && a[0] ? NULL : "A";
	return b && b[0] ? NULL : "B";
}

/* Keep a difference, if it is one; the texts of @row are copied. */
static int add(struct comparison *c, const char *a, const char *b,
	       struct difference row)
{
	struct difference *more;

	if (!strcmp(or_na(a), or_na(b)))
		return 0;
	more = reallocarray(c->differences, c->nr_differences + 1,
			    sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->differences = more;
	row.a = strdup(or_na(a));
	row.b = strdup(or_na(b));
	more[c->nr_differences++] = row;
	return row.a && row.b ? 0 : -ENOMEM;
}

/* Facts of a recording that say what its numbers are worth. */
static const struct {
	const char *key;
	const char *why;
	const char *unknown;	/* instead of @why, where a trace does not hold it */
	bool times;
	bool alone;	/* @why holds where one of them has none, and there alone */
	bool both;	/* it holds where both have one alone */
} facts[] = {
	{ .key = "abi", .why = "counters of another ABI may mean something else" },
	{ .key = "simulated", .why = "times of the lab's model are not those of a disk: no time or rate is comparable",
	  .unknown = "one has times of the lab's model; whose the other's are is not recorded", .times = true },
	{ .key = "lab_profile", .why = "another simulated array", .both = true },
	{ .key = "source", .why = "an imported trace lacks what blktrace does not tell", .alone = true },
	{ .key = "command", .why = "another command asks for other work" },
	{ .key = "exit_status", .why = "a command that failed did not do all of its work", .both = true },
	{ .key = "end", .why = "one of them ended before its command did" },
	{ .key = "invariants", .why = "numbers that contradict each other" },
	{ .key = "machine" },
	{ .key = "hostname" },
	{ .key = "kernel" },
	{ .key = "module_version" },
	{ .key = "unavailable", .why = "counters of tracepoints that one kernel lacks" },
	{ .key = "disturbance", .why = "something else used the machine meanwhile", .both = true },
};

static const char *why_of(size_t fact, bool both, bool lacking)
{
	if (lacking && facts[fact].unknown)
		return facts[fact].unknown;
	return (both ? facts[fact].alone : facts[fact].both) ? NULL : facts[fact].why;
}

static int compare_facts(struct comparison *c)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !err; i++) {
		const char *a = recording_meta(c->a, facts[i].key);
		const char *b = recording_meta(c->b, facts[i].key);
		const char *none = facts[i].alone ? NULL : lacks(c, a, b);
		size_t before = c->nr_differences;

		err = add(c, a, b,
			  (struct difference){ .what = facts[i].key, .disk = "",
					       .why = why_of(i, a[0] && b[0], none),
					       .lacks = facts[i].unknown ? NULL : none });
		c->other_times |= facts[i].times && c->nr_differences > before;
	}
	return err;
}

/* These say what happened, not how the disk was set. */
static bool is_setting(const char *name)
{
	static const char *const others[] = { "driver_stats", "reset", "state",
					      "device",
					      "controller_events" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

static bool is_known(const struct comparison *c, const char *what,
		     const char *disk, const char *a, const char *b)
{
	for (size_t i = 0; i < c->nr_differences; i++) {
		const struct difference *known = &c->differences[i];

		if (!strcmp(known->what, what) && !strcmp(known->disk, disk) &&
		    !strcmp(known->a, or_na(a)) &&
		    !strcmp(known->b, or_na(b)))
			return true;
	}
	return false;
}

/* A setting of one disk at the begin of the spans that belong together. */
static int compare_setting(struct comparison *c, const struct span *sa,
			   const struct span *sb, const char *name)
{
	const char *a = recording_setting(c->a, sa->counters.id, name,
					  sa->counters.since_ns);
	const char *b = recording_setting(c->b, sb->counters.id, name,
					  sb->counters.since_ns);

	if (!is_setting(name) || is_known(c, name, sa->disk, a, b))
		return 0;
	return add(c, a, b, (struct difference){ .what = name, .disk = sa->disk,
						 .lacks = lacks(c, a, b) });
}

static int compare_settings(struct comparison *c, const struct paired *pair)
{
	const struct recording *const both[] = { c->a, c->b };
	int err = 0;

	for (size_t r = 0; r < 2; r++)
		for (size_t i = 0; i < both[r]->nr_settings && !err; i++)
			err = compare_setting(c, &c->a->spans[pair->a],
					      &c->b->spans[pair->b],
					      both[r]->settings[i].name);
	return err;
}

static int compare_number(struct comparison *c, const char *what,
			  const char *disk, uint64_t a, uint64_t b)
{
	char of_a[24], of_b[24];

	snprintf(of_a, sizeof(of_a), "%" PRIu64, a);
	snprintf(of_b, sizeof(of_b), "%" PRIu64, b);
	return add(c, of_a, of_b, (struct difference){ .what = what,
						       .disk = disk });
}

static int compare_target(struct comparison *c, const struct rt_target *a,
			  const struct rt_target *b)
{
	const char *const texts[][3] = {
		{ "disk", a->disk, b->disk },
		{ "driver", a->driver, b->driver },
		{ "pci", a->pci, b->pci },
	};
	int err = 0;

	if (a->name_only || b->name_only)
		return 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !err; i++)
		err = add(c, texts[i][1], texts[i][2],
			  (struct difference){ .what = texts[i][0],
					       .disk = a->disk });
	if (!err)
		err = compare_number(c, "capacity_sectors", a->disk,
				     a->capacity_sectors, b->capacity_sectors);
	if (!err)
		err = compare_number(c, "max_sectors", a->disk, a->max_sectors,
				     b->max_sectors);
	return err;
}

static int compare_targets(struct comparison *c)
{
	int err = 0;

	for (size_t i = 0; i < c->a->nr_targets; i++)
		for (size_t k = 0; k < c->b->nr_targets && !err; k++)
			if (same_disk(c, c->a->targets[i].disk,
				      c->b->targets[k].disk))
				err = compare_target(c, &c->a->targets[i],
						     &c->b->targets[k]);
	return err;
}

int compare(const struct recording *a, const struct recording *b,
	    struct comparison *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->a = a;
	ret->b = b;
	err = pair_spans(ret);
	if (!err)
		err = compare_facts(ret);
	if (!err)
		err = compare_targets(ret);
	for (size_t i = 0; i < ret->nr_pairs && !err; i++)
		if (ret->pairs[i].a >= 0 && ret->pairs[i].b >= 0)
			err = compare_settings(ret, &ret->pairs[i]);
	return err;
}

void compare_free(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->nr_differences; i++) {
		free(comparison->differences[i].a);
		free(comparison->differences[i].b);
	}
	free(comparison->pairs);
	free(comparison->differences);
	memset(comparison, 0, sizeof(*comparison));
}
