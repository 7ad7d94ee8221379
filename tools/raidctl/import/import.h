/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A blktrace trace, cut into samples of its disks.
 *
 * Memory does not depend on the length of the trace: an account for each disk,
 * a map of what is in flight, a window of events.
 */

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "import/device.h"
#include "import/merge.h"

/* As many as the kernel module counts at once. */
#ifndef BLKTRACE_DEVICES	/* fuzzing takes fewer */
#define BLKTRACE_DEVICES	64
#endif

/* Events between two calls of tick. */
#define BLKTRACE_TICK	65536

/**
 * struct blktrace_import - a running import
 * @merge: the sources, opened by the caller
 * @interval_ns: length of a sample
 * @sample: called for each disk at the end of each sample
 * @capacity: size of a disk in sectors, 0 when it is not known; NULL for never
 * @tick: called now and then; NULL for not at all
 * @data: for @sample and @capacity
 * @tick_data: for @tick
 * @begun_ns: when the trace began; 0 or a time after the first event for not
 *	known, which is then taken to be the first event
 * @devices: disks in the order in which they appear
 * @nr: how many
 * @pending: what is begun on all of them
 * @started: there was an event
 * @start_ns: where the first sample begins
 * @sampled_ns: where the last sample ends
 * @now_ns: time of the last event, never less than of one before it
 * @events: how many, without notes
 *
 * What happens between two events that are more than an interval apart is no
 * more than time that passes: one sample holds it, however long it is.
 */
struct blktrace_import {
	struct blktrace_merge *merge;
	uint64_t interval_ns;
	int (*sample)(void *data, const struct blktrace_device *device,
		      const struct rt_counters *span);
	uint64_t (*capacity)(void *data, uint32_t device);
	int (*tick)(void *data);
	void *data;
	void *tick_data;
	uint64_t begun_ns;
	struct blktrace_device *devices[BLKTRACE_DEVICES];
	size_t nr;
	struct blktrace_pending pending;
	bool started;
	uint64_t start_ns;
	uint64_t sampled_ns;
	uint64_t now_ns;
	uint64_t events;
};

/**
 * blktrace_import_run - read all events and end the last sample
 * @import: merge, interval_ns, sample, tick and data are set, the rest is zero;
 *	to be given to blktrace_import_free()
 *
 * A sample spans (start, start + interval]; the first event belongs to the
 * first.  Every disk is counted from the beginning of the trace on.
 *
 * Return: 0; -EBADMSG and others as blktrace_merge_next(); -E2BIG for more than
 * BLKTRACE_DEVICES disks; -ENOMEM; what @sample or @tick returned.
 */
int blktrace_import_run(struct blktrace_import *import);

/**
 * blktrace_import_check - do the sums of all samples agree?
 * @import: after blktrace_import_run()
 * @text: "hold", or what does not
 * @size: of @text
 */
void blktrace_import_check(struct blktrace_import *import, char *text,
			   size_t size);
void blktrace_import_free(struct blktrace_import *import);

#endif
