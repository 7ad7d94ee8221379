// SPDX-License-Identifier: GPL-2.0-or-later

/* What is recorded in addition to the disks. */

#include "record/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/base.h"
#include "disk/settings-machine.h"
#include "store/machine.h"

/* Rows about the machine are not made more often than that, but at cuts. */
#define LOOK_NS	NS_PER_S

/* Number of the machine where settings have that of a target. */
#define MACHINE	0

static int put_row(void *data, const struct host_row *row)
{
	struct surroundings *s = data;

	return writer_put(s->writer, store_put_host, row, sizeof(*row));
}

static int put_disturbance(void *data, const struct disturbance *what)
{
	struct surroundings *s = data;

	return writer_put(s->writer, store_put_disturbance, what,
			  sizeof(*what));
}

static int put_setting(void *data, const char *name, const char *value)
{
	struct surroundings *s = data;

	return writer_put_setting(s->writer, s->looked_ns, MACHINE, name,
				  value);
}

/* The disk that the recording grows on, and its controller. */
static void find_recording(const char *path, struct look_scope *scope)
{
	struct disk *disks;
	struct stat st;
	size_t nr;

	if (stat(path, &st) || disk_list(&nr, &disks))
		return;
	for (size_t i = 0; i < nr; i++) {
		if (!disk_holds(disks[i].name, st.st_dev))
			continue;
		memcpy(scope->recording, disks[i].name,
		       sizeof(scope->recording));
		memcpy(scope->recording_pci, disks[i].above.pci,
		       sizeof(scope->recording_pci));
	}
	disk_list_free(disks, nr);
}

static int put_available(struct surroundings *s)
{
	char available[256], watched[256], missing[256];
	int err;

	host_available(&s->host, available, sizeof(available));
	watch_available(s->watch, watched, missing, sizeof(watched));
	err = writer_put_meta(s->writer, "host_available", available);
	if (!err)
		err = writer_put_meta(s->writer, "watched", watched);
	if (!err)
		err = writer_put_meta(s->writer, "not_watched", missing);
	return err;
}

int surroundings_begin(struct surroundings *s, struct writer *writer,
		       const struct disk *disks, size_t nr, const char *path,
		       uint64_t now_ns)
{
	struct look_scope scope = { .nr_disks = nr, .disks = disks };
	int err;

	s->writer = writer;
	s->looked_ns = now_ns;
	s->begun = true;
	find_recording(path, &scope);
	err = host_begin(&s->host, disks, nr, now_ns);
	if (!err)
		err = watch_start(&scope, &s->watch);
	if (!err)
		err = put_available(s);
	return err ? err : settings_machine(&s->settings, put_setting, s);
}

static int take_watch(struct surroundings *s)
{
	const struct watch_hands hands = { put_disturbance, put_row, s };

	return s->watch ? watch_take(s->watch, &hands) : 0;
}

int surroundings_look(struct surroundings *s, uint64_t now_ns, bool always)
{
	int err;

	if (!s->begun || now_ns == s->looked_ns ||
	    (!always && now_ns - s->looked_ns < LOOK_NS))
		return 0;
	s->looked_ns = now_ns;
	err = host_look(&s->host, now_ns, put_row, s);
	if (!err)
		err = take_watch(s);
	return err ? err : settings_machine(&s->settings, put_setting, s);
}

static int put_own_use(struct surroundings *s)
{
	struct rusage use;
	char text[32];

	getrusage(RUSAGE_SELF, &use);
	snprintf(text, sizeof(text), "%" PRIu64,
		 ((uint64_t)use.ru_utime.tv_sec + (uint64_t)use.ru_stime.tv_sec) *
			 NS_PER_S +
		 ((uint64_t)use.ru_utime.tv_usec +
		  (uint64_t)use.ru_stime.tv_usec) * 1000);
	return writer_put_meta(s->writer, "recorder_cpu_ns", text);
}

int surroundings_end(struct surroundings *s, uint64_t now_ns)
{
	char text[64] = "quiet";
	size_t nr;
	int err;

	if (!s->begun)
		return 0;
	err = surroundings_look(s, now_ns, true);
	if (!err) {
		watch_finish(s->watch);
		err = take_watch(s);
	}
	nr = s->watch ? watch_count(s->watch) : 0;
	if (nr)
		snprintf(text, sizeof(text), "disturbed: %zu", nr);
	if (!err)
		err = writer_put_meta(s->writer, "disturbance", text);
	return err ? err : put_own_use(s);
}

void surroundings_free(struct surroundings *s)
{
	if (!s->begun)
		return;
	watch_stop(s->watch);
	host_end(&s->host);
	settings_free(&s->settings);
	memset(s, 0, sizeof(*s));
}
