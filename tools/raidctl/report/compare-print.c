// SPDX-License-Identifier: GPL-2.0-or-later

/* Two recordings side by side, as text for people and as JSON. */

#include "report/compare-print.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "format/json.h"
#include "base/terminal.h"
#include "format/wrap.h"
#include "numbers/quantity.h"
#include "numbers/stats.h"
#include "report/compare-groups.h"
#include "report/compare.h"

/* One of them is n/a, or their quotient says nothing. */
static bool has_ratio(const struct comparison *c, const struct quantity *q,
		      double a, double b)
{
	return !isnan(a) && !isnan(b) && a > 0 && !(q->timed && c->other_times);
}

static const char *why_not(const struct comparison *c, const struct quantity *q,
			   double a, double b)
{
	if (isnan(a) && isnan(b))
		return "not available in either";
	if (isnan(a))
		return "not available in A";
	if (isnan(b))
		return "not available in B";
	if (q->timed && c->other_times)
		return "other times";
	return NULL;
}

static char *ratio_text(char *ret, const struct quantity *q, double ratio)
{
	snprintf(ret, UNITS_TEXT, "%s%.*f", q->bin ? "~" : "", ratio < 1000 ? 3 : 0, ratio);
	return ret;
}

/* From this ratio on per cent say nothing more. */
#define MANY_TIMES	100

void compare_text_quantity(FILE *to, const struct comparison *c,
			  const struct quantity *q, double a, double b)
{
	char of_a[UNITS_TEXT], of_b[UNITS_TEXT], ratio[UNITS_TEXT];
	const char *why = why_not(c, q, a, b);

	terminal_print(to, "    %-22s %14s %14s", q->label,
		quantity_text(of_a, q, a), quantity_text(of_b, q, b));
	if (why)
		terminal_print(to, " %s\n", why);
	else if (a == b && a > 0)
		terminal_print(to, " %10s %12s\n", "1.000", "equal");
	else if (has_ratio(c, q, a, b) && b / a >= MANY_TIMES)
		terminal_print(to, " %10s\n", ratio_text(ratio, q, b / a));
	else if (has_ratio(c, q, a, b))
		terminal_print(to, " %10s %+10.1f %%\n",
			ratio_text(ratio, q, b / a), 100 * (b - a) / a);
	else
		terminal_print(to, " %10s %12s\n", "A is 0", a == b ? "equal" : "n/a");
}

static bool happened(const struct rt_counters *c, unsigned int direction)
{
	return !flow_is_idle(&c->flow[direction]);
}

static void text_direction(FILE *to, const struct comparison *c,
			   const struct rt_counters *a,
			   const struct rt_counters *b, unsigned int direction)
{
	terminal_print(to, "  %s%s%s\n", bold(to), rt_direction_name(direction),
		plain(to));
	for (size_t i = 0; i < nr_quantities; i++) {
		const struct quantity *q = &quantities[i];
		double of_a = quantity_of(q, a, direction);
		double of_b = quantity_of(q, b, direction);

		/* Nothing in both is not worth a line. */
		if ((of_a == 0 && of_b == 0) || (isnan(of_a) && isnan(of_b)))
			continue;
		compare_text_quantity(to, c, q, of_a, of_b);
	}
}

static void text_pair(FILE *to, const struct comparison *c,
		      const struct paired *pair)
{
	const struct span *a = &c->a->spans[pair->a];
	const struct span *b = &c->b->spans[pair->b];
	static const struct quantity length = {
		.label = "length", .unit = QUANTITY_NS, .timed = true,
	};

	terminal_print(to, "\n%sphase %s%s  %s%s%s\n", bold(to), a->phase, plain(to),
		a->disk, strcmp(a->disk, b->disk) ? " and " : "",
		strcmp(a->disk, b->disk) ? b->disk : "");
	terminal_print(to, "    %-22s %14s %14s %10s %12s\n", "", "A", "B", "B / A",
		"(B - A) / A");
	compare_text_quantity(to, c, &length,
		      (double)(a->counters.now_ns - a->counters.since_ns),
		      (double)(b->counters.now_ns - b->counters.since_ns));
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		if (happened(&a->counters, d) || happened(&b->counters, d))
			text_direction(to, c, &a->counters, &b->counters, d);
	compare_text_groups(to, c, &a->counters, &b->counters);
}

/* Where a column would cut values short they have lines of their own. */
#define VALUE_WIDTH	21

static void text_difference(FILE *to, const struct difference *d)
{
	char what[64];

	snprintf(what, sizeof(what), "%s%s%s", d->disk, d->disk[0] ? " " : "",
		 d->what);
	if (strlen(d->a) <= VALUE_WIDTH && strlen(d->b) <= VALUE_WIDTH) {
		terminal_print(to, "%-36.36s %*s %*s\n", what, VALUE_WIDTH, d->a,
			VALUE_WIDTH, d->b);
	} else {
		terminal_print(to, "%s\n  A: ", what);
		print_wrapped(to, d->a, 5);
		fputs("  B: ", to);
		print_wrapped(to, d->b, 5);
	}
	if (d->why) {
		fputs("  not comparable: ", to);
		print_wrapped(to, d->why, 18);
	}
}

