// SPDX-License-Identifier: GPL-2.0-or-later

/* The machine that records the disks. */

#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/base.h"
#include "disk/disk.h"
#include "store/store.h"
#include "version.h"

/* Shortest time between two looks, except at changes of phase. */
#define LOOK_NS	NS_PER_S

/* Number of the machine, instead of a target. */
#define MACHINE	0

static int put_setting(void *data, const char *name, const char *value)
{
	struct surroundings *s = data;

	return store_put_setting(writer_rows(s->writer), s->looked_ns, MACHINE, name, value);
}

int record_put_machine(struct rows *rows)
{
	char profile[DISK_NAME], started[64], kernel[PATH_MAX], config[PATH_MAX];
	const char *simulated = lab_profile(profile, sizeof(profile)) ? "yes" : "no";
	bool lab = profile[0];
	time_t now = time(NULL);
	struct utsname uts;
	struct tm utc;

	uname(&uts);
	gmtime_r(&now, &utc);
	strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return store_put_metas(rows,
			       { "kernel", uts.release },
			       { "machine", uts.machine },
			       { "hostname", uts.nodename },
			       { "started_utc", started },
			       { "simulated", simulated },
			       { "lab_profile", lab ? profile : NULL },
			       { "lab_config", lab && lab_config(config, sizeof(config)) ? config : NULL },
			       { "lab_time", lab ? lab_time() : NULL },
			       { "lab_kernel", lab_kernel(kernel, sizeof(kernel)) ? kernel : NULL });
}

int record_put_source(struct rows *rows, const struct rt_client *client, const struct rt_info *info)
{
	int err = store_put_metas(rows,
			       { "tool_version", RAIDTRACE_VERSION },
			       { "module_version", info->version },
			       { "counted_by", rt_source_name(client) },
			       { "unavailable", info->unavailable });

	return err ? err : store_put_meta_number(rows, "abi", info->abi);
}

/* Find the disk of the recording's file, and its controller. */
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

	host_available(&s->host, available, sizeof(available));
	watch_available(s->watch, watched, missing, sizeof(watched));
	return store_put_metas(writer_rows(s->writer),
			       { "host_available", available },
			       { "watched", watched },
			       { "not_watched", missing });
}

int surroundings_begin(struct surroundings *s, struct writer *writer,
		       const struct disk *disks, size_t nr, const char *path,
		       uint64_t now_ns)
{
	struct look_scope scope = { .nr_disks = nr, .disks = disks };
	int err;

	s->writer = writer;
	s->settings.changed = put_setting;
	s->settings.data = s;
	s->looked_ns = now_ns;
	s->begun = true;
	find_recording(path, &scope);
	err = host_begin(&s->host, disks, nr, now_ns);
	if (!err)
		err = watch_start(&scope, &s->watch);
	if (!err)
		err = put_available(s);
	return err ? err : settings_machine(&s->settings);
}

int surroundings_look(struct surroundings *s, uint64_t now_ns, bool always)
{
	int err;

	if (!s->begun || now_ns == s->looked_ns)
		return 0;
	host_glimpse(&s->host);
	if (!always && now_ns - s->looked_ns < LOOK_NS)
		return 0;
	s->looked_ns = now_ns;
	err = host_look(&s->host, now_ns, writer_rows(s->writer));
	if (!err)
		err = watch_take(s->watch, writer_rows(s->writer));
	return err ? err : settings_machine(&s->settings);
}

static int put_own_use(struct surroundings *s)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return store_put_meta_number(writer_rows(s->writer), "recorder_cpu_ns",
				     ((uint64_t)use.ru_utime.tv_sec + (uint64_t)use.ru_stime.tv_sec) *
					     NS_PER_S +
				     ((uint64_t)use.ru_utime.tv_usec +
				      (uint64_t)use.ru_stime.tv_usec) * 1000);
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
		err = watch_take(s->watch, writer_rows(s->writer));
	}
	watch_all(s->watch, &nr);
	if (nr)
		snprintf(text, sizeof(text), "disturbed: %zu", nr);
	if (!err)
		err = store_put_meta(writer_rows(s->writer), "disturbance", text);
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
