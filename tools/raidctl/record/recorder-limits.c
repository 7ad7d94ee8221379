// SPDX-License-Identifier: GPL-2.0-or-later

/* Setting io.max: what cgroups may have of the recorded disks. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "machine/cgroup-limits.h"
#include "machine/cgroup.h"
#include "record/recorder.h"

/* Looks take no more than one part of a processor in so many. */
#define SPARE	500

int recorder_put_setting(void *data, const char *name, const char *value)
{
	const struct recorded *disk = data;

	return writer_put_setting(disk->recorder->writer, disk->last.now_ns,
				  disk->number, name, value);
}

static int put_disk(struct recorded *disk, const struct cgroup_limits *limits)
{
	char device[32], *text;
	int err;

	snprintf(device, sizeof(device), "%u:%u", disk->target.major,
		 disk->target.minor);
	text = cgroup_limits_of(limits, device);
	err = text ? settings_set(&disk->settings, "io.max", text,
				  recorder_put_setting, disk) : -ENOMEM;
	free(text);
	return err;
}

/* One thread samples. Hierarchies of version 1 have other files, and are left out. */
int recorder_put_limits(struct recorder *recorder, bool always)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	static char where[PATH_MAX];
	struct cgroup_limits limits = { 0 };
	int err;

	if (!always && begin_ns < recorder->limits_ns)
		return 0;
	err = cgroup_mount(where, sizeof(where)) == 2 ?
		      cgroup_limits_read(where, &limits) : -ENOENT;
	for (size_t i = 0; i < recorder->nr && !err; i++)
		if (!recorder->disks[i].ended)
			err = put_disk(&recorder->disks[i], &limits);
	cgroup_limits_free(&limits);
	recorder->limits_ns = clock_ns(CLOCK_MONOTONIC);
	recorder->limits_ns += SPARE * (recorder->limits_ns - begin_ns);
	/* Where they cannot be read nothing is known of them. */
	return err == -ENOMEM ? err : 0;
}
