/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Recordings: facts about the machine, except its disks.
 *
 * Functions take what writer_put() hands on, and return 0 or -errno.
 */

#ifndef STORE_MACHINE_H
#define STORE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define HOST_NAME	32
#define HOST_SUBJECT	64
#define HOST_TEXT	192

/**
 * struct host_row - one number about a span of time
 * @start_ns: begin of the span
 * @end_ns: its end
 * @source: where it is from: cpu, vmstat, command, process, interrupt
 * @subject: of which of them, "" where there is one only
 * @name: what is counted
 * @unit: of @value
 * @value: the difference between begin and end
 */
struct host_row {
	uint64_t start_ns;
	uint64_t end_ns;
	char source[HOST_NAME];
	char subject[HOST_SUBJECT];
	char name[HOST_NAME];
	char unit[HOST_NAME];
	int64_t value;
};

/**
 * struct disturbance - something that was not the command's doing
 * @number: of it; the row of that number is replaced
 * @kind: processor, process-io, disk, interrupts, memory, swap, clock, ...
 * @subject: who
 * @start_ns: begin of the first look that found it
 * @end_ns: end of the last look that found it
 * @unit: of @value
 * @value: all that it did between
 * @text: the same in words
 */
struct disturbance {
	uint32_t number;
	char kind[HOST_NAME];
	char subject[HOST_SUBJECT];
	uint64_t start_ns;
	uint64_t end_ns;
	char unit[HOST_NAME];
	int64_t value;
	char text[HOST_TEXT];
};

/**
 * struct stacked - a disk and one that it is part of
 * @target: number of the disk
 * @parent: number of the one above
 */
struct stacked {
	uint32_t target;
	uint32_t parent;
};

/**
 * struct note_row - a note of the user
 * @time_ns: CLOCK_MONOTONIC
 * @text: in their words
 */
struct note_row {
	uint64_t time_ns;
	char text[1024];
};

/* Rows as writer_put() hands them on; each returns 0 or -errno. */
int store_put_host(struct store *store, const void *host_row);
int store_put_disturbance(struct store *store, const void *disturbance);
int store_put_stacked(struct store *store, const void *stacked);
int store_put_note(struct store *store, const void *note_row);

#endif
