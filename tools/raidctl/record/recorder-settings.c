// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings of the recorded disks, and limits of cgroups on them. */

#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* Readings of limits take at most this part (1/SPARE) of a processor. */
#define SPARE	500

static int put_setting(void *data, const char *name, const char *value)
{
	const struct recorded *disk = data;

	return store_put_setting(writer_rows(disk->recorder->writer), disk->last.now_ns,
				 disk->number, name, value);
}

int recorder_put_readahead(struct recorded *disk)
{
	char text[32];
	int err;

	if (disk->last.readahead_sectors == disk->put_readahead)
		return 0;
	disk->put_readahead = disk->last.readahead_sectors;
	snprintf(text, sizeof(text), "%" PRIu64, disk->last.readahead_sectors);
	err = settings_set(&disk->settings, "readahead_sectors", text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%" PRIu64,
		 disk->last.readahead_sectors * SECTOR_BYTES / 1024);
	return settings_set(&disk->settings, "readahead_kib", text);
}

static int put_mounts(struct recorded *disk)
{
	int err = settings_mounts(&disk->settings);

	if (err || !disk->ours)
		return err;
	return settings_set(&disk->settings, "journal", disk->journals.text);
}

int recorder_read_settings(struct recorded *disk, int (*changed)(void *data, const char *name, const char *value))
{
	int err;

	disk->settings.changed = changed;
	disk->settings.data = disk;
	disk->settings.disk = disk->target.disk;
	disk->settings.hctl = disk->target.above.hctl;
	err = recorder_put_readahead(disk);
	if (!err)
		err = settings_queue(&disk->settings);
	if (!err)
		err = settings_device(&disk->settings);
	if (!err)
		err = settings_controller(&disk->settings, disk->target.above.pci,
					  disk->target.above.unit_3ware);
	return err ? err : put_mounts(disk);
}

int recorder_describe(struct recorded *disk)
{
	int err = store_put_target(writer_rows(disk->recorder->writer), disk->number,
				   &disk->target);

	if (!err && disk->carried >= 0 && !disk->target.bio_based) {
		char text[32];

		snprintf(text, sizeof(text), "%" PRId64, disk->carried);
		err = put_setting(disk, "in_flight_at_attach", text);
	}
	return err ? err : recorder_read_settings(disk, put_setting);
}

/* The counters include readahead; each other setting needs a file to be read. */
int recorder_sample_settings(struct recorded *disk, bool queue)
{
	int err = recorder_put_readahead(disk);

	if (!err && queue)
		err = settings_queue(&disk->settings);
	if (!err && disk->recorder->mounts_changed)
		err = recorder_find_journals(disk);
	if (!err && disk->recorder->mounts_changed)
		err = put_mounts(disk);
	return err;
}

static int put_disk(struct recorded *disk, const struct cgroup_limits *limits)
{
	char device[32];
	int err = 0;

	snprintf(device, sizeof(device), "%u:%u", disk->target.major,
		 disk->target.minor);
	for (unsigned int i = 0; i < CGROUP_LIMIT_FILES && !err; i++) {
		const char *name = cgroup_limit_file(i, disk->recorder->cgroups);
		char *text = name ? cgroup_limits_of(limits, i, device) : NULL;

		if (name)
			err = text ? settings_set(&disk->settings, name, text) : -ENOMEM;
		free(text);
	}
	return err;
}

/* Only one thread samples. */
int recorder_put_limits(struct recorder *recorder, bool always)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	static char where[PATH_MAX];
	struct cgroup_limits limits = { 0 };
	int err;

	if (!always && begin_ns < recorder->limits_ns)
		return 0;
	if (!recorder->cgroups)
		recorder->cgroups = cgroup_mount(where, sizeof(where));
	err = recorder->cgroups ? cgroup_limits_read(where, recorder->cgroups, &limits) : -ENOENT;
	for (size_t i = 0; i < recorder->nr && !err; i++)
		if (!recorder->disks[i].ended)
			err = put_disk(&recorder->disks[i], &limits);
	cgroup_limits_free(&limits);
	recorder->limits_ns = clock_ns(CLOCK_MONOTONIC);
	recorder->limits_ns += SPARE * (recorder->limits_ns - begin_ns);
	/* If limits cannot be read, they are not known. */
	return err == -ENOMEM ? err : 0;
}

int recorder_cut_settings(struct recorder *recorder)
{
	int err = 0;

	for (size_t i = 0; i < recorder->nr && !err; i++) {
		struct recorded *disk = &recorder->disks[i];

		if (disk->ended)
			continue;
		err = settings_queue(&disk->settings);
		if (!err)
			err = settings_device(&disk->settings);
	}
	return err ? err : recorder_put_limits(recorder, true);
}
