// SPDX-License-Identifier: GPL-2.0-or-later

/* What processes, disks and interrupts do, from two looks at /proc. */

#include "check/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/proc.h"

/* A process that ends while it is looked at is none. */
static int take_process(void *data, int pid)
{
	struct activity *to = data;
	struct process *more, process;
	struct proc_io io;

	if (!proc_process_read(pid, &process))
		return 0;
	process.io_known = proc_io_read(pid, &io);
	if (process.io_known)
		process.io_bytes = io.read_bytes + io.write_bytes;
	more = reallocarray(to->processes, to->nr_processes + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	to->processes = more;
	more[to->nr_processes++] = process;
	return 0;
}

static int take_disks(const char *text, struct activity *ret)
{
	struct disk_use use;

	ret->disks_known = text;
	while (proc_disk_use(&text, &use)) {
		struct disk_use *more;

		if (!proc_whole_disk(use.name))
			continue;
		more = reallocarray(ret->disks, ret->nr_disks + 1,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		ret->disks = more;
		more[ret->nr_disks++] = use;
	}
	return 0;
}

static int take_interrupts(const char *text, struct activity *ret)
{
	int err = text ? interrupts_parse(text, &ret->interrupts) : -EINVAL;

	ret->interrupts_known = !err;
	return err == -ENOMEM ? err : 0;
}

static int read_files(struct activity *ret)
{
	struct proc_file vmstat, disks, interrupts;
	int err;

	proc_open(&vmstat, "/proc/vmstat");
	proc_open(&disks, "/proc/diskstats");
	proc_open(&interrupts, "/proc/interrupts");
	ret->swapped_pages = proc_swapped(proc_read(&vmstat));
	err = take_disks(proc_read(&disks), ret);
	if (!err)
		err = take_interrupts(proc_read(&interrupts), ret);
	proc_close(&vmstat);
	proc_close(&disks);
	proc_close(&interrupts);
	return err;
}

int activity_read(struct activity *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->time_ns = clock_ns(CLOCK_MONOTONIC);
	err = read_files(ret);
	/* Mounted with hidepid, /proc shows a user only what is his. */
	ret->processes_known = !access("/proc/1/stat", R_OK);
	ret->io_accounted = !access("/proc/self/io", R_OK);
	return err ? err : proc_each_pid(take_process, ret);
}

void activity_free(struct activity *activity)
{
	free(activity->processes);
	free(activity->disks);
	interrupts_free(&activity->interrupts);
	memset(activity, 0, sizeof(*activity));
}
