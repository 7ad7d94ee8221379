/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording of a blktrace trace. Files are read (files.c, blktrace.c), merged in order of time (merge.c), divided
 * into samples (import.c) and counted by the code of the kernel module (device.c, events.c), with maps of bios and
 * requests in flight (pending.c, inflight.c). record.c stores the result.
 *
 * Memory does not depend on the length of the trace: an account for each disk, maps of limited size, a window of
 * events.
 */

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "account.h"
#include "disk/disk.h"
#include "histogram.h"
#include "raidtrace.h"
#include "store/store.h"

/*
 * blktrace.c: the records of one source, which is a file of blktrace for one CPU, or a stream of records of any CPUs.
 * Versions 1 (48 bytes) and 2 (64 bytes, Linux 7.x) and both byte orders are accepted. A source is not trusted.
 */

/* No kernel has more CPUs; a record with a higher number is invalid. */
#define BLKTRACE_CPUS		8192
/* Bytes of a note's text that are kept. The kernel writes at most 128. */
#define BLKTRACE_NOTE_TEXT	256
/* Least size of a reader's buffer. */
#define BLKTRACE_BUFFER_MIN	4096

enum blktrace_what {
	BLKTRACE_QUEUE,		/* Q, a bio is queued */
	BLKTRACE_GETRQ,		/* G, a request is allocated for a bio */
	BLKTRACE_BACK_MERGE,	/* M of a bio: it is appended to a request */
	BLKTRACE_FRONT_MERGE,	/* F: it is put in front of a request */
	BLKTRACE_REQUEST_MERGE,	/* M of a request: it is merged into another */
	BLKTRACE_SPLIT,		/* X: a bio is split in two */
	BLKTRACE_INSERT,	/* I: a request is inserted into the scheduler */
	BLKTRACE_ISSUE,		/* D: a request is issued to the driver */
	BLKTRACE_REQUEUE,	/* R: the driver gives it back */
	BLKTRACE_COMPLETE,	/* C of a request */
	BLKTRACE_BIO_COMPLETE,	/* C of a bio without a request */
	BLKTRACE_PLUG,		/* P: a task starts to hold requests back */
	BLKTRACE_UNPLUG,	/* U: the task releases them */
	BLKTRACE_UNPLUG_SLEEP,	/* UT: they are released because the task sleeps */
	BLKTRACE_NOTE,		/* a process name, a timestamp, a message */
	BLKTRACE_OTHER,		/* S, A, and unknown actions */
};

/* One record. */
struct blktrace_event {
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the traced machine, below 2^63 */
	uint64_t sector;	/* first sector, 0 without a position */
	uint32_t bytes;		/* length; of a completion, its part; of an unplug, the number of requests */
	uint32_t device;	/* major << 20 | minor */
	uint32_t sequence;	/* number among the events of its device and CPU */
	uint16_t cpu;		/* below BLKTRACE_CPUS */
	uint8_t what;		/* enum blktrace_what */
	uint8_t direction;	/* enum raidtrace_direction */
	bool write;		/* the operation writes, in any direction */
	bool zone_append;
	bool ahead;		/* readahead */
	bool preflush;		/* a flush precedes it */
	bool fua;
	bool error;		/* completed with a status other than success */
};

enum blktrace_note_kind {
	BLKTRACE_NOTE_PROCESS,
	BLKTRACE_NOTE_TIMESTAMP,
	BLKTRACE_NOTE_MESSAGE,
	BLKTRACE_NOTES,		/* unknown */
};

/* The data of a BLKTRACE_NOTE. */
struct blktrace_note {
	unsigned int kind;
	uint32_t wall_s;	/* for a timestamp: seconds since 1970 at the event's time */
	uint32_t wall_ns;	/* below a second */
	size_t len;
	const char *text;	/* for other notes: any bytes, not terminated; valid until the next record */
};

/* Source of bytes. read() is like read(2), but returns -errno. */
struct blktrace_input {
	ssize_t (*read)(void *data, void *to, size_t room);
	void *data;
};

