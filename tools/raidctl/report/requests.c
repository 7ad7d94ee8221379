// SPDX-License-Identifier: GPL-2.0-or-later

/* Requests one by one, as text, CSV and JSON. */

#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "format/format.h"

#define NUMBER	24

int requests_add(struct requests *requests, const struct rt_ended *ended, size_t nr)
{
	struct rt_ended *more = reallocarray(requests->ended, requests->nr + nr, sizeof(*more));

	if (!more)
		return -ENOMEM;
	memcpy(more + requests->nr, ended, nr * sizeof(*ended));
	requests->ended = more;
	requests->nr += nr;
	return 0;
}

/* Number of requests that were lost before this one. */
static uint64_t nr_lost_before(const struct requests *requests, size_t i)
{
	return i ? requests->ended[i].number - requests->ended[i - 1].number - 1 : 0;
}

static void submitter_text(char *ret, size_t size, const struct rt_ended *e)
{
	if (!e->known)
		snprintf(ret, size, "-");
	else if (e->comm[0])
		snprintf(ret, size, "%s", e->comm);
	else
		snprintf(ret, size, "pid %" PRIu32, e->pid);
}

/* The class of a request; NULL if no group counts classes. */
static const char *class_of(const struct requests *requests, const struct rt_ended *e)
{
	return requests->classes ? rt_class_name(e->class_) : NULL;
}

static void line(FILE *to, const struct rt_ended *e, const char *class_, uint64_t origin_ns)
{
	char before[UNITS_TEXT], q2d[UNITS_TEXT] = "-", d2c[UNITS_TEXT], bytes[UNITS_TEXT], process[16];
	char sector[NUMBER] = "-";

	if (e->sector != RT_NO_SECTOR)
		snprintf(sector, sizeof(sector), "%" PRIu64, e->sector);
	if (e->queued_ns && e->queued_ns <= e->issued_ns)
		format_ns(q2d, (double)(e->issued_ns - e->queued_ns));
	format_ns(before, (double)(origin_ns - e->completed_ns));
	format_ns(d2c, (double)(e->completed_ns - e->issued_ns));
	format_bytes(bytes, e->bytes);
	submitter_text(process, sizeof(process), e);
	terminal_print(to, "%7s %7s %7s %5" PRIu32 " %-5.5s %10s %8s %-9s %c%c %.11s\n",
		       before, q2d, d2c, e->depth, rt_direction_name(e->direction), sector, bytes,
		       class_ ? class_ : "n/a", e->error ? 'F' : '-', e->again ? 'A' : '-', process);
}

void requests_text(FILE *to, const struct requests *requests, size_t first, const char *disk)
{
	if (!requests->nr) {
		terminal_print(to, "%s: no request was kept since it was attached (counted by %s)\n", disk,
			       requests->source);
		return;
	}
	terminal_print(to, "%s%7s %7s %7s %5s %-5s %10s %8s %-9s %2s %s%s\n", bold(to), "before", "q2d",
		       "d2c", "depth", "", "sector", "data", "class", "", "who", plain(to));
	for (size_t i = first; i < requests->nr; i++) {
		uint64_t lost = i > first ? nr_lost_before(requests, i) : 0;

		if (lost)
			terminal_print(to, "%7s %" PRIu64 " requests were lost here\n", "", lost);
		line(to, &requests->ended[i], class_of(requests, &requests->ended[i]),
		     requests->ended[requests->nr - 1].completed_ns);
	}
	if (requests->has_awaited)
		terminal_print(to, "The last request is the one that tail waited for.\n");
	terminal_print(to, "Counted by %s.\n", requests->source);
	if (lab_has_devices())
		terminal_print(to, "Simulated: this machine is a guest of the lab.\n");
}

static const char *const names[] = {
	"number", "queued_ns", "inserted_ns", "issued_ns", "completed_ns", "sector", "bytes",
	"direction", "class", "depth", "pid", "comm", "error", "again",
};

enum { NR = sizeof(names) / sizeof(names[0]) };

void requests_csv_names(FILE *to)
{
	csv_row(to, NR, names);
}

void requests_csv(FILE *to, const struct requests *requests, size_t first)
{
	for (size_t i = first; i < requests->nr; i++) {
		const struct rt_ended *e = &requests->ended[i];
		const uint64_t numbers[] = { e->number, e->queued_ns, e->inserted_ns, e->issued_ns,
					     e->completed_ns, e->sector, e->bytes };
		char text[7][NUMBER], depth[NUMBER], pid[NUMBER];
		const char *fields[NR];

		for (size_t k = 0; k < 7; k++) {
			snprintf(text[k], NUMBER, "%" PRIu64, numbers[k]);
			/* A time of 0 is not known. */
			fields[k] = numbers[k] || k > 4 ? text[k] : NULL;
		}
		if (e->sector == RT_NO_SECTOR)
			fields[5] = NULL;
		snprintf(depth, sizeof(depth), "%" PRIu32, e->depth);
		snprintf(pid, sizeof(pid), "%" PRIu32, e->pid);
		fields[7] = rt_direction_name(e->direction);
		fields[8] = class_of(requests, e);
		fields[9] = depth;
		fields[10] = e->known ? pid : NULL;
		fields[11] = e->known && e->comm[0] ? e->comm : NULL;
		fields[12] = e->error ? "1" : "0";
		fields[13] = e->again ? "1" : "0";
		csv_row(to, NR, fields);
	}
}

static void add_moment(struct json_object *to, const char *key, uint64_t ns)
{
	json_add_known(to, key, !ns, ns);
}

static struct json_object *object_of(const struct rt_ended *e, const char *class_)
{
	struct json_object *object = json_new_object();

	json_add_count(object, "number", e->number);
	add_moment(object, "queued_ns", e->queued_ns);
	add_moment(object, "inserted_ns", e->inserted_ns);
	add_moment(object, "issued_ns", e->issued_ns);
	add_moment(object, "completed_ns", e->completed_ns);
	json_add_known(object, "sector", e->sector == RT_NO_SECTOR, e->sector);
	json_add_count(object, "bytes", e->bytes);
	json_add_text(object, "direction", rt_direction_name(e->direction));
	json_add_text(object, "class", class_);
	json_add_count(object, "depth", e->depth);
	json_add_known(object, "pid", !e->known, e->pid);
	json_add_text(object, "comm", e->known && e->comm[0] ? e->comm : NULL);
	json_add_bool(object, "error", e->error);
	json_add_bool(object, "again", e->again);
	return object;
}

void requests_json(FILE *to, const struct requests *requests, size_t first, const char *disk)
{
	struct json_object *root = json_new_object(), *array = json_new_array();
	uint64_t lost = 0;

	for (size_t i = first; i < requests->nr; i++) {
		json_element(array, object_of(&requests->ended[i], class_of(requests, &requests->ended[i])));
		lost += i > first ? nr_lost_before(requests, i) : 0;
	}
	json_add_text(root, "disk", disk);
	json_add_bool(root, "simulated", lab_has_devices());
	json_add_bool(root, "ended", requests->has_awaited);
	json_add_count(root, "lost", lost);
	json_add_text(root, "source", requests->source);
	losses_json(root, &requests->losses);
	json_member(root, "requests", array);
	json_finish(to, root);
}
