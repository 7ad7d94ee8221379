// SPDX-License-Identifier: GPL-2.0-or-later

/* A blktrace trace as a recording. */

#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "format/format.h"
#include "version.h"

/* Samples that are written in one transaction. */
#define SAMPLES_PER_COMMIT	512

static void keep_process(struct blktrace_record *r, const struct blktrace_note *note)
{
	char name[BLKTRACE_PROCESS_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)note->len, note->text);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	for (size_t i = 0; i < r->nr_processes; i++)
		if (!strcmp(r->processes[i], name))
			return;
	if (name[0] && r->nr_processes < BLKTRACE_PROCESSES)
		memcpy(r->processes[r->nr_processes++], name, sizeof(name));
}

int blktrace_record_note(void *data, const struct blktrace_event *event,
			 const struct blktrace_note *note)
{
	struct blktrace_record *r = data;

	switch (note->kind) {
	case BLKTRACE_NOTE_PROCESS:
		keep_process(r, note);
		return 0;
	case BLKTRACE_NOTE_TIMESTAMP:
		if (!r->wall_ns) {
			r->wall_ns = note->wall_s * NS_PER_S + note->wall_ns;
			r->import->begun_ns = event->time_ns;
		}
		return 0;
	case BLKTRACE_NOTE_MESSAGE:
		return store_put_output(store_rows(r->store), event->time_ns, "blktrace",
					note->text, note->len);
	}
	return 0;
}

/* Names with fixed device numbers. Other disks have no name in a trace. */
static void name_disk(uint32_t device, char *ret, size_t size)
{
	static const unsigned int sd_majors[] = {
		8, 65, 66, 67, 68, 69, 70, 71, 128, 129, 130, 131, 132, 133,
		134, 135,
	};
	unsigned int major = device >> 20, minor = device & 0xfffff;
	char letters[4] = "";

	for (unsigned int i = 0; i < sizeof(sd_majors) / sizeof(sd_majors[0]);
	     i++) {
		unsigned int n = i * 16 + (minor & 0xff) / 16;

		if (major != sd_majors[i])
			continue;
		if (n >= 26)
			snprintf(letters, sizeof(letters), "%c%c",
				 'a' + n / 26 - 1, 'a' + n % 26);
		else
			snprintf(letters, sizeof(letters), "%c", 'a' + n);
		if (minor % 16)
			snprintf(ret, size, "sd%s%u", letters, minor % 16);
		else
			snprintf(ret, size, "sd%s", letters);
		return;
	}
	if (major == 9)
		snprintf(ret, size, "md%u", minor);
	else
		snprintf(ret, size, "%u:%u", major, minor);
}

uint64_t blktrace_record_capacity(void *data, uint32_t device)
{
	const struct blktrace_record *r = data;
	char name[RT_NAME_MAX];

	name_disk(device, name, sizeof(name));
	for (size_t i = 0; i < r->nr_capacities; i++) {
		const struct blktrace_capacity *capacity = &r->capacities[i];

		if (!capacity->disk[0] || !strcmp(capacity->disk, name))
			return capacity->sectors;
	}
	return 0;
}

const char *blktrace_record_unmatched(const struct blktrace_record *r, char *disks, size_t size)
{
	for (size_t i = 0; i < r->nr_capacities; i++) {
		bool there = !r->capacities[i].disk[0];

		for (size_t d = 0, at = 0; d < r->import->nr && !there && at < size; d++) {
			char name[RT_NAME_MAX];

			name_disk(r->import->devices[d]->device, name, sizeof(name));
			there = !strcmp(r->capacities[i].disk, name);
			at += (size_t)snprintf(disks + at, size - at, "%s%s", at ? ", " : "", name);
		}
		if (!there)
			return r->capacities[i].disk;
	}
	return NULL;
}

static int put_target(struct blktrace_record *r,
		      const struct blktrace_device *device,
		      const struct rt_counters *span)
{
	struct rt_target target = {
		.name_only = true,
		.groups = span->groups,
		.streams = RAIDTRACE_STREAMS_DEFAULT,
		.attached_ns = r->import->start_ns,
		.capacity_sectors = device->capacity_sectors,
		.place_sectors = device->engine.place.sectors,
	};
	uint32_t number = device->index + 1U;
	char text[32];
	int err;

	r->nr_targets++;
	name_disk(device->device, target.disk, sizeof(target.disk));
	snprintf(text, sizeof(text), "%u:%u", device->device >> 20,
		 device->device & 0xfffff);
	err = store_put_target(store_rows(r->store), number, &target);
	if (err)
		return err;
	return store_put_setting(store_rows(r->store), r->import->start_ns, number,
				 "device", text);
}

int blktrace_record_sample(void *data, const struct blktrace_device *device,
			   const struct rt_counters *span)
{
	struct blktrace_record *r = data;
	int err = 0;

	if (!r->nr_targets)
		err = store_begin_phase(store_rows(r->store), 1, "run", span->since_ns);
	if (!err && device->index >= r->nr_targets)
		err = put_target(r, device, span);
	if (!err)
		err = store_put_sample(r->store, device->index + 1U, 1, span);
	if (err || ++r->samples < SAMPLES_PER_COMMIT)
		return err;
	r->samples = 0;
	err = store_commit(r->store);
	return err ? err : store_begin(r->store);
}

