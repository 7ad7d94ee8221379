/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Use of the machine while disks were recorded: processors, page cache, the command with all its processes, interrupts
 * of the controllers, cgroups.
 */

#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "disk/disk.h"
#include "raidtrace.h"
#include "store/store.h"

/* Value of a number that this machine does not have. */
#define FACT_UNKNOWN	(-1)

#define FACT_NAME	64

/* proc.c: files of /proc that are read repeatedly. They stay open, which saves most of the time of a reading. */

/* One file, which is always read completely from its start. */
struct proc_file {
	int fd;		/* -1 if it is not open */
	char *text;	/* text of the last reading, terminated; NULL before the first */
	size_t size;	/* of @text */
};

/* Open a file that may be missing; in this case nothing is read. */
void proc_open(struct proc_file *file, const char *path);
void proc_close(struct proc_file *file);

/* Read the file again. Return: its text, valid until the next call; NULL if it cannot be read. */
const char *proc_read(struct proc_file *file);

/* Return: the line after the one at @text, NULL at the end. */
const char *proc_line(const char *text);

/* /proc/PID/io of a process, including children that it waited for. */
struct proc_io {
	uint64_t rchar;		/* bytes that read(2) and similar calls returned, cached or not */
	uint64_t wchar;
	uint64_t syscr;		/* calls that read */
	uint64_t syscw;
	uint64_t read_bytes;	/* fetched from block devices for it */
	uint64_t write_bytes;	/* of pages that it made dirty, and written directly */
	uint64_t cancelled_write_bytes;	/* part of @write_bytes, dropped before it was written */
};

/* Return: false if the file is not readable or the kernel does not account I/O. */
bool proc_io_read(int pid, struct proc_io *ret);

/* One process, with totals since its start. @ticks and @major_faults include children that it waited for. */
struct process {
	int pid;
	int parent;
	uint64_t start;		/* in ticks; distinguishes two processes with the same pid */
	char name[FACT_NAME];
	uint64_t ticks;		/* processor time */
	uint64_t major_faults;	/* pages that were not in memory when they were accessed */
};

/* Read /proc/PID/stat. Return: false if there is no such process. */
bool proc_process_read(int pid, struct process *ret);

/* Parse its line. A name may contain blanks and parentheses. Pure. Return: 0 or -EINVAL. */
int parse_process(const char *text, struct process *ret);

/* Get the ns that the first thread of a process was runnable without a processor. Return: false if not known. */
bool proc_waited_read(int pid, uint64_t *ret);

/* Read a file of a thread with one call; it is shorter than @size. Return: false if it cannot be read. */
bool proc_thread_read(int pid, int thread, const char *name, char *ret, size_t size);

/* Call a function with each process until it returns non-zero. Return: its last result, 0 without processes. */
int proc_each_pid(int (*take)(void *data, int pid), void *data);

/* A disk or partition of /proc/diskstats, with totals since it exists. */
struct disk_use {
	char name[DISK_NAME];	/* as in /sys/block */
	uint64_t requests;	/* completed, of any kind */
	uint64_t bytes;		/* read, written and discarded */
};

/* Get the next one. @text moves behind it and may be NULL. Return: false at the end. */
bool proc_disk_use(const char **text, struct disk_use *ret);

/* Parse a line of the file; pure. Return: 0 or -EINVAL. */
int parse_disk_use(const char *text, struct disk_use *ret);

/* Is a name of /proc/diskstats a disk's, not a partition's? */
bool proc_whole_disk(const char *name);

/* Pages to and from swap, from the text of /proc/vmstat, which may be NULL. FACT_UNKNOWN: not available. */
int64_t proc_swapped(const char *text);

/* interrupts.c: the number of interrupts of each line on each processor */

#define LINE_DEVICES	64

struct interrupt_line {
	unsigned int number;
	char devices[LINE_DEVICES];	/* names of the drivers */
	size_t first;			/* index of its counts in the table */
};

struct interrupt_table {
	size_t nr_processors;
	unsigned int *processors;	/* number of each */
	size_t nr;
	struct interrupt_line *lines;
	uint64_t *counts;		/* of all lines, by processor */
};

/*
 * Parse the text of /proc/interrupts. Lines of processors (LOC, NMI ...) are left out. Return: 0; -EINVAL for other
 * text; -ENOMEM. Free with interrupts_free().
 */