struct blktrace_reader {
	struct blktrace_input input;
	unsigned char *buffer;	/* bytes in [at, end) are read, but not yet used */
	size_t size;
	size_t at;
	size_t end;
	bool ended;		/* the end of the input is reached */
	uint64_t offset;	/* offset in the source of the last record, or of the invalid or cut one */
	uint64_t passed;	/* bytes of the source before buffer[0] */
	unsigned int version;	/* 1 or 2, 0 before the first record */
	bool swapped;		/* its byte order is not that of this machine */
	bool cut;		/* the source ends in the record at @offset, or has only zeros from there */
	const char *wrong;	/* reason of -EBADMSG */
	char text[BLKTRACE_NOTE_TEXT];
};

/* Start reading, with a buffer of at least BLKTRACE_BUFFER_MIN bytes. Return: 0 or -ENOMEM. */
int blktrace_open(struct blktrace_reader *reader, struct blktrace_input input,
		  size_t size);
void blktrace_close(struct blktrace_reader *reader);

/*
 * Read a record. If it is a note, @note is filled in. Return: 1; 0 at the end, also if the last record is cut; -EBADMSG
 * for an invalid record, with @wrong and @offset; another -errno of the input.
 */
int blktrace_next(struct blktrace_reader *reader, struct blktrace_event *event,
		  struct blktrace_note *note);

/* files.c: find, open and read the files of a trace */

struct blktrace_source {
	char *path;
	int fd;
	uint64_t read;	/* bytes */
};

struct blktrace_files {
	struct blktrace_source *sources;
	struct blktrace_reader *readers;	/* by the same index */
	size_t nr;
	uint64_t bytes;		/* of all regular files */
	bool stream;		/* the trace is a single stream of several CPUs */
};

/*
 * Open traces by name: "sda" or one of its files for sda.blktrace.0 and so on, the file of a stream, or "-" for
 * standard input. Return: 0 or an exit status; the failure is printed. Close in both cases.
 */
int blktrace_files_open(struct blktrace_files *files,
			const struct words *traces);
void blktrace_files_close(struct blktrace_files *files);

/* Bytes read from all files. */
uint64_t blktrace_files_read(const struct blktrace_files *files);

/*
 * merge.c: sources merged in order of time. The records of one CPU are in order, so one event of each file is enough.
 * In a stream, CPUs alternate in blocks of the size of the kernel's buffers, so a window of events is sorted. An event
 * that comes after the window is returned when it is read, and counted as late.
 */

/* Three default buffers of blktrace (512 KiB) for each of four CPUs. */
#define BLKTRACE_WINDOW	131072

/* The caller sets the first four members. The rest is zero. */
struct blktrace_merge {
	size_t nr;
	struct blktrace_reader *readers;
	/*
	 * Called with each note when it is read. A result other than 0 ends the reading. Notes are not returned,
	 * because blkparse -d gives them another clock than the events.
	 */
	int (*note)(void *data, const struct blktrace_event *event,
		    const struct blktrace_note *note);
	void *data;
	struct blktrace_waiting *waiting;	/* events that are not returned yet, a heap ordered by time */
	struct blktrace_event *events;		/* of @waiting */
	size_t nr_waiting;
	size_t window;		/* events that are kept for one source */
	uint64_t order;		/* events read so far; orders events of the same time */
	uint64_t last_ns;	/* time of the last event */
	uint64_t notes;		/* read so far */
	uint64_t late;		/* events that came after one of a later time */
	size_t failed;		/* index of the source of the last failure */
};

/*
 * Start merging. @window: number of events to sort if there is one source; 1 if the source is in order. Return: 0;
 * -errno of blktrace_next(); -ENOMEM; the result of note(). Close in all cases.
 */
int blktrace_merge_open(struct blktrace_merge *merge, size_t window);

/* Return the next event. Return: 1; 0 at the end; otherwise as blktrace_merge_open(). */
int blktrace_merge_next(struct blktrace_merge *merge,
			struct blktrace_event *event);
void blktrace_merge_close(struct blktrace_merge *merge);