static int put_started(struct blktrace_record *r)
{
	time_t seconds = (time_t)(r->wall_ns / NS_PER_S);
	char text[64];
	struct tm utc;

	if (!r->wall_ns || !gmtime_r(&seconds, &utc))
		return 0;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return store_put_meta(store_rows(r->store), "started_utc", text);
}

static int put_processes(struct blktrace_record *r)
{
	struct json_object *names = json_object_new_array();
	int err = names ? 0 : -ENOMEM;
	const char *text;

	for (size_t i = 0; i < r->nr_processes && !err; i++)
		err = json_append(names, r->processes[i]);
	text = err ? NULL : json_object_to_json_string(names);
	err = text ? store_put_meta(store_rows(r->store), "trace_processes", text) : -ENOMEM;
	json_object_put(names);
	return err;
}

/* Store the offset at which a source ends within a record. The last of several is enough. */
static int put_cut(struct blktrace_record *r)
{
	int err = 0;

	for (size_t i = 0; i < r->files->nr && !err; i++) {
		char text[512];

		if (!r->files->readers[i].cut)
			continue;
		snprintf(text, sizeof(text),
			 "%s ends within the record at offset %" PRIu64,
			 r->files->sources[i].path, r->files->readers[i].offset);
		err = store_put_meta(store_rows(r->store), "trace_cut", text);
	}
	return err;
}

uint64_t blktrace_record_missing(const struct blktrace_record *r)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < r->import->nr; i++)
		missing += r->import->devices[i]->missing;
	return missing;
}

static int put_format(struct blktrace_record *r)
{
	const struct blktrace_reader *reader = NULL;
	char text[64];

	for (size_t i = 0; i < r->files->nr; i++)
		if (r->files->readers[i].version)
			reader = &r->files->readers[i];
	if (!reader)
		return 0;
	snprintf(text, sizeof(text), "blktrace version %u, %s-endian",
		 reader->version,
		 reader->swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ?
			 "big" : "little");
	return store_put_meta(store_rows(r->store), "source", text);
}

int blktrace_record_begin(struct blktrace_record *r)
{
	struct rows *rows = store_rows(r->store);
	int err = store_begin(r->store);

	if (!err)
		err = store_put_metas(rows, { "tool_version", RAIDTRACE_VERSION }, { "source", "blktrace" });
	if (!err)
		err = store_put_meta_number(rows, "abi", RAIDTRACE_ABI);
	if (!err)
		err = store_put_meta_number(rows, "interval_ns", r->import->interval_ns);
	if (!err)
		err = store_put_meta(rows, "end", "running");
	return err;
}

static int forget_unknown(struct blktrace_record *r)
{
	int err = 0;

	for (size_t i = 0; i < r->import->nr && !err; i++) {
		const struct blktrace_device *device = r->import->devices[i];

		err = store_forget(r->store, device->index + 1U,
				   blktrace_device_unknown(device),
				   blktrace_device_unknown_disk(device));
	}
	return err;
}

static int put_lost(struct blktrace_record *r)
{
	int err = 0;

	for (size_t i = 0; i < r->import->nr && !err; i++) {
		const struct blktrace_device *device = r->import->devices[i];
		char disk[RT_NAME_MAX], text[192];

		if (!device->lost)
			continue;
		name_disk(device->device, disk, sizeof(disk));
		snprintf(text, sizeof(text),
			 "%s: the trace lacks the completion of %" PRIu64 " requests, so the number in flight is not known",
			 disk, device->lost);
		err = store_put_note(store_rows(r->store), r->import->now_ns, text);
	}
	return err;
}

int blktrace_record_end(struct blktrace_record *r)
{
	struct rows *rows = store_rows(r->store);
	char invariants[256];
	int err = forget_unknown(r);

	if (!err)
		err = put_lost(r);
	blktrace_import_check(r->import, invariants, sizeof(invariants));
	if (!err)
		err = put_format(r);
	if (!err)
		err = put_started(r);
	if (!err)
		err = put_processes(r);
	if (!err)
		err = put_cut(r);
	if (!err)
		err = store_put_meta_number(rows, "trace_events",
					    r->import->events + r->import->merge->notes);
	if (!err)
		err = store_put_meta_number(rows, "trace_late", r->import->merge->late);
	if (!err)
		err = store_put_meta_number(rows, "trace_missing", blktrace_record_missing(r));
	if (!err)
		err = store_put_meta_number(rows, "start_ns", r->import->start_ns);
	if (!err)
		err = store_put_meta_number(rows, "end_ns", r->import->now_ns);
	if (!err)
		err = store_end_phase(rows, 1, r->import->now_ns);
	if (!err)
		err = store_put_metas(rows, { "invariants", invariants }, { "end", "complete" });
	return err ? err : store_commit(r->store);
}