/* What a trace does not hold is no difference: names of facts, and how many settings. */
static void text_lacking(FILE *to, const struct comparison *c)
{
	char names[512] = "";
	const char *which = NULL;
	size_t nr = 0, used = 0;

	for (size_t i = 0; i < c->nr_differences; i++) {
		const struct difference *d = &c->differences[i];

		if (!d->lacks)
			continue;
		which = d->lacks;
		if (d->disk[0])
			nr++;
		else if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s, ",
						 d->what);
	}
	if (which && nr)
		print_labelled(to, 2, "", "not recorded in %s, an imported trace: %ssettings (%zu; --json has them)",
			       which, names, nr);
	else if (which)
		print_labelled(to, 2, "", "not recorded in %s, an imported trace: %.*s",
			       which, (int)strlen(names) - 2, names);
}

static void text_differences(FILE *to, const struct comparison *c)
{
	if (!c->nr_differences) {
		fputs("Machine, command and settings are the same.\n", to);
		return;
	}
	terminal_print(to, "%s%-36s %*s %*s%s\n", bold(to), "what differs",
		VALUE_WIDTH, "A", VALUE_WIDTH, "B", plain(to));
	for (size_t i = 0; i < c->nr_differences; i++)
		if (!c->differences[i].lacks)
			text_difference(to, &c->differences[i]);
	text_lacking(to, c);
}

/* Around the phases that a program names it is enough to know of it. */
static bool is_outside(const struct span *span)
{
	return !strcmp(span->phase, PHASE_OUTSIDE);
}

static void text_alone(FILE *to, const struct span *span, const char *where)
{
	if (!is_outside(span))
		terminal_print(to, "\nphase %s  %s: only in %s, nothing to compare with\n",
			span->phase, span->disk, where);
}

void text_comparison(FILE *to, const struct comparison *c)
{
	terminal_print(to, "%sA%s  %s\n%sB%s  %s\n", bold(to), plain(to), c->a->path,
		bold(to), plain(to), c->b->path);
	text_differences(to, c);
	for (size_t i = 0; i < c->nr_pairs; i++) {
		const struct paired *pair = &c->pairs[i];

		if (pair->b < 0)
			text_alone(to, &c->a->spans[pair->a], "A");
		else if (pair->a < 0)
			text_alone(to, &c->b->spans[pair->b], "B");
		else if (!is_outside(&c->a->spans[pair->a]))
			text_pair(to, c, pair);
	}
}

struct json_object *compare_quantity(const struct comparison *c,
					   const struct quantity *q, double a,
					   double b)
{
	struct json_object *object = json_new_object();

	json_add_number(object, "a", !isnan(a), a);
	json_add_number(object, "b", !isnan(b), b);
	json_add_number(object, "ratio", has_ratio(c, q, a, b), b / a);
	json_add_text(object, "not_comparable", why_not(c, q, a, b));
	return object;
}

static struct json_object *direction_object(const struct comparison *c,
					    const struct rt_counters *a,
					    const struct rt_counters *b,
					    unsigned int direction)
{
	struct json_object *object = json_new_object();

	for (size_t i = 0; i < nr_quantities; i++)
		json_member(
			object, quantities[i].name,
			compare_quantity(c, &quantities[i],
					quantity_of(&quantities[i], a, direction),
					quantity_of(&quantities[i], b, direction)));
	return object;
}

static struct json_object *pair_object(const struct comparison *c,
				       const struct paired *pair)
{
	const struct span *a = pair->a < 0 ? NULL : &c->a->spans[pair->a];
	const struct span *b = pair->b < 0 ? NULL : &c->b->spans[pair->b];
	struct json_object *object = json_new_object();
	struct json_object *directions = json_new_object();

	json_add_text(object, "phase", a ? a->phase : b->phase);
	json_add_text(object, "disk_a", a ? a->disk : NULL);
	json_add_text(object, "disk_b", b ? b->disk : NULL);
	for (unsigned int d = 0; a && b && d < RAIDTRACE_DIRECTION_ALL; d++)
		if (happened(&a->counters, d) || happened(&b->counters, d))
			json_member(directions, rt_direction_name(d),
					       direction_object(c, &a->counters,
								&b->counters, d));
	json_member(object, "directions", directions);
	if (a && b)
		compare_groups(object, c, &a->counters, &b->counters);
	return object;
}

void json_comparison(FILE *to, const struct comparison *c)
{
	struct json_object *object = json_new_object();
	struct json_object *differences = json_new_array();
	struct json_object *spans = json_new_array();

	json_add_text(object, "a", c->a->path);
	json_add_text(object, "b", c->b->path);
	for (size_t i = 0; i < c->nr_differences; i++) {
		struct json_object *row = json_new_object();

		json_add_text(row, "what", c->differences[i].what);
		json_add_text(row, "disk", c->differences[i].disk);
		json_add_text(row, "a", c->differences[i].a);
		json_add_text(row, "b", c->differences[i].b);
		json_add_text(row, "not_comparable", c->differences[i].why);
		json_add_text(row, "not_recorded_in", c->differences[i].lacks);
		json_element(differences, row);
	}
	json_member(object, "differences", differences);
	for (size_t i = 0; i < c->nr_pairs; i++)
		json_element(spans, pair_object(c, &c->pairs[i]));
	json_member(object, "spans", spans);
	json_finish(to, object);
}
