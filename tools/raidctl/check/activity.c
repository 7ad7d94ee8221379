// SPDX-License-Identifier: GPL-2.0-or-later

/* What processes, disks and interrupts do, from two looks at /proc. */

#include "check/activity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* The I/O of a process, where it may be read. */
static void read_io(const char *pid, struct process *process)
{
	char path[64], line[128];
	uint64_t value;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/io", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "read_bytes: %" SCNu64, &value) != 1 &&
		    sscanf(line, "write_bytes: %" SCNu64, &value) != 1)
			continue;
		process->io_bytes += value;
		process->io_known = true;
	}
	fclose(file);
}

/* A process that ends while it is looked at is none. */
static bool read_process(const char *pid, struct process *ret)
{
	char path[64], line[1024];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	good = fgets(line, sizeof(line), file) && !parse_process(line, ret);
	fclose(file);
	if (good)
		read_io(pid, ret);
	return good;
}

static int read_processes(struct activity *ret)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int err = 0;

	/* Mounted with hidepid, /proc shows a user only what is his. */
	ret->processes_known = dir && !access("/proc/1/stat", R_OK);
	ret->io_accounted = !access("/proc/self/io", R_OK);
	while (dir && !err && (entry = readdir(dir))) {
		struct process *more, process;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process(entry->d_name, &process))
			continue;
		more = reallocarray(ret->processes, ret->nr_processes + 1,
				    sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		ret->processes = more;
		more[ret->nr_processes++] = process;
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Partitions are in the file too; only whole disks are below /sys/block. */
static bool is_whole(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/block/%s", name);
	for (char *at = path + strlen("/sys/block/"); *at; at++)
		if (*at == '/')
			*at = '!';
	return !access(path, F_OK);
}

static int read_disks(struct activity *ret)
{
	FILE *file = fopen("/proc/diskstats", "re");
	char line[512];
	int err = 0;

	ret->disks_known = file;
	while (file && !err && fgets(line, sizeof(line), file)) {
		struct disk_use *more, use;

		if (parse_disk_use(line, &use) || !is_whole(use.name))
			continue;
		more = reallocarray(ret->disks, ret->nr_disks + 1,
				    sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		ret->disks = more;
		more[ret->nr_disks++] = use;
	}
	if (file)
		fclose(file);
	return err;
}

static int read_interrupts(struct activity *ret)
{
	FILE *file = fopen("/proc/interrupts", "re");
	unsigned int processors = 0;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	/* The first line names the processors. */
	if (file && getline(&line, &size, file) > 0)
		for (char *at = line; (at = strstr(at, "CPU")); at++)
			processors++;
	ret->interrupts_known = processors;
	while (processors && getline(&line, &size, file) > 0) {
		struct interrupt *more, interrupt;

		if (parse_interrupt(line, processors, &interrupt))
			continue;
		more = reallocarray(ret->interrupts, ret->nr_interrupts + 1,
				    sizeof(*more));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		ret->interrupts = more;
		more[ret->nr_interrupts++] = interrupt;
	}
	free(line);
	if (file)
		fclose(file);
	return err;
}

static void read_swapping(struct activity *ret)
{
	FILE *file = fopen("/proc/vmstat", "re");
	char line[128];
	int64_t pages;

	ret->swapped_pages = FACT_UNKNOWN;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "pswpin %" SCNd64, &pages) != 1 &&
		    sscanf(line, "pswpout %" SCNd64, &pages) != 1)
			continue;
		if (ret->swapped_pages == FACT_UNKNOWN)
			ret->swapped_pages = 0;
		ret->swapped_pages += pages;
	}
	if (file)
		fclose(file);
}

int activity_read(struct activity *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->time_ns = clock_ns(CLOCK_MONOTONIC);
	read_swapping(ret);
	err = read_disks(ret);
	if (!err)
		err = read_interrupts(ret);
	if (!err)
		err = read_processes(ret);
	return err;
}

void activity_free(struct activity *activity)
{
	free(activity->processes);
	free(activity->disks);
	free(activity->interrupts);
	memset(activity, 0, sizeof(*activity));
}
