// SPDX-License-Identifier: GPL-2.0-or-later

/* What processes, disks and interrupts do, from two looks at /proc. */

#include "check-activity.h"

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

#include "clock.h"
#include "units.h"

int parse_process(const char *text, struct process *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, system, waited_user, waited_system;

	memset(ret, 0, sizeof(*ret));
	if (!open || !close || close < open)
		return -EINVAL;
	ret->pid = atoi(text);
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1),
		 open + 1);
	/* From state on: ppid, ten fields, four times, four fields, start. */
	if (sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %" SCNu64,
		   &ret->parent, &user, &system, &waited_user, &waited_system,
		   &ret->start) != 6)
		return -EINVAL;
	ret->ticks = user + system + waited_user + waited_system;
	return 0;
}

int parse_disk_use(const char *text, struct disk_use *ret)
{
	uint64_t reads, read_sectors, writes, written_sectors;
	uint64_t discards = 0, discarded_sectors = 0, flushes = 0;
	/* Discards came with Linux 4.18, flushes with 5.5. */
	int nr = sscanf(text,
			" %*u %*u %63s %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			" %*u %" SCNu64 " %*u %*u %*u %*u %" SCNu64
			" %*u %" SCNu64 " %*u %" SCNu64,
			ret->name, &reads, &read_sectors, &writes,
			&written_sectors, &discards, &discarded_sectors,
			&flushes);

	if (nr < 5)
		return -EINVAL;
	ret->requests = reads + writes + discards + flushes;
	ret->bytes = (read_sectors + written_sectors + discarded_sectors) *
		     SECTOR_BYTES;
	return 0;
}

int parse_interrupt(char *text, unsigned int nr_processors,
		    struct interrupt *ret)
{
	char *at;

	memset(ret, 0, sizeof(*ret));
	while (isspace((unsigned char)*text))
		text++;
	/* NMI, LOC and the like are of processors, not of devices. */
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	ret->number = (unsigned int)strtoul(text, &at, 10);
	if (*at++ != ':')
		return -EINVAL;
	for (unsigned int i = 0; i < nr_processors; i++) {
		char *end;

		ret->count += strtoull(at, &end, 10);
		if (end == at)
			return -EINVAL;
		at = end;
	}
	/* Names of drivers that share a line are separated by ", ". */
	ret->shared = strstr(at, ", ");
	return 0;
}

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
