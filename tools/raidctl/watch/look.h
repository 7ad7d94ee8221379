/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One look at what could disturb a recording, and what two of them tell.
 * Reading is in read.c; judging, judge.c, is pure.
 */

#ifndef WATCH_LOOK_H
#define WATCH_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "machine/interrupts.h"
#include "machine/proc.h"
#include "machine/process.h"
#include "store/machine.h"

/*
 * Above these something is called a disturbance; Documentation/recording.rst
 * gives the reasons.
 */
#define WATCH_CPU_PERCENT	5.0	/* of one processor, each process */
#define WATCH_BYTES_PER_S	(64.0 * 1024)	/* each process, each other disk */
#define WATCH_OWN_TIMES		4.0	/* of what the recorder itself wrote */
#define WATCH_DEVICE_PER_S	10.0	/* interrupts of a line */
#define WATCH_NETWORK_PER_S	100.0
#define WATCH_PRESSURE_PERCENT	10.0	/* time that some task waited for memory */
#define WATCH_SWAP_PER_S	1.0	/* pages */
#define WATCH_STEAL_PERCENT	1.0	/* of all processors */
#define WATCH_STEP_NS		2000000	/* of CLOCK_REALTIME */
#define WATCH_SLEW_PPM		500	/* most that adjtimex(2) accepts */

enum look_process_role {
	ROLE_OTHER,
	ROLE_COMMAND,
	ROLE_RECORDER,
	ROLE_KERNEL,
};

/**
 * struct look_process - one process at one time
 * @process: what /proc/PID/stat tells
 * @io: what it read and wrote so far
 * @io_known: @io could be read
 * @role: what it is in a recording
 */
struct look_process {
	struct process process;
	struct proc_io io;
	bool io_known;
	enum look_process_role role;
};

/**
 * struct look_disk - one block device
 * @use: so far
 * @left_out: recorded, made of a recorded disk or part of one, or a partition
 * @holds_recording: the recorder itself writes to it
 */
struct look_disk {
	struct disk_use use;
	bool left_out;
	bool holds_recording;
};

/**
 * struct look_line - one interrupt line
 * @number: of it
 * @devices: that raise it
 * @count: on all processors
 * @left_out: of a controller of recorded disks, or the clock of the machine
 * @network: of a network card
 */
struct look_line {
	unsigned int number;
	char devices[LINE_DEVICES];
	uint64_t count;
	bool left_out;
	bool network;
};

/**
 * struct look - everything at one time; what is not known is marked so
 * @time_ns: CLOCK_MONOTONIC
 * @wall_ns: CLOCK_REALTIME minus CLOCK_MONOTONIC
 * @slept_ns: CLOCK_BOOTTIME minus CLOCK_MONOTONIC
 * @clock_set: CLOCK_REALTIME was set since the look before, or the machine slept
 * @clocksource: name of the clock that the kernel uses, "" when unknown
 * @governor: of the first processor that has one, "" when unknown
 * @throttled: times processors were slowed down, FACT_UNKNOWN
 * @pressure_us: time that some task waited for memory, FACT_UNKNOWN
 * @swapped_pages: to and from swap, FACT_UNKNOWN
 * @steal_ticks: taken by the host, of all processors, FACT_UNKNOWN
 * @nr_processors: that are online
 * @own_bytes: written by this process
 * @io_accounted: the kernel knows the I/O of processes
 * @disks_known: /proc/diskstats was read
 * @lines_known: /proc/interrupts was read
 * @nr_processes: length of @processes
 * @processes: in order of pids
 * @nr_disks: length of @disks
 * @disks: block devices
 * @nr_lines: length of @lines
 * @lines: of interrupts
 */
