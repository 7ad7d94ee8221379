/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Disturbances of a recording: looks at the machine in their own thread, and differences between two looks. read.c and
 * parts.c take a look; judge.c is pure.
 */

#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "machine/machine.h"
#include "store/store.h"

/* Limits above which activity is a disturbance; Documentation/recording.rst has the reasons. */
#define WATCH_CPU_PERCENT	5.0	/* of one processor, each process */
#define WATCH_BYTES_PER_S	(64.0 * 1024)	/* each process, each other disk */
#define WATCH_OWN_TIMES		4.0	/* times the recorder's own writes */
#define WATCH_DEVICE_PER_S	10.0	/* interrupts of a line */
#define WATCH_NETWORK_PER_S	100.0
#define WATCH_PRESSURE_PERCENT	10.0	/* time that some task waited for memory */
#define WATCH_SWAP_PER_S	1.0	/* pages */
#define WATCH_STEAL_PERCENT	1.0	/* of all processors */
#define WATCH_STEP_NS		2000000	/* of CLOCK_REALTIME */
#define WATCH_SLEW_PPM		500	/* the largest value that adjtimex(2) accepts */

/* The role of a process in a recording. */
enum look_process_role {
	ROLE_OTHER,
	ROLE_COMMAND,
	ROLE_RECORDER,
	ROLE_KERNEL,
};

struct look_process {
	struct process process;
	struct proc_io io;
	bool io_known;
	enum look_process_role role;
};

struct look_disk {
	struct disk_use use;
	bool left_out;		/* recorded, above or below a recorded disk, or a partition */
	bool holds_recording;	/* the recorder itself writes to this disk */
};

struct look_line {
	unsigned int number;
	char devices[LINE_DEVICES];
	uint64_t count;		/* on all processors */
	bool left_out;		/* of a controller of recorded disks, or the machine's timer */
	bool network;
};

/* The machine at one time. Numbers that are not known are FACT_UNKNOWN, texts "". */
struct look {
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	int64_t wall_ns;	/* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	int64_t slept_ns;	/* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	bool clock_set;		/* since the last look, CLOCK_REALTIME was set or the machine slept */
	char clocksource[FACT_NAME];
	char governor[FACT_NAME];	/* of the first processor that has one */
	int64_t throttled;	/* number of times that processors were throttled */
	int64_t pressure_us;	/* time that some task waited for memory */
	int64_t swapped_pages;	/* to and from swap */
	int64_t steal_ticks;	/* taken by the host, from all processors */
	unsigned int nr_processors;	/* that are online */
	uint64_t own_bytes;	/* written by this process */
	bool io_accounted;	/* the kernel accounts the I/O of processes */
	bool disks_known;	/* /proc/diskstats was read */
	bool lines_known;	/* /proc/interrupts was read */
	size_t nr_processes;
	struct look_process *processes;	/* in order of pids */
	size_t nr_disks;
	struct look_disk *disks;
	size_t nr_lines;
	struct look_line *lines;
};

/* Find a process by pid. Return: NULL if there is none. */
struct look_process *look_process_of(const struct look *look, int pid);

/* Disks of the recording. Their use is not a disturbance. */
struct look_scope {
	size_t nr_disks;
	const struct disk *disks;	/* recorded */
	char recording[DISK_NAME];	/* disk of the recording's file, "" if not known */
	char recording_pci[DISK_NAME];	/* its controller */
};

/* Files that stay open between looks. */
struct look_files {
	unsigned int round;		/* looks so far */
	int clock;			/* a timer that ends if CLOCK_REALTIME is set, -1: none */
	struct proc_file stat;
	struct proc_file vmstat;
	struct proc_file diskstats;
	struct proc_file interrupts;
	struct proc_file pressure;	/* /proc/pressure/memory */
	struct proc_file clocksource;
	struct proc_file governor;	/* of the first processor */
};

/* Open the files. Facts from a missing file are not known. */
void look_open(struct look_files *files);
void look_close(struct look_files *files);

/*
 * Take a look. @before is the last one, NULL for the first: kinds of devices are copied from it, and mostly also kernel
 * threads. Return: 0 or -ENOMEM; free with look_free() in both cases.
 */
int look_read(struct look_files *files, const struct look_scope *scope,
	      const struct look *before, struct look *ret);
void look_free(struct look *look);

/* Parts of a look that come from one text each. The text may be NULL. */

/* The total of "some" in /proc/pressure/memory in microseconds, or FACT_UNKNOWN. */
int64_t look_pressure(const char *text);

/* steal_ticks and nr_processors from /proc/stat */
void look_steal(const char *text, struct look *ret);

/* Get devices of /proc/diskstats that were ever used, and lines of /proc/interrupts. Return: 0 or -ENOMEM. */
int look_disks(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);
int look_lines(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);

/* Differences between looks: disturbances, and numbers about processes. */
struct changes {
	size_t nr_rows;
	struct host_row *rows;
	size_t nr_disturbances;
	struct disturbance *disturbances;
};

/*
 * Append the differences of two looks. The disturbances have no number yet, and @text lacks the time. Pure. Return: 0
 * or -ENOMEM.
 */
int look_judge(const struct look *before, const struct look *after,
	       double ticks_per_second, struct changes *ret);
void changes_free(struct changes *changes);

/*
 * Is @what the same disturbance as @known, with the same kind and subject, from a look that begins at the end of
 * @known? A clock that was set forward and back is two disturbances, because their sum would be zero.
 */
bool disturbance_goes_on(const struct disturbance *known,
			 const struct disturbance *what);

/* Write the text of a disturbance from its other members; pure. */
void look_describe(struct disturbance *what);

/* watch.c: a look every second, but not so often that looks take more than 1/WATCH_SHARE of a processor. */
#define WATCH_SHARE	500

struct watch;

/*
 * Take the first look and start the thread. @scope is copied; its disks must stay valid. Return: 0 or -errno; end with
 * watch_stop().
 */
int watch_start(const struct look_scope *scope, struct watch **ret);

/*
 * Put rows for all differences since the last call. A disturbance that continues is put again with the same number.
 * Return: 0, -ENOMEM, or -errno of @to.
 */
int watch_take(struct watch *watch, struct rows *to);

/* Take the last look and end the thread. */
void watch_finish(struct watch *watch);

/* Get the kinds that are watched and the kinds that this machine lacks, each separated by blanks, in @size bytes. */
void watch_available(const struct watch *watch, char *watched, char *missing,
		     size_t size);

/* Get all disturbances in the order of their start, after watch_finish(). */
const struct disturbance *watch_all(const struct watch *watch, size_t *nr);
void watch_stop(struct watch *watch);

#endif