int interrupts_parse(const char *text, struct interrupt_table *ret);
void interrupts_free(struct interrupt_table *table);

/* Counts of a line by processor; NULL if there is no such line. */
const uint64_t *interrupts_of(const struct interrupt_table *table,
			      unsigned int number);

/* Interrupts of the line at an index of the table, on all processors. */
uint64_t interrupts_sum(const struct interrupt_table *table, size_t index);

/* Does a line belong to the PCI device with a directory in /sys? A device without MSI has one line. */
bool interrupts_of_device(const char *directory, unsigned int number);

/* Does a line belong to the PCI device with an address? */
bool interrupts_of_pci(const char *device, unsigned int number);

/* Does a line belong to a network card? */
bool interrupts_of_network(unsigned int number);

/* kernel-threads.c: processor time of kernel threads that compute for disks */

enum kernel_work { WORK_CRYPT, WORK_MD, NR_KERNEL_WORKS };

struct kernel_threads {
	bool needed;		/* a recorded disk is dm or md, or has one above it */
	bool begun;		/* the first reading was made */
	size_t nr;
	struct kernel_thread *threads;	/* all kernel threads, with their time at the last reading */
	uint64_t ticks[NR_KERNEL_WORKS];	/* time since the first reading */
};

/* Start counting. Without dm and md, nothing is read. */
void kernel_threads_begin(struct kernel_threads *all, const struct disk *disks,
			  size_t nr);

/*
 * Add the time since the last reading. If memory is short, the last reading is kept. A worker of a workqueue counts for
 * its last work.
 */
void kernel_threads_look(struct kernel_threads *all);
void kernel_threads_end(struct kernel_threads *all);

/* Name in a recording: "kcryptd", "md". */
const char *kernel_work_name(enum kernel_work work);

/* Work of a thread by its name, such as "kworker/0:1-kcryptd/253:0"; NR_KERNEL_WORKS for none. Pure. */
enum kernel_work kernel_work_of(const char *name);

/*
 * process-tree.c: sums of a process's descendants, running and ended. The kernel adds the account of a child to its
 * parent's when the parent waits for it, so the sum over the running ones never decreases. Only a child whose parent
 * ignores SIGCHLD is lost.
 */

struct tree_use {
	uint64_t ticks;		/* processor time */
	uint64_t major_faults;
	struct proc_io io;
	bool io_known;		/* the kernel accounts it */
	uint64_t waited_ns;	/* first threads that were runnable and had no processor */
	bool waited_known;	/* the kernel accounts it */
	unsigned int nr;	/* living processes */
};

/*
 * Read the sums of all descendants of a process, without the process itself. @ended: those that it has waited for. A
 * child that is waited for during the call is missing until the next call.
 */
void tree_read(int root, const struct tree_use *ended, struct tree_use *ret);

/* Add a process that has ended, but was not waited for yet. */
void tree_add_ended(int pid, struct tree_use *ended);

/* Call a function with each descendant of a process that runs. */
void tree_each(int root, void (*take)(void *data, const struct process *process), void *data);

/*
 * looks.c: what the command does, by looks from time to time at the state and the system call of all of its threads. A
 * look counts as running if a thread runs; else as in the kernel if one is there without interruption, as for a disk,
 * with the function (wchan); else for each thing that a thread waits for. A pipe or a child counts only if no thread
 * waits for anything else.
 */

enum command_look {
	LOOK_RUNNING,
	LOOK_KERNEL,
	LOOK_STOPPED,	/* by a signal, or frozen with its control group */
	LOOK_LOCK,	/* of a file or between threads */
	LOOK_SOCKET,
	LOOK_SLEEP,
	LOOK_REQUESTS,	/* of libaio or io_uring */
	LOOK_POLL,	/* for any of several things */
	LOOK_OTHER,
	LOOK_PIPE,
	LOOK_CHILD,
	NR_LOOKS
};

#define LOOK_WCHAN	64
#define LOOK_WCHANS	16

/* Looks since the begin; by the functions of the kernel, as far as there is room. */
struct looks {
	uint64_t all;
	uint64_t nr[NR_LOOKS];
	size_t nr_wchans;
	struct wchan_looks {
		char name[LOOK_WCHAN];	/* "": not known */
		uint64_t nr;
	} wchans[LOOK_WCHANS];
	uint64_t next_ns;	/* no look before this time */
};

