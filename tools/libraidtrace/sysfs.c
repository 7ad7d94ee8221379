// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits of a disk and the devices above it, from sysfs. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* The number in a file; 0 if there is none. */
static uint64_t number_of(int disk, const char *name)
{
	char text[32];
	int fd = openat(disk, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return strtoull(text, NULL, 10);
}

/* Each hardware queue is a directory with its number as name. */
static uint32_t count_queues(int disk)
{
	int fd = openat(disk, "mq", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	uint32_t nr = 0;

	while (directory && (entry = readdir(directory)))
		nr += entry->d_name[0] != '.';
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
	return nr;
}

void rt_limits_read(int disk, struct rt_target *target)
{
	target->capacity_sectors = number_of(disk, "size");
	target->readahead_sectors = 2 * number_of(disk, "queue/read_ahead_kb");
	target->max_sectors = 2 * (uint32_t)number_of(disk, "queue/max_sectors_kb");
	target->max_hw_sectors = 2 * (uint32_t)number_of(disk, "queue/max_hw_sectors_kb");
	target->max_segments = (uint32_t)number_of(disk, "queue/max_segments");
	target->rotational = number_of(disk, "queue/rotational");
	if (target->bio_based)
		return;
	target->nr_requests = (uint32_t)number_of(disk, "queue/nr_requests");
	target->nr_hw_queues = count_queues(disk);
	target->nr_tags = (uint32_t)number_of(disk, "mq/0/nr_tags");
}

/* The name that a link in @directory ends with, "" for none. */
static void link_name(const char *directory, const char *link, char ret[static RT_NAME_MAX])
{
	char path[PATH_MAX + 16], target[PATH_MAX];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s", directory, link);
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = '\0';
	snprintf(ret, RT_NAME_MAX, "%.*s", RT_NAME_MAX - 1,
		 strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

void rt_parents_read(const char *disk, struct rt_parents *ret)
{
	char path[PATH_MAX], subsystem[RT_NAME_MAX], driver[RT_NAME_MAX], *real;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/device", disk);
	real = realpath(path, NULL);
	if (!real)
		return;
	while (strlen(real) > strlen("/sys/devices") && !ret->pci[0]) {
		const char *name = strrchr(real, '/') + 1;

		link_name(real, "subsystem", subsystem);
		link_name(real, "driver", driver);
		if (!strcmp(subsystem, "scsi") && strspn(name, "0123456789:") == strlen(name))
			snprintf(ret->hctl, sizeof(ret->hctl), "%s", name);
		if (!strcmp(subsystem, "pci"))
			snprintf(ret->pci, sizeof(ret->pci), "%s", name);
		if (driver[0] && (ret->pci[0] || !ret->driver[0]))
			snprintf(ret->driver, sizeof(ret->driver), "%s", driver);
		*strrchr(real, '/') = '\0';
	}
	free(real);
	ret->unit_3ware = ret->pci[0] && !strcmp(ret->driver, RT_DRIVER_3WARE);
}

void rt_target_describe(struct rt_target *target)
{
	char path[64];
	int disk;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", target->major, target->minor);
	disk = target->gone ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (disk < 0)
		return;
	rt_limits_read(disk, target);
	close(disk);
	rt_parents_read(path, &target->above);
}