/*
 * inflight.c: requests or bios of a trace that have begun and not ended. A trace identifies a request only by position
 * and length. If several are equal, the one issued first is assumed to complete first.
 */

/*
 * Upper limit of requests in flight. No supported machine has more: 64 disks with 254 tags are 16,256. Beyond it, the
 * oldest is dropped, so that a trace without completions needs no more memory.
 */
#ifndef BLKTRACE_IN_FLIGHT	/* a fuzzer sets a lower one */
#define BLKTRACE_IN_FLIGHT	65536
#endif

struct blktrace_request {
	uint64_t sector;	/* first sector of the rest */
	uint64_t since_ns;	/* time of issue, insert or, for a bio, of queueing */
	uint32_t bytes;		/* bytes left */
	uint16_t device;	/* index of its device */
	uint8_t direction;	/* enum raidtrace_direction, and the members below, at the time of issue */
	uint8_t depth_row;	/* raidtrace_depth_row() of the depth at its issue */
	bool write;
	bool preflush;		/* for a bio */
	bool fua;		/* for a bio */
};

struct blktrace_inflight;

/* Return: an empty map, or NULL without memory. */
struct blktrace_inflight *blktrace_inflight_new(void);
void blktrace_inflight_free(struct blktrace_inflight *inflight);

/* Add a request. Return: was the oldest one dropped? @given_up gets it. */
bool blktrace_inflight_add(struct blktrace_inflight *inflight,
			   const struct blktrace_request *request,
			   struct blktrace_request *given_up);

/*
 * Remove a request by the sector, bytes, device, direction and write of @like. With @partial, the beginning of a longer
 * one may be removed; one of the same length takes precedence. @ret gets the request as it was. Return: 0: none is in
 * flight; 1: it ended; 2: a part ended and the rest stays.
 */
int blktrace_inflight_end(struct blktrace_inflight *inflight,
			  const struct blktrace_request *like, bool partial,
			  struct blktrace_request *ret);

/* Remove the oldest request at a position that is not longer than like->bytes. Return: is there one? */
bool blktrace_inflight_take(struct blktrace_inflight *inflight,
			    const struct blktrace_request *like,
			    struct blktrace_request *ret);

/* Call @each with all requests, the oldest first. It must not change the map. */
void blktrace_inflight_each(const struct blktrace_inflight *inflight,
			    void (*each)(void *data, const struct blktrace_request *request),
			    void *data);

/*
 * pending.c: bios queued, requests inserted, requests issued. The module identifies a bio by its address and a request
 * by its tag; a trace has only positions. So an inserted request is tracked as it grows by merges. The bios of a
 * completed request are those that are adjacent at its position.
 */

/* Most concurrent writes with completed data and a pending flush. */
#define BLKTRACE_FLUSHING	64

/* Requests and bios of all disks of a trace that have not ended. */
struct blktrace_pending {
	struct blktrace_inflight *issued;	/* requests with the driver */
	struct blktrace_inflight *requeued;	/* requests that the driver gave back */
	struct blktrace_inflight *inserted;	/* requests with the scheduler */
	struct blktrace_inflight *ends;		/* the same, with the sector after each */
	struct blktrace_inflight *bios;		/* queued bios; after a split, their pieces */
	struct blktrace_request flushing[BLKTRACE_FLUSHING];	/* bios of requests that complete twice */
	size_t nr_flushing;
};

/* Return: 0 or -ENOMEM; free in both cases. */
int blktrace_pending_new(struct blktrace_pending *ret);
void blktrace_pending_free(struct blktrace_pending *pending);

/* Add a request that is inserted at its since_ns. */
void blktrace_pending_insert(struct blktrace_pending *pending,
			     const struct blktrace_request *request);

/* Merge @part before the request or after it. A request that is not inserted yet is not tracked. */
void blktrace_pending_grow(struct blktrace_pending *pending,
			   const struct blktrace_request *part, bool front);

/* Remove a request that is issued, or merged into another. Return: was it inserted? @inserted_ns gets the time. */
bool blktrace_pending_uninsert(struct blktrace_pending *pending,
			       const struct blktrace_request *like,
			       uint64_t *inserted_ns);