struct look {
	uint64_t time_ns;
	int64_t wall_ns;
	int64_t slept_ns;
	bool clock_set;
	char clocksource[FACT_NAME];
	char governor[FACT_NAME];
	int64_t throttled;
	int64_t pressure_us;
	int64_t swapped_pages;
	int64_t steal_ticks;
	unsigned int nr_processors;
	uint64_t own_bytes;
	bool io_accounted;
	bool disks_known;
	bool lines_known;
	size_t nr_processes;
	struct look_process *processes;
	size_t nr_disks;
	struct look_disk *disks;
	size_t nr_lines;
	struct look_line *lines;
};

/* look_process_of - the process of a pid, NULL when there is none */
struct look_process *look_process_of(const struct look *look, int pid);

/**
 * struct look_scope - what is not a disturbance
 * @nr_disks: of @disks
 * @disks: recorded
 * @recording: disk that the recording is written to, "" when none is known
 * @recording_pci: its controller
 */
struct look_scope {
	size_t nr_disks;
	const struct disk *disks;
	char recording[DISK_NAME];
	char recording_pci[DISK_NAME];
};

/**
 * struct look_files - what stays open between looks
 * @round: looks so far
 * @clock: a timer that ends when CLOCK_REALTIME is set, -1 when there is none
 * @stat: /proc/stat
 * @vmstat: /proc/vmstat
 * @diskstats: /proc/diskstats
 * @interrupts: /proc/interrupts
 * @pressure: /proc/pressure/memory
 * @clocksource: of sysfs
 * @governor: of the first processor, in sysfs
 */
struct look_files {
	unsigned int round;
	int clock;
	struct proc_file stat;
	struct proc_file vmstat;
	struct proc_file diskstats;
	struct proc_file interrupts;
	struct proc_file pressure;
	struct proc_file clocksource;
	struct proc_file governor;
};

/* look_open - open what each look reads; what cannot be had is not known */
void look_open(struct look_files *files);
void look_close(struct look_files *files);

/**
 * look_read - take a look
 * @files: opened
 * @scope: what belongs to the recording
 * @before: the last look, NULL for the first; kinds of devices are not read
 *	again, and threads of the kernel are not read anew each time
 * @ret: to be given to look_free(), also after a failure
 *
 * Return: 0 or -ENOMEM.
 */
int look_read(struct look_files *files, const struct look_scope *scope,
	      const struct look *before, struct look *ret);
void look_free(struct look *look);

/**
 * struct look_told - receives the differences of two looks
 * @disturbed: something was; kind, subject, unit and value are set, and text
 *	without the time
 * @row: a number about a process
 * @data: for both
 */
struct look_told {
	int (*disturbed)(void *data, const struct disturbance *what);
	int (*row)(void *data, const struct host_row *row);
	void *data;
};

/**
 * look_judge - what happened between two looks; pure
 * @before: the first
 * @after: the second
 * @ticks_per_second: of processor time
 * @told: receives the differences
 *
 * Return: 0 or what a function of @told returned.
 */
int look_judge(const struct look *before, const struct look *after,
	       double ticks_per_second, const struct look_told *told);

/**
 * disturbance_goes_on - is what a look found the one that the look before found?
 * @known: found before
 * @what: found by the look that begins where @known ends
 *
 * Of the same kind and subject.  A clock that was set forth and back is two:
 * their sum would say that nothing happened.
 */
bool disturbance_goes_on(const struct disturbance *known,
			 const struct disturbance *what);

/* look_describe - text of a disturbance from its other members; pure */
void look_describe(struct disturbance *what);

/* Parts of a look that come from one text each. */

/*
 * look_pressure - total of "some" in /proc/pressure/memory, microseconds;
 *	FACT_UNKNOWN when @text is NULL or does not tell
 */
int64_t look_pressure(const char *text);

/* look_steal - steal_ticks and nr_processors from /proc/stat */
void look_steal(const char *text, struct look *ret);

/*
 * look_disks  devices of /proc/diskstats that were ever used
 * look_lines  lines of /proc/interrupts
 *
 * What @before has is not classified anew; it may be NULL.
 *
 * Return: 0 or -ENOMEM.
 */
int look_disks(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);
int look_lines(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);

#endif
