/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Disturbances of a recording: looks at the machine in a thread of its own, and differences between two looks.
 * read.c and parts.c take a look; judge.c is pure.
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
#define WATCH_OWN_TIMES		4.0	/* of the recorder's own writes */
#define WATCH_DEVICE_PER_S	10.0	/* interrupts of a line */
#define WATCH_NETWORK_PER_S	100.0
#define WATCH_PRESSURE_PERCENT	10.0	/* time that some task waited for memory */
#define WATCH_SWAP_PER_S	1.0	/* pages */
#define WATCH_STEAL_PERCENT	1.0	/* of all processors */
#define WATCH_STEP_NS		2000000	/* of CLOCK_REALTIME */
#define WATCH_SLEW_PPM		500	/* most that adjtimex(2) accepts */

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
	bool left_out;		/* recorded, made of a recorded disk or part of one, or a partition */
	bool holds_recording;	/* the recorder itself writes to it */
};

struct look_line {
	unsigned int number;
	char devices[LINE_DEVICES];
	uint64_t count;		/* on all processors */
	bool left_out;		/* of a controller of recorded disks, or the clock of the machine */
	bool network;
};

/* The machine at one time; numbers that are not known are FACT_UNKNOWN, texts "". */
struct look {
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	int64_t wall_ns;	/* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	int64_t slept_ns;	/* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	bool clock_set;		/* since the last look CLOCK_REALTIME was set, or the machine slept */
	char clocksource[FACT_NAME];
	char governor[FACT_NAME];	/* of the first processor that has one */
	int64_t throttled;	/* times that processors were slowed down */
	int64_t pressure_us;	/* time that some task waited for memory */
	int64_t swapped_pages;	/* to and from swap */
	int64_t steal_ticks;	/* taken by the host, of all processors */
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

/* Return: NULL when there is no such process. */
struct look_process *look_process_of(const struct look *look, int pid);

/* Disks that belong to the recording; their use is no disturbance. */
struct look_scope {
	size_t nr_disks;
	const struct disk *disks;	/* recorded */
	char recording[DISK_NAME];	/* disk that the recording is written to, "" when not known */
	char recording_pci[DISK_NAME];	/* its controller */
};

/* Files that stay open between looks. */
struct look_files {
	unsigned int round;		/* looks so far */
	int clock;			/* a timer that ends when CLOCK_REALTIME is set, -1 without one */
	struct proc_file stat;
	struct proc_file vmstat;
	struct proc_file diskstats;
	struct proc_file interrupts;
	struct proc_file pressure;	/* /proc/pressure/memory */
	struct proc_file clocksource;
	struct proc_file governor;	/* of the first processor */
};

/* Open the files; of a file that is missing nothing is known. */
void look_open(struct look_files *files);
void look_close(struct look_files *files);

/*
 * Take a look. @before is the last one, NULL for the first: kinds of devices are kept from it, and most times threads
 * of the kernel too. Return: 0 or -ENOMEM; free with look_free() in both cases.
 */
int look_read(struct look_files *files, const struct look_scope *scope,
	      const struct look *before, struct look *ret);
void look_free(struct look *look);

/* Parts of a look that come from one text each; the text may be NULL. */

/* The total of "some" in /proc/pressure/memory, microseconds, or FACT_UNKNOWN. */
int64_t look_pressure(const char *text);

/* steal_ticks and nr_processors from /proc/stat */
void look_steal(const char *text, struct look *ret);

/* Devices of /proc/diskstats that were ever used, and lines of /proc/interrupts. Return: 0 or -ENOMEM. */
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
 * Append the differences of two looks. The disturbances have no number yet, and @text is without the time. Pure.
 * Return: 0 or -ENOMEM.
 */
int look_judge(const struct look *before, const struct look *after,
	       double ticks_per_second, struct changes *ret);
void changes_free(struct changes *changes);

/*
 * Does a look that begins where @known ends find the same disturbance, of one kind and subject? A clock that was set
 * forth and back is two: their sum would be nothing.
 */
bool disturbance_goes_on(const struct disturbance *known,
			 const struct disturbance *what);

/* Write the text of a disturbance from its other members; pure. */
void look_describe(struct disturbance *what);

/*
 * watch.c: looks every second, but never so often that they take more than 1/WATCH_SHARE of a processor.
 */
#define WATCH_SHARE	500

struct watch;

/*
 * Take the first look and go on. @scope is copied; its disks have to stay.
 * Return: 0 or -errno; end with watch_stop().
 */
int watch_start(const struct look_scope *scope, struct watch **ret);

/*
 * Put rows for all differences since the last call. A disturbance that lasts is put again with the same number.
 * Return: 0, -ENOMEM, or -errno of @to.
 */
int watch_take(struct watch *watch, struct rows *to);

/* Take the last look; nothing is watched afterwards. */
void watch_finish(struct watch *watch);

/* Kinds that are watched and kinds that this machine does not have, each separated by blanks, of @size bytes. */
void watch_available(const struct watch *watch, char *watched, char *missing,
		     size_t size);

/* All disturbances so far in the order of their begins; only after watch_finish(). */
const struct disturbance *watch_all(const struct watch *watch, size_t *nr);
void watch_stop(struct watch *watch);

#endif