/* Make @part of the bio that begins there a piece of its own. */
void blktrace_pending_split(struct blktrace_pending *pending,
			    const struct blktrace_request *part);

/* Add a bio with written data that completes after a flush. */
void blktrace_pending_flush(struct blktrace_pending *pending,
			    const struct blktrace_request *bio);

/*
 * Remove a bio whose flush is complete. @like has the first sector of the bio or, from some 6.x on, the one after its
 * end. Return: is there such a bio? @ret gets the oldest.
 */
bool blktrace_pending_flushed(struct blktrace_pending *pending,
			      const struct blktrace_request *like,
			      struct blktrace_request *ret);

/* device.c, events.c: one disk. Its events are counted in the account that the kernel module uses. */

/* Groups that a trace has. It also has place if the size of the disk is known. */
#define BLKTRACE_GROUPS \
	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE |		\
	 RAIDTRACE_GROUP_SEEK | RAIDTRACE_GROUP_STREAM |	\
	 RAIDTRACE_GROUP_DEPTH | RAIDTRACE_GROUP_LATENCY |	\
	 RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_READAHEAD)

struct blktrace_device {
	uint32_t device;	/* major << 20 | minor */
	uint16_t index;		/* index in the trace, from 0 */
	uint64_t events;
	uint32_t observed;	/* 1 << enum blktrace_what of each event of the disk */
	uint64_t missing;	/* sequence numbers missing between events of one CPU */
	uint64_t given_up;	/* requests that were dropped from a map */
	uint64_t longest_ns;	/* from issue to completion */
	uint64_t lost;		/* requests that the trace issues and never completes; known at its end */
	uint64_t capacity_sectors;	/* 0 if not given; then @place is 0, too */
	struct raidtrace_place place;
	struct raidtrace_position arrival;	/* of the disk's bios */
	struct raidtrace_queue state;
	struct raidtrace_account account;	/* since the last sample */
	struct raidtrace_account total;		/* until the last sample */
	uint64_t empty_flushes;	/* flushes without data that have a request and did not end yet */
	uint32_t *sequences;	/* per CPU, sequence number of the last event, 0 for none */
	size_t nr_sequences;
};

/* Start counting a disk at @start_ns. @capacity_sectors may be 0. Return: the disk, or NULL without memory. */
struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index,
					    uint64_t capacity_sectors,
					    uint64_t start_ns);
void blktrace_device_free(struct blktrace_device *device);

/*
 * Count an event. @others: all disks by index, because a request of another disk may be dropped. Return: 0 or -ENOMEM.
 */
int blktrace_device_event(struct blktrace_device *device,
			  struct blktrace_pending *pending,
			  struct blktrace_device *const *others,
			  const struct blktrace_event *event);

/*
 * Get the span since the last sample. Its histograms point into the device, so it is valid until
 * blktrace_device_begin() and must not be freed.
 */
void blktrace_device_sample(struct blktrace_device *device, uint64_t start_ns,
			    uint64_t end_ns, struct rt_counters *span);

/* Add the sample to the total and start the next one. */
void blktrace_device_begin(struct blktrace_device *device);

/* Get the span of all samples. It must not be freed either. */
void blktrace_device_total(struct blktrace_device *device, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span);

/*
 * RT_COUNTER_BIT() and RT_DISK_BIT() of each counter that the trace lacks. A trace with bios queued, requests issued
 * and requests completed counts as one of all events, the default of blktrace: an event that is missing there did not
 * happen. If a trace lacks one of these three, only counters with events are known.
 */
uint64_t blktrace_device_unknown(const struct blktrace_device *device);
uint32_t blktrace_device_unknown_disk(const struct blktrace_device *device);

/* import.c: a trace, divided into samples of its disks */

/* Highest number of disks, as in the kernel module. */
#ifndef BLKTRACE_DEVICES	/* a fuzzer sets a lower one */
#define BLKTRACE_DEVICES	64
#endif

/* Events between two calls of tick(). */
#define BLKTRACE_TICK	65536

