// SPDX-License-Identifier: GPL-2.0-or-later

/* What a recording holds beside the disks, as text and as JSON. */

#include "report/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/units.h"
#include "format/wrap.h"
#include "format/json.h"

/* Disturbances that text names; the others are counted. */
#define NR_NAMED	8

static const char *disk_name(const struct recording *r, uint32_t target)
{
	for (size_t i = 0; i < r->nr_targets; i++)
		if (r->targets[i].id == target)
			return r->targets[i].disk;
	return "?";
}

static void text_stack(FILE *to, const struct recording *r)
{
	const struct besides *b = &r->besides;
	uint32_t parent = 0;

	for (size_t i = 0; i < b->nr_stacked; i++) {
		if (b->stacked[i].parent != parent)
			terminal_print(to, "%s%s is made of",
				       i ? "\n           " : "stack      ",
				disk_name(r, b->stacked[i].parent));
		parent = b->stacked[i].parent;
		terminal_print(to, " %s", disk_name(r, b->stacked[i].target));
	}
	if (b->nr_stacked)
		fputc('\n', to);
}

static void text_disturbances(FILE *to, const struct recording *r, bool verbose)
{
	const char *verdict = recording_meta(r, "disturbance");
	uint64_t begin = strtoull(recording_meta(r, "start_ns"), NULL, 10);
	const struct besides *b = &r->besides;

	if (!strcmp(verdict, "quiet")) {
		if (verbose)
			print_labelled(to, LABEL_WIDTH, "quiet", "nothing disturbed; watched: %s",
				       recording_meta(r, "watched"));
		return;
	}
	for (size_t i = 0; i < b->nr_disturbances && i < NR_NAMED; i++) {
		const struct disturbance *what = &b->disturbances[i];
		uint64_t start = what->start_ns > begin ?
				 what->start_ns - begin : 0;

		print_labelled(to, LABEL_WIDTH, i ? "" : "disturbed", "%.1f s to %.1f s: %s",
			       (double)start / 1e9,
			       (double)(what->end_ns - begin) / 1e9, what->text);
	}
	if (b->nr_disturbances > NR_NAMED)
		terminal_print(to, "           and %zu more; all of them: raidctl report --json\n",
			       b->nr_disturbances - NR_NAMED);
}

void besides_text(FILE *to, const struct recording *r, bool verbose)
{
	for (size_t i = 0; i < r->besides.nr_notes; i++)
		print_labelled(to, LABEL_WIDTH, "note", "%s", r->besides.notes[i].text);
	text_stack(to, r);
	text_disturbances(to, r, verbose);
}

/* Nothing is said of processors where simulated time makes them free. */
static void text_cpu(FILE *to, const struct besides *b, uint32_t phase)
{
	static const char *const shown[] = {
		"user", "system", "iowait", "irq", "softirq", "steal", "idle",
	};
	int64_t all = 0, busy = 0;

	for (size_t i = 0; i < b->nr_sums; i++) {
		const struct host_sum *sum = &b->sums[i];

		if (sum->phase != phase || strcmp(sum->source, "cpu") ||
		    !strncmp(sum->name, "guest", 5))
			continue;
		all += sum->value;
		if (strcmp(sum->name, "idle") && strcmp(sum->name, "iowait"))
			busy += sum->value;
	}
	if (!busy)
		return;
	fputs("  processors ", to);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		int64_t value = besides_sum(b, phase, "cpu", shown[i]);
		char share[UNITS_TEXT];

		if (value)
			terminal_print(to, " %s %s,", shown[i],
				       format_share(share, (double)value, (double)all));
	}
	terminal_print(to, " command %.2f s of one\n",
		       (double)besides_sum(b, phase, "command", "cpu") / 1e9);
}

void besides_phase_text(FILE *to, const struct recording *r, uint32_t phase)
{
	const struct besides *b = &r->besides;
	int64_t rchar = besides_sum(b, phase, "command", "rchar");
	int64_t wchar = besides_sum(b, phase, "command", "wchar");
	int64_t read = besides_sum(b, phase, "command", "read_bytes");
	char text[4][UNITS_TEXT];

	text_cpu(to, b, phase);
	if (!strstr(recording_meta(r, "host_available"), "command-io") ||
	    (!rchar && !wchar))
		return;
	format_bytes(text[0], (double)rchar);
	format_bytes(text[1], (double)read);
	format_bytes(text[2], (double)wchar);
	/* More where readahead fetched what nobody read. */
	terminal_print(to, "  command     read %s, %s %sfrom disks", text[0], text[1],
		       rchar >= read ? "of it " : "");
	if (rchar > read)
		terminal_print(to, ", cache hits %s (%s)",
			       format_bytes(text[3], (double)(rchar - read)),
			format_share(text[1], (double)(rchar - read),
				     (double)rchar));
	terminal_print(to, "; wrote %s\n", text[2]);
}

static struct json_object *disturbances_array(const struct besides *b)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < b->nr_disturbances; i++) {
		const struct disturbance *what = &b->disturbances[i];
		struct json_object *object = json_new_object();

		json_add_text(object, "kind", what->kind);
		json_add_text(object, "subject", what->subject);
		json_add_count(object, "start_ns", what->start_ns);
		json_add_count(object, "end_ns", what->end_ns);
		json_add_text(object, "unit", what->unit);
		json_member(object, "value",
			    json_new_int64(what->value));
		json_add_text(object, "text", what->text);
		json_element(array, object);
	}
	return array;
}

static struct json_object *host_array(const struct besides *b)
{
	struct json_object *array = json_new_array();

	for (size_t i = 0; i < b->nr_sums; i++) {
		struct json_object *object = json_new_object();

		json_add_count(object, "phase_number", b->sums[i].phase);
		json_add_text(object, "source", b->sums[i].source);
		json_add_text(object, "name", b->sums[i].name);
		json_member(object, "value",
			    json_new_int64(b->sums[i].value));
		json_element(array, object);
	}
	return array;
}

void besides_json(struct json_object *to, const struct recording *r)
{
	const struct besides *b = &r->besides;
	struct json_object *notes = json_new_array();
	struct json_object *stack = json_new_array();

	for (size_t i = 0; i < b->nr_notes; i++)
		json_element(notes,
			     json_new_string(b->notes[i].text));
	for (size_t i = 0; i < b->nr_stacked; i++) {
		struct json_object *object = json_new_object();

		json_add_text(object, "disk",
			      disk_name(r, b->stacked[i].target));
		json_add_text(object, "parent",
			      disk_name(r, b->stacked[i].parent));
		json_element(stack, object);
	}
	json_member(to, "notes", notes);
	json_member(to, "stack", stack);
	json_member(to, "disturbances", disturbances_array(b));
	json_member(to, "host", host_array(b));
}
