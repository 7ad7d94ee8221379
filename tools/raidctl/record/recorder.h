/* SPDX-License-Identifier: GPL-2.0-or-later */

/* From snapshots of targets to samples of a recording. */

#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/disk.h"
#include "disk/journal.h"
#include "disk/settings.h"
#include "machine/proc.h"
#include "raidtrace.h"
#include "store/writer.h"

/*
 * Disks that do nothing need no snapshot at each sample: a look at
 * /proc/diskstats, one for all disks, tells that nothing was begun or ended.
 * Their sample goes on until something does, or for a second.
 */

/* The numbers of a line of /proc/diskstats; newer kernels may have more. */
#define IDLE_LINE	256

/**
 * struct idle_line - of one disk, as it was at its last sample
 * @text: "" when that is not known
 */
struct idle_line {
	char text[IDLE_LINE];
};

/**
 * idle_since - did nothing happen to a disk since its last sample?
 * @text: of /proc/diskstats now, NULL when it cannot be read
 * @major: of the disk
 * @minor: of the disk
 * @last: its line at the last sample; takes the line now unless it is idle
 *
 * Return: whether no request ended or was begun, and none is in flight.
 */
bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last);

/**
 * struct recorded - one disk of a recording
 * @target: in the kernel
 * @number: in the recording
 * @journals: of its file systems, as they were sent to the module; only for targets that we attached
 * @ours: attached by this process, which then has to detach it
 * @ended: no more samples: the disk is gone or the target was deleted
 * @left_out: of the sample that is being taken
 * @idle: what tells that it did nothing since the last one
 * @reset_now: since the last sample by somebody else
 * @was_reset: by somebody else meanwhile, so sums cannot be checked
 * @before: requests in flight where the recording begins, by direction
 * @last: snapshot that the last sample ends with, or that is being stored ends with
 * @span: what happened since the sample before, while that is being stored
 * @total: all samples together
 * @begin_ns: when its first sample begins
 * @carried: reads and writes that may have been in flight when counting began, -1 when that is not known
 * @events: its requests are kept one by one
 * @known: number of the last of them
 * @lost: how many ended so fast that they were gone before they were looked at
 * @put_readahead: sectors of readahead that are stored, -1 for none yet
 * @settings: known so far
 * @recorder: what it belongs to
 */
struct recorded {
	struct rt_target target;
	struct journals journals;
	uint32_t number;
	bool ours;
	bool ended;
	bool left_out;
	struct idle_line idle;
	bool reset_now;
	bool was_reset;
	uint32_t before[RT_DIRECTIONS];
	struct rt_counters last;
	struct rt_counters span;
	struct rt_counters total;
	uint64_t begin_ns;
	int64_t carried;
	bool events;
	uint64_t known;
	uint64_t lost;
	uint64_t put_readahead;
	struct settings settings;
	struct recorder *recorder;
};

enum moment {
	MOMENT_SAMPLE,
	MOMENT_CUT,
	MOMENT_END,
};

/**
 * struct recorder - a running recording
 * @client: connected
 * @writer: NULL until recorder_begin()
 * @nr: how many disks
 * @disks: the disks
 * @streams: that are remembered of each, 0 for the module's default
 * @hwq: hardware queues are counted, too, where the disk is not attached yet
 * @events: requests are to be kept one by one
 * @owner: file that says which targets are ours
 * @unsure: a disk may have been attached without our knowing; the owner's file
 *	then stays, and the next raidctl looks. At worst it detaches a disk that
 *	somebody attached by hand in the same instant
 * @phase: number of the phase now
 * @start_ns: where the first sample begins
 * @now_ns: where the last sample ends
 * @queue_ns: when settings of the queue were read last
 * @gone: at least one disk ended early
 * @diskstats: tells which disks did nothing
 * @mounts_changed: the mount table has to be read again
 * @limits_ns: when limits of cgroups are to be looked for again
 * @besides: called with each sample before its transaction ends, NULL for none
 * @data: for @besides
 */
struct recorder {
	struct rt_client *client;
	struct writer *writer;
	size_t nr;
	struct recorded *disks;
	uint32_t streams;
	bool hwq;
	bool events;
	int owner;
	bool unsure;
	uint32_t phase;
	uint64_t start_ns;
	uint64_t now_ns;
	uint64_t queue_ns;
	bool gone;
	struct proc_file diskstats;
	bool mounts_changed;
	uint64_t limits_ns;
	int (*besides)(void *data, uint64_t now_ns, enum moment moment);
	void *data;
};

/**
 * recorder_attach - make targets of disks that are none yet
 * @recorder: only client and streams are set
 * @disks: what to record
 * @nr: how many
 *
 * Return: 0 or an exit status; the failure is printed and nothing is attached.
 */
int recorder_attach(struct recorder *recorder, const struct disk *disks,
		    size_t nr);

/**
 * recorder_begin - describe the disks and begin the first phase
 * @recorder: attached
 * @store: empty
 * @phase: name of the first phase
 *
 * The first sample of a disk that was attached for this recording begins when
 * it was attached, that of another now.
 *
 * Return: 0 or -errno; store_error() has words if they are not "".
 */
int recorder_begin(struct recorder *recorder, struct store *store,
		   const char *phase);

/**
 * recorder_sample - end a sample of each disk and have it stored
 * @recorder: begun
 *
 * An error may be that of an earlier sample.
 *
 * Return: 0 or -errno.
 */
int recorder_sample(struct recorder *recorder);

/* recorder_cut - recorder_sample(), then begin another phase */
int recorder_cut(struct recorder *recorder, const char *phase);

/* recorder_output - keep what the command printed for the next sample */
int recorder_output(struct recorder *recorder, const char *stream,
		    const char *text, size_t len);

/**
 * recorder_check - do the sums of all samples agree?
 * @recorder: begun
 * @text: "hold", or what does not
 * @size: of @text
 */
void recorder_check(const struct recorder *recorder, char *text, size_t size);

/* recorder_end - end the phase and store how it ended; all is stored then */
int recorder_end(struct recorder *recorder, const char *why);

/* In recorder-events.c; 0 or -errno: requests are known from now on; those that ended until the last sample. */
int recorder_begin_events(struct recorded *disk);
int recorder_put_events(struct recorded *disk);

/* recorder_put_setting - for settings_set(), of a struct recorded */
int recorder_put_setting(void *data, const char *name, const char *value);

/**
 * recorder_put_limits - setting io.max: what cgroups may have of each disk
 * @recorder: begun, or its disks have their first snapshot
 * @always: also where the last look is so short ago that this one takes more
 *	than 1/500 of a processor
 *
 * Return: 0 or -errno.
 */
int recorder_put_limits(struct recorder *recorder, bool always);

/* recorder_find_journals - look again, after a mount, and tell the kernel */
int recorder_find_journals(struct recorded *disk);

/* recorder_detach - detach what is ours; the last thing that is done */
void recorder_detach(struct recorder *recorder);

/* recorder_free - let go of memory and of the store */
void recorder_free(struct recorder *recorder);

/* recorder_all_ended - is no disk left to be sampled? */
bool recorder_all_ended(const struct recorder *recorder);

#endif