/*
 * The caller sets the members up to @begun_ns. The rest is zero. If two events are more than an interval apart, there
 * is one sample between them, of any length.
 */
struct blktrace_import {
	struct blktrace_merge *merge;	/* opened by the caller */
	uint64_t interval_ns;		/* length of a sample */
	int (*sample)(void *data, const struct blktrace_device *device,
		      const struct rt_counters *span);	/* of each disk */
	uint64_t (*capacity)(void *data, uint32_t device);	/* sectors, 0 when not known; may be NULL */
	int (*tick)(void *data);	/* may be NULL */
	void *data;			/* for sample() and capacity() */
	void *tick_data;
	uint64_t begun_ns;		/* start of the trace; at the latest, the first event */
	struct blktrace_device *devices[BLKTRACE_DEVICES];	/* in the order of their first events */
	size_t nr;
	struct blktrace_pending pending;
	bool started;			/* there has been an event */
	uint64_t start_ns;		/* start of the first sample */
	uint64_t sampled_ns;		/* end of the last sample */
	uint64_t now_ns;		/* time of the last event; never decreases */
	uint64_t events;		/* without notes */
};

/*
 * Read all events and end the last sample. A sample spans (start, start + interval]; the first event belongs to the
 * first sample. Every disk is counted from the beginning of the trace. Return: 0; as blktrace_merge_next(); -E2BIG for
 * more than BLKTRACE_DEVICES disks; -ENOMEM; the result of sample() or tick(). Free in all cases.
 */
int blktrace_import_run(struct blktrace_import *import);

/* Do the sums of all samples agree? @text gets "hold", or the invariant that does not hold. */
void blktrace_import_check(struct blktrace_import *import, char *text,
			   size_t size);
void blktrace_import_free(struct blktrace_import *import);

/* record.c: a trace as a recording */

/* Names of processes that are kept, and bytes of a name with its terminating zero. */
#define BLKTRACE_PROCESSES	256
#define BLKTRACE_PROCESS_NAME	16

/* Size of a disk, which a trace does not contain. */
struct blktrace_capacity {
	char disk[RT_NAME_MAX];	/* name as in name_disk() of record.c, "" for any */
	uint64_t sectors;
};

/* The caller sets the members up to @capacities. The rest is zero. */
struct blktrace_record {
	struct store *store;	/* empty at first */
	const struct blktrace_files *files;
	struct blktrace_import *import;
	size_t nr_capacities;
	const struct blktrace_capacity *capacities;	/* the first one that matches a disk is its size */
	size_t nr_targets;	/* disks in the recording */
	unsigned int samples;	/* since the last commit */
	uint64_t wall_ns;	/* wall clock of the traced machine at the start, ns since 1970; 0 if not known */
	char processes[BLKTRACE_PROCESSES][BLKTRACE_PROCESS_NAME];
	size_t nr_processes;
};

/*
 * Store a trace. The functions return 0 or -errno; store_error() then has a text. Between begin and end a transaction
 * is open; end commits it.
 *
 *	blktrace_record_begin   stores the facts known before the first event
 *	blktrace_record_end     stores the facts known after the last event, and removes counters that the trace lacks
 *	blktrace_record_note    note() of struct blktrace_merge, @data is the record
 *	blktrace_record_sample  sample() of struct blktrace_import, @data is the record
 */
int blktrace_record_begin(struct blktrace_record *record);
int blktrace_record_end(struct blktrace_record *record);
int blktrace_record_note(void *data, const struct blktrace_event *event,
			 const struct blktrace_note *note);
int blktrace_record_sample(void *data, const struct blktrace_device *device,
			   const struct rt_counters *span);
uint64_t blktrace_record_capacity(void *data, uint32_t device);

/*
 * Return: NULL, or the first disk with a given size that the trace does not contain; @disks then has the names of the
 * disks in the trace.
 */
const char *blktrace_record_unmatched(const struct blktrace_record *record, char *disks, size_t size);

/* Sequence numbers missing among the events of all disks. */
uint64_t blktrace_record_missing(const struct blktrace_record *record);

#endif
