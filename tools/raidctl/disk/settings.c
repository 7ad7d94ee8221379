// SPDX-License-Identifier: GPL-2.0-or-later

/* Settings that affect a queue, and their changes. */

#include "disk/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Name of a setting, and its file. */
struct place {
	const char *name;
	const char *path;
};

#define SCHEDULER "scheduler"

/* Files below /sys/block/DISK. */
static const struct place queue_sources[] = {
	{ SCHEDULER, "queue/scheduler" },
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

static const struct place device_sources[] = {
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
	{ "async_depth", "queue/async_depth" }, /* Linux 7: of each scheduler */
	{ "discard_max_bytes", "queue/discard_max_bytes" },
	{ "discard_max_hw_bytes", "queue/discard_max_hw_bytes" },
	{ "timeout_s", "device/timeout" },
	{ "md_level", "md/level" },
	{ "md_raid_disks", "md/raid_disks" },
	{ "md_chunk_bytes", "md/chunk_size" },
	{ "md_stripe_cache_pages", "md/stripe_cache_size" },
	{ "dm_name", "dm/name" },
};

static const struct place machine_places[] = {
	{ "vm.dirty_ratio", "/proc/sys/vm/dirty_ratio" },
	{ "vm.dirty_bytes", "/proc/sys/vm/dirty_bytes" },
	{ "vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio" },
	{ "vm.dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes" },
	{ "vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs" },
	{ "vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs" },
	{ "vm.swappiness", "/proc/sys/vm/swappiness" },
	{ "vm.vfs_cache_pressure", "/proc/sys/vm/vfs_cache_pressure" },
	{ "vm.laptop_mode", "/proc/sys/vm/laptop_mode" },
	{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "cpus_online", "/sys/devices/system/cpu/online" },
	{ "governor_cpu0", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(LENGTH(queue_sources) <= SETTINGS_KEPT && LENGTH(machine_places) <= SETTINGS_KEPT,
	       "room for each file that stays open");

/* Descriptors from this number on do not stay open: other files need some, and 1,024 is the usual limit. */
#define KEPT_BELOW	512
#define MISSING		(-1)

int settings_set(struct settings *settings, const char *name,
		 const char *value)
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
		char *own = strdup(name);

		more = own ? reallocarray(settings->known, settings->nr + 1, sizeof(*more)) : NULL;
		if (!more) {
			free(own);
			free(copy);
			return -ENOMEM;
		}
		settings->known = more;
		setting = &more[settings->nr++];
		*setting = (struct setting){ .name = own };
	}
	free(setting->value);
	setting->value = copy;
	return settings->changed(settings->data, name, value);
}

int settings_file(struct settings *settings, const char *name,
		  const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (len <= 0)
		return 0;
	text[len] = '\0';
	return settings_set(settings, name, text);
}

static int open_place(const struct settings *settings, const char *path)
{
	char whole[PATH_MAX];
	int fd;

	if (settings->disk)
		snprintf(whole, sizeof(whole), "/sys/block/%s/%s", settings->disk, path);
	fd = open(settings->disk ? whole : path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Read a file that stays open if possible. Return: as disk_read(). */
static int read_kept(const struct settings *settings, int *kept, const char *path,
		     char *ret, size_t size)
{
	int fd = *kept > 0 ? *kept - 1 : *kept == MISSING ? -ENOENT : open_place(settings, path), len;

	if (fd == -ENOENT)
		*kept = MISSING;
	if (fd < 0)
		return fd;
	len = disk_read(fd, ret, size);
	if (fd < KEPT_BELOW)
		*kept = fd + 1;
	else
		close(fd);
	return len;
}

/* A disk, machine or kernel may lack a file; then this setting is not set. */
static int read_often(struct settings *settings, const struct place *place, size_t nr)
{
	char text[256];
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const char *value = text;

		if (read_kept(settings, &settings->kept[i], place[i].path, text, sizeof(text)) <= 0)
			continue;
		if (!strcmp(place[i].name, SCHEDULER))
			value = disk_active(text);
		err = settings_set(settings, place[i].name, value);
	}
	return err;
}

int settings_machine(struct settings *settings)
{
	return read_often(settings, machine_places, LENGTH(machine_places));
}

static int read_sources(struct settings *settings, const struct place *source,
			size_t nr)
{
	char text[256];
	int err = 0;

	/* A disk or kernel may lack a file; then this setting is not set. */
	for (size_t i = 0; i < nr && !err; i++)
		if (disk_attribute(settings->disk, source[i].path, text,
				   sizeof(text)) > 0)
			err = settings_set(settings, source[i].name, text);
	return err;
}

int settings_queue(struct settings *settings)
{
	return read_often(settings, queue_sources, LENGTH(queue_sources));
}

#define OF_SCHEDULER "iosched."

/* The settings of the present scheduler, in a directory of its own. Those of a previous scheduler become empty. */
static int read_scheduler(struct settings *settings)
{
	char path[PATH_MAX], name[NAME_MAX + sizeof(OF_SCHEDULER)];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	for (size_t i = 0; i < settings->nr && !err; i++) {
		const char *known = settings->known[i].name;

		if (strncmp(known, OF_SCHEDULER, strlen(OF_SCHEDULER)))
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/queue/iosched/%s", settings->disk,
			 known + strlen(OF_SCHEDULER));
		if (access(path, F_OK))
			err = settings_set(settings, known, "");
	}
	snprintf(path, sizeof(path), "/sys/block/%s/queue/iosched", settings->disk);
	dir = opendir(path);
	while (dir && !err && (entry = readdir(dir))) {
		char attribute[NAME_MAX + 32], text[256];

		snprintf(name, sizeof(name), OF_SCHEDULER "%s", entry->d_name);
		snprintf(attribute, sizeof(attribute), "queue/iosched/%s", entry->d_name);
		if (entry->d_name[0] != '.' &&
		    disk_attribute(settings->disk, attribute, text, sizeof(text)) > 0)
			err = settings_set(settings, name, text);
	}
	if (dir)
		closedir(dir);
	return err;
}

int settings_device(struct settings *settings)
{
	int err = read_sources(settings, device_sources,
			       LENGTH(device_sources));

	for (size_t i = 0; i < LENGTH(settings->kept); i++)
		if (settings->kept[i] == MISSING)
			settings->kept[i] = 0;
	if (!err)
		err = read_scheduler(settings);
	return err ? err : settings_driver(settings);
}

/* Join all mounts of a disk to one value, with a line for each. */
static char *join_options(const struct mount *mounts, size_t nr, size_t which)
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

int settings_mounts(struct settings *settings)
{
	static const char *const names[] = { "mount", "fstype",
					     "mount_options" };
	struct mount *mounts;
	size_t nr;
	int err = disk_mounts(settings->disk, &nr, &mounts);

	/* Without a mount table nothing is known, which differs from "unmounted". */
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t which = 0; which < LENGTH(names) && !err; which++) {
		char *text = join_options(mounts, nr, which);

		err = text ? settings_set(settings, names[which], text) : -ENOMEM;
		free(text);
	}
	mounts_free(mounts, nr);
	return err;
}

void settings_free(struct settings *settings)
{
	for (size_t i = 0; i < settings->nr; i++) {
		free(settings->known[i].name);
		free(settings->known[i].value);
	}
	for (size_t i = 0; i < LENGTH(settings->kept); i++)
		if (settings->kept[i] > 0)
			close(settings->kept[i] - 1);
	free(settings->known);
	memset(settings->kept, 0, sizeof(settings->kept));
	settings->known = NULL;
	settings->nr = 0;
}
