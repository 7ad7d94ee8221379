// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits of a target's disk, as sysfs has them now. */

#include "disk-limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* The number in a file; 0 when there is none. */
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

/* Each hardware queue is a directory whose name is its number. */
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
