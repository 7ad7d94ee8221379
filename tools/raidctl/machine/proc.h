/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Files of /proc that are read again and again while a recording runs.  They
 * stay open, which spares most of what a look costs.
 */

#ifndef MACHINE_PROC_H
#define MACHINE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/process.h"

/**
 * struct proc_file - one file, read whole from its begin each time
 * @fd: -1 when it is not open
 * @text: what was read last, terminated; NULL before
 * @size: of @text
 */
struct proc_file {
	int fd;
	char *text;
	size_t size;
};

/* proc_open - a file that may be missing; then nothing is read of it */
void proc_open(struct proc_file *file, const char *path);
void proc_close(struct proc_file *file);

/**
 * proc_read - read it anew
 * @file: opened
 *
 * Return: its text, valid until the next call; NULL when it cannot be read.
 */
const char *proc_read(struct proc_file *file);

/* proc_line - what follows @text's present line, NULL at the end */
const char *proc_line(const char *text);

/**
 * struct proc_io - /proc/PID/io, of a process and of children it waited for
 * @rchar: bytes that read(2) and the like returned, cached or not
 * @wchar: bytes given to write(2) and the like
 * @syscr: calls that read
 * @syscw: calls that write
 * @read_bytes: bytes fetched from block devices for it
 * @write_bytes: bytes of pages that it made dirty, and wrote directly
 * @cancelled_write_bytes: of @write_bytes, dropped before they were written
 */
struct proc_io {
	uint64_t rchar;
	uint64_t wchar;
	uint64_t syscr;
	uint64_t syscw;
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t cancelled_write_bytes;
};

/* proc_io_read - false when it may not be read or is not accounted */
bool proc_io_read(int pid, struct proc_io *ret);

/* proc_process_read - /proc/PID/stat without its I/O; false for no process */
bool proc_process_read(int pid, struct process *ret);

/**
 * proc_each_pid - call a function with each process
 * @found: non-zero ends it
 * @data: for @found
 *
 * Return: what @found returned last, 0 when there was no process.
 */
int proc_each_pid(int (*found)(void *data, int pid), void *data);

/**
 * proc_disk_use - the next disk or partition of /proc/diskstats
 * @text: of the file, is moved beyond what was taken; may be NULL
 * @ret: since the disk is there
 *
 * Return: false at the end.
 */
bool proc_disk_use(const char **text, struct disk_use *ret);

/* proc_whole_disk - is a name of /proc/diskstats a disk's, not a partition's? */
bool proc_whole_disk(const char *name);

/**
 * proc_swapped - pages to and from swap
 * @text: of /proc/vmstat, may be NULL
 *
 * Return: FACT_UNKNOWN when @text is NULL or does not tell.
 */
int64_t proc_swapped(const char *text);

#endif
