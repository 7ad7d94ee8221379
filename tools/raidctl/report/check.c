// SPDX-License-Identifier: GPL-2.0-or-later

/* Findings of raidctl check: text for people, JSON for programs. */

#include "report/sections.h"

#include <json-c/json.h>
#include <string.h>

#include "base/units.h"
#include "format/json.h"
#include "base/terminal.h"
#include "format/wrap.h"

#define COLUMN	38	/* where what was seen begins */

void text_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr)
{
	size_t count[NR_VERDICTS] = { 0 };

	if (facts->simulated)
		terminal_print(to, "simulated: this machine is a guest of the lab\n");
	terminal_print(to, "%s%-14s %-13s %-8s %s%s\n", bold(to), "VERDICT", "RULE",
		       "DISK", "SEEN", plain(to));
	for (size_t i = 0; i < nr; i++) {
		const struct finding *f = &findings[i];
		bool good = f->verdict == VERDICT_PASS;

		count[f->verdict]++;
		terminal_print(to, "%s%-14s%s %-13s %-8s ", good ? "" : bold(to),
			       verdict_name(f->verdict), good ? "" : plain(to),
			f->rule->name, f->disk[0] ? f->disk : "-");
		print_wrapped(to, f->seen, COLUMN);
		if (f->remedy[0]) {
			terminal_print(to, "%*s-> ", COLUMN, "");
			print_wrapped(to, f->remedy, COLUMN + 3);
		}
		if (f->verdict == VERDICT_WARN || f->verdict == VERDICT_FAIL)
			print_labelled(to, COLUMN, "", "(%s)", f->rule->why);
	}
	terminal_print(to, "%zu pass, %zu warn, %zu fail, %zu not available; activity of %.1f s\n",
		       count[VERDICT_PASS], count[VERDICT_WARN], count[VERDICT_FAIL],
		count[VERDICT_UNKNOWN], facts->seconds);
	if (count[VERDICT_WARN] + count[VERDICT_FAIL])
		fputs("What a remedy gains only an experiment tells: raidctl why --disk DISK -- COMMAND\n", to);
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	json_member(to, key,
		    text[0] ? json_new_string(text) : NULL);
}

static struct json_object *finding_object(const struct finding *f)
{
	struct json_object *object = json_new_object();

	add_text(object, "rule", f->rule->name);
	add_text(object, "why", f->rule->why);
	add_text(object, "disk", f->disk);
	add_text(object, "verdict", verdict_name(f->verdict));
	json_member(object, "value",
		    f->measured ? json_new_double(f->value) :
					     NULL);
	add_text(object, "unit", f->unit);
	add_text(object, "seen", f->seen);
	add_text(object, "remedy", f->remedy);
	return object;
}

void json_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr)
{
	struct json_object *object = json_new_object();
	struct json_object *array = json_new_array();
	size_t count[NR_VERDICTS] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		count[findings[i].verdict]++;
		json_element(array, finding_object(&findings[i]));
	}
	json_member(object, "simulated",
		    json_new_boolean(facts->simulated));
	add_text(object, "lab_profile", facts->profile);
	json_member(object, "activity_seconds",
		    json_new_double(facts->seconds));
	for (enum verdict v = 0; v < NR_VERDICTS; v++)
		json_member(object, v == VERDICT_UNKNOWN ?
				       "not_available" : verdict_name(v),
				       json_new_uint64(count[v]));
	json_member(object, "findings", array);
	json_finish(to, object);
}
