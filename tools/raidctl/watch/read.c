// SPDX-License-Identifier: GPL-2.0-or-later

/* One look at the machine. */

#include "watch/watch.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "machine/machine.h"

/* Kernel threads are read in one of this many looks. */
#define KERNEL_ROUNDS	16
#define KTHREADD	2

/* Difference of a clock from CLOCK_MONOTONIC, both read in close succession. */
static int64_t offset_of(clockid_t clock)
{
	int64_t offset = 0, least = INT64_MAX;

	for (int try = 0; try < 4 && least > 50000; try++) {
		int64_t first = (int64_t)clock_ns(CLOCK_MONOTONIC);
		int64_t there = (int64_t)clock_ns(clock);
		int64_t second = (int64_t)clock_ns(CLOCK_MONOTONIC);

		if (second - first >= least)
			continue;
		least = second - first;
		offset = there - first - least / 2;
	}
	return offset;
}

/* Kernel threads work for others, except those that rebuild an array. */
static bool is_kernel_work(const struct process *process)
{
	size_t len = strlen(process->name);

	if (process->pid != KTHREADD && process->parent != KTHREADD)
		return false;
	return len < 7 || (strcmp(process->name + len - 7, "_resync") &&
			   strcmp(process->name + len - 7, "reshape"));
}

/* Processes of one look. */
struct scan {
	const struct look *before;
	size_t at;
	bool all;
	int self;
	struct look *ret;
	int err;
};

/* Both lists are in the order of /proc. */
static const struct look_process *process_before(struct scan *scan, int pid)
{
	const struct look *before = scan->before;

	while (before && scan->at < before->nr_processes &&
	       before->processes[scan->at].process.pid < pid)
		scan->at++;
	if (!before || scan->at == before->nr_processes ||
	    before->processes[scan->at].process.pid != pid)
		return NULL;
	return &before->processes[scan->at];
}

static bool read_one(struct scan *scan, int pid, struct look_process *ret)
{
	const struct look_process *last = process_before(scan, pid);

	if (last && last->role == ROLE_KERNEL && !scan->all) {
		*ret = *last;
		return true;
	}
	memset(ret, 0, sizeof(*ret));
	if (!proc_process_read(pid, &ret->process))
		return false;
	host_clean(ret->process.name);
	if (pid == scan->self)
		ret->role = ROLE_RECORDER;
	else if (is_kernel_work(&ret->process))
		ret->role = ROLE_KERNEL;
	if (ret->role != ROLE_KERNEL)
		ret->io_known = proc_io_read(pid, &ret->io);
	return true;
}

static int take_process(void *data, int pid)
{
	struct scan *scan = data;
	struct look_process process, *more;

	if (!read_one(scan, pid, &process))
		return 0;
	more = reallocarray(scan->ret->processes, scan->ret->nr_processes + 1,
			    sizeof(*more));
	if (!more) {
		scan->err = -ENOMEM;
		return 1;
	}
	scan->ret->processes = more;
	more[scan->ret->nr_processes++] = process;
	return 0;
}

struct look_process *look_process_of(const struct look *look, int pid)
{
	size_t low = 0, high = look->nr_processes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct look_process *at = &look->processes[middle];

		if (at->process.pid == pid)
			return at;
		if (at->process.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The recorder adopts orphans, so all processes that it started descend from it. */
static void find_command(struct look *look, int self)
{
	for (size_t i = 0; i < look->nr_processes; i++) {
		struct look_process *process = &look->processes[i];
		const struct look_process *up = process;

		for (int depth = 0; up && depth < 64 &&
		     process->role == ROLE_OTHER; depth++) {
			if (up->process.parent == self ||
			    (up != process && up->role == ROLE_COMMAND))
				process->role = ROLE_COMMAND;
			up = look_process_of(look, up->process.parent);
		}
	}
}

static int read_processes(const struct look_files *files,
			  const struct look *before, struct look *ret)
{
	struct scan scan = {
		.before = before, .ret = ret, .self = getpid(),
		.all = !before || !(files->round % KERNEL_ROUNDS),
	};

	ret->io_accounted = !access("/proc/self/io", R_OK);
	proc_each_pid(take_process, &scan);
	find_command(ret, scan.self);
	return scan.err;
}

/* A clock that is set forward and back between two looks shows the same time. */
static int open_clock(void)
{
	const struct itimerspec never = {
		.it_value.tv_sec = (time_t)(INT64_MAX / NS_PER_S),
	};
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 &&
	    timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			    &never, NULL)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool clock_was_set(int clock)
{
	uint64_t expired;

	return read(clock, &expired, sizeof(expired)) < 0 && errno == ECANCELED;
}

void look_open(struct look_files *files)
{
	files->round = 0;
	files->clock = open_clock();
	proc_open(&files->stat, "/proc/stat");
	proc_open(&files->vmstat, "/proc/vmstat");
	proc_open(&files->diskstats, "/proc/diskstats");
	proc_open(&files->interrupts, "/proc/interrupts");
	proc_open(&files->pressure, "/proc/pressure/memory");
	proc_open(&files->clocksource,
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	proc_open(&files->governor,
		  "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
}

void look_close(struct look_files *files)
{
	if (files->clock >= 0)
		close(files->clock);
	proc_close(&files->stat);
	proc_close(&files->vmstat);
	proc_close(&files->diskstats);
	proc_close(&files->interrupts);
	proc_close(&files->pressure);
	proc_close(&files->clocksource);
	proc_close(&files->governor);
}

static void read_word(struct proc_file *file, char *ret)
{
	const char *text = proc_read(file);

	snprintf(ret, FACT_NAME, "%.*s", text ? (int)strcspn(text, "\n") : 0,
		 text ? text : "");
}

static void read_throttled(struct look *ret)
{
	glob_t files;

	ret->throttled = FACT_UNKNOWN;
	if (glob("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count",
		 0, NULL, &files))
		return;
	ret->throttled = 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *file = fopen(files.gl_pathv[i], "re");
		int64_t count = 0;

		if (file && fscanf(file, "%" SCNd64, &count) == 1)
			ret->throttled += count;
		if (file)
			fclose(file);
	}
	globfree(&files);
}

int look_read(struct look_files *files, const struct look_scope *scope,
	      const struct look *before, struct look *ret)
{
	struct proc_io own;
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->time_ns = clock_ns(CLOCK_MONOTONIC);
	ret->wall_ns = offset_of(CLOCK_REALTIME);
	ret->slept_ns = offset_of(CLOCK_BOOTTIME);
	ret->clock_set = clock_was_set(files->clock);
	ret->pressure_us = look_pressure(proc_read(&files->pressure));
	ret->swapped_pages = proc_swapped(proc_read(&files->vmstat));
	look_steal(proc_read(&files->stat), ret);
	if (proc_io_read(getpid(), &own))
		ret->own_bytes = own.write_bytes;
	read_word(&files->clocksource, ret->clocksource);
	read_word(&files->governor, ret->governor);
	/* Many files that seldom change. */
	if (before && files->round % KERNEL_ROUNDS)
		ret->throttled = before->throttled;
	else
		read_throttled(ret);
	err = look_disks(proc_read(&files->diskstats), scope, before, ret);
	if (!err)
		err = look_lines(proc_read(&files->interrupts), scope, before,
				 ret);
	if (!err)
		err = read_processes(files, before, ret);
	files->round++;
	return err;
}

void look_free(struct look *look)
{
	free(look->processes);
	free(look->disks);
	free(look->lines);
	memset(look, 0, sizeof(*look));
}