/* Look at the descendants of a process, unless the last look was so short ago that looks would cost much. */
void looks_take(struct looks *looks, int root);

/* Name in a recording. */
const char *look_name(enum command_look look);

/* The reason of a thread in a system call, by the link in /proc of the descriptor that is its first argument. Pure. */
enum command_look look_of_call(long call, const char *link);

/* cgroup.c: paths of the cgroups that bios are charged to */

/* Get the directory of the hierarchy with the I/O controller. Return: its version, 1 if there is one; 0 for none. */
int cgroup_mount(char *ret, size_t size);

/*
 * Fill in the paths of the cgroups of a new sample, from the root of the hierarchy: "removed (ID)" if it does not exist
 * any more, "(ID)" if it is not known. Needs CAP_DAC_READ_SEARCH, which root has.
 */
void cgroups_name(struct rt_counters *counters);

/* cgroup-limits.c: limits and weights of each cgroup */

#define CGROUP_LIMIT_FILES	11

/* Name of a file, which is also the name of a setting. Return: NULL if hierarchies of this version lack it. */
const char *cgroup_limit_file(unsigned int file, int version);

struct cgroup_limit {
	unsigned int file;	/* below CGROUP_LIMIT_FILES */
	char *path;	/* of the cgroup, from the root of its hierarchy: "/a/b"; "": the root */
	char *lines;	/* the file, a line for each disk */
};

struct cgroup_limits {
	size_t nr;
	struct cgroup_limit *known;	/* sorted by path */
};

/*
 * Read these files of all cgroups of a hierarchy with the I/O controller. Below a cgroup without io.max no cgroup has
 * it, because controllers are enabled from the top. Return: 0; -ENOMEM; another -errno if @where cannot be read. Free
 * with cgroup_limits_free() in all cases.
 */
int cgroup_limits_read(const char *where, int version, struct cgroup_limits *ret);

/*
 * A file's text for a disk, by its number "8:0": "PATH rbps=1048576 wbps=max riops=max wiops=max", or in version 1
 * "PATH 1048576", a line for each cgroup. A weight of 100 for all disks, the kernel's default, is left out. Return:
 * text to free(), "" without limits; NULL without memory.
 */
char *cgroup_limits_of(const struct cgroup_limits *limits, unsigned int file, const char *device);
void cgroup_limits_free(struct cgroup_limits *limits);

/* machine.c: rows are differences between two readings; differences of zero are left out */

/* Fields of the first line of /proc/stat, in this order. */
#define HOST_CPU_FIELDS	10
/* Counters of /proc/vmstat that are kept; the table is in machine.c. */
#define HOST_VM_COUNTERS 24

/* The last reading. */
struct host {
	char (*pcis)[DISK_NAME];	/* addresses of the controllers of the recorded disks */
	size_t nr_pcis;
	struct proc_file stat;
	struct proc_file vmstat;
	struct proc_file interrupts;
	struct tree_use ended;		/* processes that were waited for */
	uint64_t looked_ns;
	bool known_cpu;
	uint64_t cpu[HOST_CPU_FIELDS];	/* ticks */
	bool known_vm[HOST_VM_COUNTERS];
	uint64_t vm[HOST_VM_COUNTERS];
	struct tree_use tree;		/* the command */
	struct looks looks;
	struct looks looks_put;		/* of the last host_look() */
	struct interrupt_table lines;
	struct kernel_threads kernel;
};

/*
 * Make the first reading, at a time of CLOCK_MONOTONIC. From then on, orphans of the command become children of this
 * process, so that all its processes are counted. Return: 0 or -ENOMEM; end with host_end().
 */
int host_begin(struct host *host, const struct disk *disks, size_t nr,
	       uint64_t now_ns);

/* Put a row for each difference from the last reading. Return: 0 or -errno of @to. */
int host_look(struct host *host, uint64_t now_ns, struct rows *to);

/* Look at the command; the next host_look() puts the result. Each sample may. */
void host_glimpse(struct host *host);

/* Get the sources that this machine has, separated by blanks. */
void host_available(const struct host *host, char *ret, size_t size);

/* Report a child that has ended and will be waited for next. */
void host_reaped(struct host *host, pid_t pid);
void host_end(struct host *host);

/* Replace bytes of a name that are not printable ASCII by '?'. */
void host_clean(char *text);

#endif
