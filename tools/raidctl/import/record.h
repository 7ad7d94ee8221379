/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A blktrace trace as a recording: what is stored of it and when. */

#ifndef IMPORT_RECORD_H
#define IMPORT_RECORD_H

#include "import/files.h"
#include "import/import.h"
#include "store/store.h"

/* Names of processes that are kept, and the length of one with its end. */
#define BLKTRACE_PROCESSES	256
#define BLKTRACE_PROCESS_NAME	16

/**
 * struct blktrace_capacity - size of a disk, which no trace tells
 * @disk: as name_disk() in record.c has it, "" for any
 * @sectors: its size, 0 is none
 */
struct blktrace_capacity {
	char disk[RT_NAME_MAX];
	uint64_t sectors;
};

/**
 * struct blktrace_record - a recording being made of a trace
 * @store: the recording, empty at first
 * @files: of the trace
 * @import: the accounting
 * @nr_capacities: length of @capacities
 * @capacities: the first that fits a disk is its size
 * @nr_targets: disks that are in the recording
 * @samples: since the last commit
 * @wall_ns: the traced machine's clock when tracing began, nanoseconds since
 *	1970; 0 when the trace does not tell
 * @processes: names that the trace has
 * @nr_processes: how many
 *
 * Those before @nr_targets are set by the caller, the rest is zero.
 */
struct blktrace_record {
	struct store *store;
	const struct blktrace_files *files;
	struct blktrace_import *import;
	size_t nr_capacities;
	const struct blktrace_capacity *capacities;
	size_t nr_targets;
	unsigned int samples;
	uint64_t wall_ns;
	char processes[BLKTRACE_PROCESSES][BLKTRACE_PROCESS_NAME];
	size_t nr_processes;
};

/*
 * Functions return 0 or -errno, store_error() then has words.  Between begin
 * and end a transaction is open; end commits it.
 *
 * blktrace_record_begin   what is known before the first event
 * blktrace_record_end	   what is known after the last; takes back what the
 *			   trace turned out not to tell
 * blktrace_record_note	   for struct blktrace_merge, @data is the record
 * blktrace_record_sample  for struct blktrace_import, likewise
 */
int blktrace_record_begin(struct blktrace_record *record);
int blktrace_record_end(struct blktrace_record *record);
int blktrace_record_note(void *data, const struct blktrace_event *event,
			 const struct blktrace_note *note);
int blktrace_record_sample(void *data, const struct blktrace_device *device,
			   const struct rt_counters *span);

/* blktrace_record_capacity - for struct blktrace_import, likewise */
uint64_t blktrace_record_capacity(void *data, uint32_t device);

/* blktrace_record_missing - numbers left out among the events, on all disks */
uint64_t blktrace_record_missing(const struct blktrace_record *record);

#endif
