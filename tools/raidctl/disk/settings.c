// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings that decide what a queue looks like, and their changes. */

#include "disk/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk/disk.h"
#include "disk/events.h"

/* Name of the setting, file below /sys/block/DISK. */
struct source {
	const char *name;
	const char *attribute;
};

static const struct source queue_sources[] = {
	{ "nr_requests", "queue/nr_requests" },
	{ "max_sectors_kb", "queue/max_sectors_kb" },
	{ "nomerges", "queue/nomerges" },
	{ "rq_affinity", "queue/rq_affinity" },
	{ "write_cache", "queue/write_cache" },
	{ "wbt_lat_usec", "queue/wbt_lat_usec" },
	{ "rotational", "queue/rotational" },
	{ "io_poll", "queue/io_poll" },
	{ "md_sync_action", "md/sync_action" },
	{ "md_degraded", "md/degraded" },
	{ "queue_depth", "device/queue_depth" },
	{ "state", "device/state" },
};

static const struct source device_sources[] = {
	{ "vendor", "device/vendor" },
	{ "model", "device/model" },
	{ "firmware", "device/rev" },
	{ "firmware", "device/firmware_rev" }, /* NVMe */
	{ "max_hw_sectors_kb", "queue/max_hw_sectors_kb" },
	{ "max_segments", "queue/max_segments" },
	{ "max_segment_size", "queue/max_segment_size" },
	{ "optimal_io_size", "queue/optimal_io_size" },
	{ "logical_block_size", "queue/logical_block_size" },
	{ "physical_block_size", "queue/physical_block_size" },
	{ "timeout_s", "device/timeout" },
	{ "md_level", "md/level" },
	{ "md_raid_disks", "md/raid_disks" },
	{ "md_chunk_bytes", "md/chunk_size" },
	{ "md_stripe_cache_pages", "md/stripe_cache_size" },
	{ "dm_name", "dm/name" },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

int settings_set(struct settings *settings, const char *name,
		 const char *value, settings_changed *changed, void *data)
{
	struct setting *setting = NULL, *more;
	char *copy;

	for (size_t i = 0; i < settings->nr && !setting; i++)
		if (!strcmp(settings->known[i].name, name))
			setting = &settings->known[i];
	if (setting && !strcmp(setting->value, value))
		return 0;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (!setting) {
		more = reallocarray(settings->known, settings->nr + 1,
				    sizeof(*more));
		if (!more) {
			free(copy);
			return -ENOMEM;
		}
		settings->known = more;
		setting = &more[settings->nr++];
		*setting = (struct setting){ .name = name };
	}
	free(setting->value);
	setting->value = copy;
	return changed(data, name, value);
}

static int read_sources(struct settings *settings, const struct source *source,
			size_t nr, settings_changed *changed, void *data)
{
	char text[256];
	int err = 0;

	/* Not every disk and kernel has each file; what is absent is not set. */
	for (size_t i = 0; i < nr && !err; i++)
		if (disk_attribute(settings->disk, source[i].attribute, text,
				   sizeof(text)) > 0)
			err = settings_set(settings, source[i].name, text,
					   changed, data);
	return err;
}

int settings_queue(struct settings *settings, settings_changed *changed,
		   void *data)
{
	char scheduler[DISK_NAME];
	int err;

	disk_scheduler(settings->disk, scheduler, sizeof(scheduler));
	err = scheduler[0] ? settings_set(settings, "scheduler", scheduler,
					  changed, data) : 0;
	if (err)
		return err;
	return read_sources(settings, queue_sources, LENGTH(queue_sources),
			    changed, data);
}

/*
 * An array that lost a drive is slower, and only the controller knows. That the
 * driver counts events which the log no longer has is not "none".
 */
static int controller_events(struct settings *settings, unsigned int host,
			     const char *stats, settings_changed *changed,
			     void *data)
{
	long count = events_count(stats);
	char lines[EVENTS_TEXT] = "";

	if (count > 0)
		events_read(host, lines);
	if (count < 0 || (count > 0 && !lines[0]))
		return 0;
	return settings_set(settings, "controller_events", lines, changed,
			    data);
}

/* The driver's own counts, a file of the SCSI host; 3w-9xxx has it. */
static int driver_stats(struct settings *settings, settings_changed *changed,
			void *data)
{
	char attribute[64], text[1024];
	unsigned int host;
	int err;

	if (sscanf(settings->hctl, "%u:", &host) != 1)
		return 0;
	snprintf(attribute, sizeof(attribute),
		 "device/../../scsi_host/host%u/stats", host);
	if (disk_attribute(settings->disk, attribute, text, sizeof(text)) <= 0)
		return 0;
	err = settings_set(settings, "driver_stats", text, changed, data);
	return err ? err : controller_events(settings, host, text, changed,
					     data);
}

int settings_device(struct settings *settings, settings_changed *changed,
		    void *data)
{
	int err = read_sources(settings, device_sources,
			       LENGTH(device_sources), changed, data);

	return err ? err : driver_stats(settings, changed, data);
}

/* All mounts of a disk make one value, a line each. */
static char *joined(const struct mount *mounts, size_t nr, size_t which)
{
	char *text = strdup(""), *longer;

	for (size_t i = 0; i < nr && text; i++) {
		const char *part = which == 0 ? mounts[i].dir :
				   which == 1 ? mounts[i].fstype :
						mounts[i].options;

		if (asprintf(&longer, "%s%s%s", text, i ? "\n" : "", part) < 0)
			longer = NULL;
		free(text);
		text = longer;
	}
	return text;
}

int settings_mounts(struct settings *settings, settings_changed *changed,
		    void *data)
{
	static const char *const names[] = { "mount", "fstype",
					     "mount_options" };
	struct mount *mounts;
	size_t nr;
	int err = disk_mounts(settings->disk, &nr, &mounts);

	/* Without a mount table nothing is known, which is not "unmounted". */
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t which = 0; which < LENGTH(names) && !err; which++) {
		char *text = joined(mounts, nr, which);

		err = text ? settings_set(settings, names[which], text,
					  changed, data) : -ENOMEM;
		free(text);
	}
	mounts_free(mounts, nr);
	return err;
}

void settings_free(struct settings *settings)
{
	for (size_t i = 0; i < settings->nr; i++)
		free(settings->known[i].value);
	free(settings->known);
	settings->known = NULL;
	settings->nr = 0;
}
