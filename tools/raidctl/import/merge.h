/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Many sources of blktrace records, or one stream, in the order of time.
 *
 * What one CPU records is in order.  So of a file per CPU one event each is
 * enough to merge them.  A stream is what CPUs wrote one after the other in
 * pieces as long as the kernel's buffers; there a window of BLKTRACE_WINDOW
 * events is sorted.  An event that comes later than that is handed out when it
 * is found and counted as late.
 */

#ifndef IMPORT_MERGE_H
#define IMPORT_MERGE_H

#include "import/blktrace.h"

/* Three of blktrace's default buffers of 512 KiB for each of four CPUs. */
#define BLKTRACE_WINDOW	131072

struct blktrace_held;

/**
 * struct blktrace_merge - sources being read in the order of time
 * @nr: how many sources
 * @readers: the sources, the caller's
 * @note: called with each note when it is read; non-zero ends the reading.
 *	Notes are not handed out: blkparse -d leaves them with another clock than
 *	the events
 * @data: for @note
 * @held: events that were read and not returned yet, a heap by time
 * @events: the events of @held
 * @nr_held: length of the heap
 * @window: number of events that are kept of one source
 * @order: events read so far, puts those of one time in order
 * @last_ns: time of the event handed out last
 * @notes: notes read so far
 * @late: events handed out after one of a later time
 * @failed: index of the source that the last failure is about
 */
struct blktrace_merge {
	size_t nr;
	struct blktrace_reader *readers;
	int (*note)(void *data, const struct blktrace_event *event,
		    const struct blktrace_note *note);
	void *data;
	struct blktrace_held *held;
	struct blktrace_event *events;
	size_t nr_held;
	size_t window;
	uint64_t order;
	uint64_t last_ns;
	uint64_t notes;
	uint64_t late;
	size_t failed;
};

/**
 * blktrace_merge_open - begin to read sources together
 * @merge: nr, readers, note and data are set, the rest is zero; to be given to
 *	blktrace_merge_close()
 * @window: events to sort when there is but one source, at least 1; 1 for a
 *	source that is in order
 *
 * Return: 0; -EBADMSG and others as blktrace_next() does; -ENOMEM; what @note
 * returned.
 */
int blktrace_merge_open(struct blktrace_merge *merge, size_t window);

/**
 * blktrace_merge_next - the next event of all sources
 * @merge: open
 * @event: filled in
 *
 * Return: 1; 0 at the end; as blktrace_merge_open() otherwise.
 */
int blktrace_merge_next(struct blktrace_merge *merge,
			struct blktrace_event *event);

/* blktrace_merge_close - memory of the merge, not its readers */
void blktrace_merge_close(struct blktrace_merge *merge);

#endif
