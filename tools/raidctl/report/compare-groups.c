// SPDX-License-Identifier: GPL-2.0-or-later

/* Two spans side by side: what has no direction. */

#include "report/compare-groups.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/terminal.h"
#include "numbers/quantity-groups.h"

#define SUBMITTERS	8	/* in the text; more say little */

/* Nothing in both is not worth a line. */
static bool worth(double a, double b)
{
	return !((isnan(a) && isnan(b)) || (a == 0 && b == 0));
}

/* Whatever it is that a table of quantities is of, in both spans. */
struct both {
	const struct comparison *c;
	const struct rt_counters *a;
	const struct rt_counters *b;
};

/* Lines of a table below a heading, which is left out with them. */
static void text_table(FILE *to, const struct both *both, const char *heading,
		       const struct quantity *table, size_t nr,
		       unsigned int index)
{
	bool any = false;

	for (size_t i = 0; i < nr; i++) {
		double a = table[i].value(both->a, index);
		double b = table[i].value(both->b, index);

		if (!worth(a, b))
			continue;
		if (!any)
			terminal_print(to, "  %s%s%s\n", bold(to), heading, plain(to));
		any = true;
		compare_text_quantity(to, both->c, &table[i], a, b);
	}
}

static void text_blame(FILE *to, const struct both *both)
{
	for (unsigned int i = 0; i < RT_CLASSES * RT_CLASSES; i++) {
		unsigned int from = i / RT_CLASSES, where = i % RT_CLASSES;
		double a = blame_seeks(both->a, from, where);
		double b = blame_seeks(both->b, from, where);

		if (!worth(a, b))
			continue;
		terminal_print(to, "  %sfrom %s to %s%s\n", bold(to),
			rt_class_name(from), rt_class_name(where), plain(to));
		compare_text_quantity(to, both->c, &seeks_quantity, a, b);
	}
}

/* The name of a row, NULL for those that found the table full. */
static const char *name_of(const struct rt_submitter *s)
{
	return s->rest ? NULL : s->comm;
}

static bool same_name(const struct rt_submitter *a, const struct rt_submitter *b)
{
	return a->rest == b->rest && (a->rest || !strcmp(a->comm, b->comm));
}

/* Is there a row of that name before this one, in A and then in B? */
static bool said(const struct both *both, const struct rt_counters *c, size_t i)
{
	const struct rt_submitter *s = &c->submitters[i];

	for (size_t k = 0; k < both->a->nr_submitters; k++)
		if ((c != both->a || k < i) &&
		    same_name(&both->a->submitters[k], s))
			return true;
	for (size_t k = 0; c == both->b && k < i; k++)
		if (same_name(&c->submitters[k], s))
			return true;
	return false;
}

/* Each name of either once; @each returns false to end it. */
static void each_submitter(const struct both *both,
			   bool (*each)(void *data, const struct both *both,
					const char *name),
			   void *data)
{
	const struct rt_counters *const spans[] = { both->a, both->b };

	for (size_t r = 0; r < 2; r++)
		for (size_t i = 0; i < spans[r]->nr_submitters; i++)
			if (!said(both, spans[r], i) &&
			    !each(data, both,
				  name_of(&spans[r]->submitters[i])))
				return;
}

struct submitter_text {
	FILE *to;
	unsigned int nr;
};

static bool text_submitter(void *data, const struct both *both,
			   const char *name)
{
	struct submitter_text *text = data;

	if (text->nr++ == SUBMITTERS) {
		fputs("  further processes: --json has them\n", text->to);
		return false;
	}
	terminal_print(text->to, "  %ssubmitter %s%s\n", bold(text->to),
		name ? name : "all others", plain(text->to));
	for (size_t i = 0; i < nr_submitter_quantities; i++) {
		double a = submitter_quantity(both->a, name, i);
		double b = submitter_quantity(both->b, name, i);

		if (worth(a, b))
			compare_text_quantity(text->to, both->c,
					      &submitter_quantities[i], a, b);
	}
	return true;
}

static void text_places(FILE *to, const struct both *both)
{
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++) {
		double apart = places_apart(both->a, both->b, d);
		char text[UNITS_TEXT];

		if (!isnan(apart))
			terminal_print(to, "  %sby place%s  %s: %s of the bytes lie elsewhere\n",
				bold(to), plain(to), rt_direction_name(d),
				quantity_text(text, &places_quantity, apart));
	}
}

void compare_text_groups(FILE *to, const struct comparison *c,
			 const struct rt_counters *a,
			 const struct rt_counters *b)
{
	const struct both both = { c, a, b };
	struct submitter_text text = { to, 0 };
	char heading[32];

	text_table(to, &both, "disk", disk_quantities, nr_disk_quantities, 0);
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
		snprintf(heading, sizeof(heading), "class %s",
			 rt_class_name(i));
		text_table(to, &both, heading, class_quantities,
			   nr_class_quantities, i);
	}
	text_blame(to, &both);
	each_submitter(&both, text_submitter, &text);
	text_places(to, &both);
}

static struct json_object *table_object(const struct both *both,
					const struct quantity *table, size_t nr,
					unsigned int index)
{
	struct json_object *object = json_new_object();

	for (size_t i = 0; i < nr; i++)
		json_member(object, table[i].name,
			    compare_quantity(both->c, &table[i],
					     table[i].value(both->a, index),
					     table[i].value(both->b, index)));
	return object;
}

static struct json_object *blame_array(const struct both *both)
{
	struct json_object *array = json_new_array();

	for (unsigned int i = 0; i < RT_CLASSES * RT_CLASSES; i++) {
		unsigned int from = i / RT_CLASSES, where = i % RT_CLASSES;
		double a = blame_seeks(both->a, from, where);
		double b = blame_seeks(both->b, from, where);
		struct json_object *row;

		if (!worth(a, b))
			continue;
		row = json_new_object();
		json_add_text(row, "from", rt_class_name(from));
		json_add_text(row, "to", rt_class_name(where));
		json_member(row, "seeks",
			    compare_quantity(both->c, &seeks_quantity, a, b));
		json_element(array, row);
	}
	return array;
}

static bool add_submitter(void *data, const struct both *both, const char *name)
{
	struct json_object *row = json_new_object();

	json_add_text(row, "comm", name);
	for (size_t i = 0; i < nr_submitter_quantities; i++)
		json_member(row, submitter_quantities[i].name,
			    compare_quantity(both->c, &submitter_quantities[i],
					     submitter_quantity(both->a, name, i),
					     submitter_quantity(both->b, name, i)));
	json_element(data, row);
	return true;
}

void compare_groups(struct json_object *to, const struct comparison *c,
		    const struct rt_counters *a, const struct rt_counters *b)
{
	const struct both both = { c, a, b };
	struct json_object *origin = json_new_object();
	struct json_object *submitters = json_new_array();
	struct json_object *places = json_new_object();

	json_member(to, "disk_counters",
		    table_object(&both, disk_quantities, nr_disk_quantities, 0));
	for (unsigned int i = 0; i < RT_CLASSES; i++)
		json_member(origin, rt_class_name(i),
			    table_object(&both, class_quantities,
					 nr_class_quantities, i));
	json_member(to, "origin", origin);
	json_member(to, "blame", blame_array(&both));
	each_submitter(&both, add_submitter, submitters);
	json_member(to, "submitters", submitters);
	for (unsigned int d = 0; d <= RAIDTRACE_DIRECTION_WRITE; d++) {
		double apart = places_apart(a, b, d);

		json_add_number(places, rt_direction_name(d), !isnan(apart),
				apart);
	}
	json_member(to, "elsewhere_share", places);
}
