/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording of a blktrace trace. Files are read (files.c, blktrace.c), merged in the order of time (merge.c), cut
 * into samples (import.c) and counted by the code of the kernel module (device.c, events.c), with maps of what is in
 * flight (pending.c, inflight.c). record.c stores the result.
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
 * blktrace.c: records of one source, a file that blktrace wrote for one CPU, or a stream of such records of any CPUs.
 * Records of version 1 (48 bytes) and 2 (64 bytes, Linux 7.x) and of either byte order are read; nothing in a source
 * is trusted.
 */

/* No kernel has more CPUs; a record of a higher one is garbage. */
#define BLKTRACE_CPUS		8192
/* Bytes of a note's text that are kept; the kernel writes at most 128. */
#define BLKTRACE_NOTE_TEXT	256
/* A reader's buffer is at least this long. */
#define BLKTRACE_BUFFER_MIN	4096

enum blktrace_what {
	BLKTRACE_QUEUE,		/* Q, a bio is queued */
	BLKTRACE_GETRQ,		/* G, a request is allocated for a bio */
	BLKTRACE_BACK_MERGE,	/* M of a bio, it goes to the end of a request */
	BLKTRACE_FRONT_MERGE,	/* F, it goes to the front of a request */
	BLKTRACE_REQUEST_MERGE,	/* M of a request, it goes into another */
	BLKTRACE_SPLIT,		/* X, a bio is cut in two */
	BLKTRACE_INSERT,	/* I, a request goes to the scheduler */
	BLKTRACE_ISSUE,		/* D, a request goes to the driver */
	BLKTRACE_REQUEUE,	/* R, it comes back */
	BLKTRACE_COMPLETE,	/* C of a request */
	BLKTRACE_BIO_COMPLETE,	/* C of a bio that no request carried */
	BLKTRACE_PLUG,		/* P, a task begins to keep requests back */
	BLKTRACE_UNPLUG,	/* U, it sends them */
	BLKTRACE_UNPLUG_SLEEP,	/* UT, they are sent because it goes to sleep */
	BLKTRACE_NOTE,		/* a process name, a timestamp, a message */
	BLKTRACE_OTHER,		/* S, A, and unknown actions */
};

/* One record. */
struct blktrace_event {
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the traced machine, below 2^63 */
	uint64_t sector;	/* begin, 0 without a position */
	uint32_t bytes;		/* length; of a completion its part, of an unplug the number of requests */
	uint32_t device;	/* major << 20 | minor */
	uint32_t sequence;	/* number among the events of its device and CPU */
	uint16_t cpu;		/* below BLKTRACE_CPUS */
	uint8_t what;		/* enum blktrace_what */
	uint8_t direction;	/* enum raidtrace_direction */
	bool write;		/* the operation writes, whatever the direction */
	bool zone_append;
	bool ahead;		/* it reads ahead */
	bool preflush;		/* a flush goes before it */
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
	uint32_t wall_s;	/* of a timestamp: seconds since 1970 at the event's time */
	uint32_t wall_ns;	/* below a second */
	size_t len;
	const char *text;	/* of other notes: any bytes, not terminated; valid until the next record */
};

/* Source of bytes: read() is like read(2), but returns -errno. */
struct blktrace_input {
	ssize_t (*read)(void *data, void *to, size_t room);
	void *data;
};

struct blktrace_reader {
	struct blktrace_input input;
	unsigned char *buffer;	/* bytes that are read and not used yet are in [at, end) */
	size_t size;
	size_t at;
	size_t end;
	bool ended;		/* the input has no more */
	uint64_t offset;	/* of the last record in the source, or of the one that is refused or cut */
	uint64_t passed;	/* bytes of the source before buffer[0] */
	unsigned int version;	/* 1 or 2, 0 before the first record */
	bool swapped;		/* of the other byte order than this machine */
	bool cut;		/* the source ends within the record at @offset, or in zeros from there */
	const char *wrong;	/* reason of -EBADMSG */
	char text[BLKTRACE_NOTE_TEXT];
};

/* Begin to read with a buffer of at least BLKTRACE_BUFFER_MIN bytes. Return: 0 or -ENOMEM. */
int blktrace_open(struct blktrace_reader *reader, struct blktrace_input input,
		  size_t size);
void blktrace_close(struct blktrace_reader *reader);

/*
 * Read a record; @note is filled in when it is a note. Return: 1; 0 at the end, also when the last record is cut;
 * -EBADMSG for bytes that are no record, see @wrong and @offset; another -errno of the input.
 */
int blktrace_next(struct blktrace_reader *reader, struct blktrace_event *event,
		  struct blktrace_note *note);

/* files.c: finding, opening and reading the files of a trace */

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
	bool stream;		/* the trace is one stream of several CPUs */
};

/*
 * Open traces by their names: "sda" or one of its files for sda.blktrace.0 and so on, a file of a stream, "-" for
 * standard input. Return: 0 or an exit status; the failure is printed. Close in both cases.
 */
int blktrace_files_open(struct blktrace_files *files,
			const struct words *traces);
void blktrace_files_close(struct blktrace_files *files);

/* Bytes read of all files. */
uint64_t blktrace_files_read(const struct blktrace_files *files);

/*
 * merge.c: sources in the order of time. The records of one CPU are in order, so of a file per CPU one event each is
 * enough. In a stream, CPUs alternate in pieces as long as the kernel's buffers; there a window of events is sorted.
 * An event that comes later than that is handed out when it is read, and counted as late.
 */

/* Three of blktrace's default buffers of 512 KiB for each of four CPUs. */
#define BLKTRACE_WINDOW	131072

/* The caller sets the first four members, the rest is zero. */
struct blktrace_merge {
	size_t nr;
	struct blktrace_reader *readers;
	/*
	 * Called with each note when it is read; non-zero ends the reading. Notes are not handed out: blkparse -d
	 * leaves them with another clock than the events.
	 */
	int (*note)(void *data, const struct blktrace_event *event,
		    const struct blktrace_note *note);
	void *data;
	struct blktrace_waiting *waiting;	/* events that are not returned yet, a heap by time */
	struct blktrace_event *events;		/* of @waiting */
	size_t nr_waiting;
	size_t window;		/* events that are kept of one source */
	uint64_t order;		/* events read so far; orders those of one time */
	uint64_t last_ns;	/* time of the last event */
	uint64_t notes;		/* read so far */
	uint64_t late;		/* events after one of a later time */
	size_t failed;		/* index of the source of the last failure */
};

/*
 * Begin. @window is the number of events to sort when there is one source, 1 for a source that is in order.
 * Return: 0; as blktrace_next(); -ENOMEM; what note() returned. Close in all cases.
 */
int blktrace_merge_open(struct blktrace_merge *merge, size_t window);

/* Return: 1; 0 at the end; as blktrace_merge_open() otherwise. */
int blktrace_merge_next(struct blktrace_merge *merge,
			struct blktrace_event *event);
void blktrace_merge_close(struct blktrace_merge *merge);

/*
 * inflight.c: requests, or bios, that a trace has begun something with and not yet ended. A trace names a request only
 * by its position and length; of several equal ones the one issued first is taken to end first.
 */

/*
 * More cannot be in flight on any machine this is for: 64 disks with 254 tags
 * are 16,256.  Beyond it the oldest is given up, so that a trace without
 * completions needs no more memory than one with.
 */
#ifndef BLKTRACE_IN_FLIGHT	/* fuzzing takes fewer */
#define BLKTRACE_IN_FLIGHT	65536
#endif

struct blktrace_request {
	uint64_t sector;	/* begin of the rest */
	uint64_t since_ns;	/* time of its issue, insert or, of a bio, queueing */
	uint32_t bytes;		/* left */
	uint16_t device;	/* index of its device */
	uint8_t direction;	/* enum raidtrace_direction, as the members below when it was issued */
	uint8_t depth_row;	/* raidtrace_depth_row() of the depth at its issue */
	bool write;
	bool preflush;		/* of a bio */
	bool fua;		/* of a bio */
};

struct blktrace_inflight;

/* Return: an empty map, NULL without memory. */
struct blktrace_inflight *blktrace_inflight_new(void);
void blktrace_inflight_free(struct blktrace_inflight *inflight);

/* Add a request. Return: was the oldest one given up, in @given_up? */
bool blktrace_inflight_add(struct blktrace_inflight *inflight,
			   const struct blktrace_request *request,
			   struct blktrace_request *given_up);

/*
 * Take out a request by the sector, bytes, device, direction and write of @like, or with @partial the beginning of a
 * longer one; one of the same length goes first. @ret gets the request as it was.
 * Return: 0 when none is in flight; 1 when it ended; 2 when a part of it did and the rest stays.
 */
int blktrace_inflight_end(struct blktrace_inflight *inflight,
			  const struct blktrace_request *like, bool partial,
			  struct blktrace_request *ret);

/* Take out the oldest request at a position that is no longer than like->bytes. Return: is there one? */
bool blktrace_inflight_take(struct blktrace_inflight *inflight,
			    const struct blktrace_request *like,
			    struct blktrace_request *ret);

/*
 * pending.c: bios queued, requests inserted, requests issued. The module knows a bio by its address and a request by
 * its tag; a trace has only positions. So an inserted request is followed as it grows by merges, and the bios of a
 * request that completes are those that follow each other at its position.
 */

/* Most writes at a time with completed data and a pending flush. */
#define BLKTRACE_FLUSHING	64

/* Requests and bios of all disks of a trace that have not ended. */
struct blktrace_pending {
	struct blktrace_inflight *issued;	/* requests with the driver */
	struct blktrace_inflight *requeued;	/* requests that the driver gave back */
	struct blktrace_inflight *inserted;	/* requests with the scheduler */
	struct blktrace_inflight *ends;		/* the same, with the sector behind each */
	struct blktrace_inflight *bios;		/* queued, in pieces after a split */
	struct blktrace_request flushing[BLKTRACE_FLUSHING];	/* bios of requests that complete once more */
	size_t nr_flushing;
};

/* Return: 0 or -ENOMEM; free in both cases. */
int blktrace_pending_new(struct blktrace_pending *ret);
void blktrace_pending_free(struct blktrace_pending *pending);

/* A request is inserted at its since_ns. */
void blktrace_pending_insert(struct blktrace_pending *pending,
			     const struct blktrace_request *request);

/* @part is merged before the request or behind it. A request that is not inserted yet is not followed. */
void blktrace_pending_grow(struct blktrace_pending *pending,
			   const struct blktrace_request *part, bool front);

/* A request is issued, or merged into another. Return: was it inserted, at @inserted_ns? */
bool blktrace_pending_uninsert(struct blktrace_pending *pending,
			       const struct blktrace_request *like,
			       uint64_t *inserted_ns);

/* @part of the bio that begins there becomes a piece. */
void blktrace_pending_split(struct blktrace_pending *pending,
			    const struct blktrace_request *part);

/* A bio's data is written, and a flush comes before its end. */
void blktrace_pending_flush(struct blktrace_pending *pending,
			    const struct blktrace_request *bio);

/*
 * That flush is done. @like has the sector of the bio's begin or, from some 6.x on, behind its end.
 * Return: is there such a bio? Of several @ret is the oldest.
 */
bool blktrace_pending_flushed(struct blktrace_pending *pending,
			      const struct blktrace_request *like,
			      struct blktrace_request *ret);

/* device.c, events.c: one disk; its events go into the account that the kernel module keeps of a disk */

/* Groups that a trace has; also place, where the size of the disk is known. */
#define BLKTRACE_GROUPS \
	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE |		\
	 RAIDTRACE_GROUP_SEEK | RAIDTRACE_GROUP_STREAM |	\
	 RAIDTRACE_GROUP_DEPTH | RAIDTRACE_GROUP_LATENCY |	\
	 RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_READAHEAD)

struct blktrace_device {
	uint32_t device;	/* major << 20 | minor */
	uint16_t index;		/* in the trace, from 0 */
	uint64_t events;
	uint32_t observed;	/* 1 << enum blktrace_what of each event of the disk */
	uint64_t missing;	/* sequence numbers left out between events of one CPU */
	uint64_t given_up;	/* requests that had to leave a map */
	uint64_t capacity_sectors;	/* 0 when not given, as all of @place */
	struct raidtrace_place place;
	struct raidtrace_position arrival;	/* of the disk's bios */
	struct raidtrace_queue state;
	struct raidtrace_account account;	/* since the last sample */
	struct raidtrace_account total;		/* until the last sample */
	uint64_t empty_flushes;	/* flushes without data that got a request and did not end yet */
	uint32_t *sequences;	/* per CPU, sequence number of the last event, 0 for none */
	size_t nr_sequences;
};

/* A disk that is counted from @start_ns on; @capacity_sectors may be 0. Return: NULL without memory. */
struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index,
					    uint64_t capacity_sectors,
					    uint64_t start_ns);
void blktrace_device_free(struct blktrace_device *device);

/* Count an event. @others are all disks by index: a request of another one may be given up. Return: 0 or -ENOMEM. */
int blktrace_device_event(struct blktrace_device *device,
			  struct blktrace_pending *pending,
			  struct blktrace_device *const *others,
			  const struct blktrace_event *event);

/*
 * The span since the last sample. Its histograms point into the device: it is valid until blktrace_device_begin() and
 * not to be freed.
 */
void blktrace_device_sample(struct blktrace_device *device, uint64_t start_ns,
			    uint64_t end_ns, struct rt_counters *span);

/* Add the sample to the total and begin the next one. */
void blktrace_device_begin(struct blktrace_device *device);

/* The span of all samples; not to be freed either. */
void blktrace_device_total(struct blktrace_device *device, uint64_t start_ns,
			   uint64_t end_ns, struct rt_counters *span);

/*
 * RT_COUNTER_BIT(), and RT_DISK_BIT(), of each counter that the whole trace does not have. A trace with bios queued,
 * requests issued and requests completed is taken for one of all events, the default of blktrace: an event that does
 * not occur did not happen. Of a trace that lacks one of these, only counters with events are known.
 */
uint64_t blktrace_device_unknown(const struct blktrace_device *device);
uint32_t blktrace_device_unknown_disk(const struct blktrace_device *device);

/* import.c: a trace, cut into samples of its disks */

/* Highest number of disks, as in the kernel module. */
#ifndef BLKTRACE_DEVICES	/* fuzzing takes fewer */
#define BLKTRACE_DEVICES	64
#endif

/* Events between two calls of tick(). */
#define BLKTRACE_TICK	65536

/*
 * The caller sets the members up to @begun_ns; the rest is zero. Two events that are more than an interval apart have
 * one sample between them, however long it is.
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
	uint64_t begun_ns;		/* begin of the trace; unless it is before the first event, that is the begin */
	struct blktrace_device *devices[BLKTRACE_DEVICES];	/* in the order of their first events */
	size_t nr;
	struct blktrace_pending pending;
	bool started;			/* there was an event */
	uint64_t start_ns;		/* begin of the first sample */
	uint64_t sampled_ns;		/* end of the last sample */
	uint64_t now_ns;		/* time of the last event, never less than of an earlier one */
	uint64_t events;		/* without notes */
};

/*
 * Read all events and end the last sample. A sample spans (start, start + interval]; the first event belongs to the
 * first. Every disk is counted from the beginning of the trace on.
 * Return: 0; as blktrace_merge_next(); -E2BIG for more than BLKTRACE_DEVICES disks; -ENOMEM; what sample() or tick()
 * returned. Free in all cases.
 */
int blktrace_import_run(struct blktrace_import *import);

/* Do the sums of all samples agree? @text gets "hold", or what does not. */
void blktrace_import_check(struct blktrace_import *import, char *text,
			   size_t size);
void blktrace_import_free(struct blktrace_import *import);

/* record.c: a trace as a recording */

/* Names of processes that are kept, and the length of one with its end. */
#define BLKTRACE_PROCESSES	256
#define BLKTRACE_PROCESS_NAME	16

/* Size of a disk, which no trace has. */
struct blktrace_capacity {
	char disk[RT_NAME_MAX];	/* as name_disk() in record.c has it, "" for any */
	uint64_t sectors;
};

/* The caller sets the members up to @capacities; the rest is zero. */
struct blktrace_record {
	struct store *store;	/* empty at first */
	const struct blktrace_files *files;
	struct blktrace_import *import;
	size_t nr_capacities;
	const struct blktrace_capacity *capacities;	/* the first that fits a disk is its size */
	size_t nr_targets;	/* disks in the recording */
	unsigned int samples;	/* since the last commit */
	uint64_t wall_ns;	/* clock of the traced machine at the begin, ns since 1970; 0 when not known */
	char processes[BLKTRACE_PROCESSES][BLKTRACE_PROCESS_NAME];
	size_t nr_processes;
};

/*
 * Functions return 0 or -errno, store_error() then has words.  Between begin
 * and end a transaction is open; end commits it.
 *
 * blktrace_record_begin   stores what is known before the first event
 * blktrace_record_end	   stores what is known after the last one, and removes counters that the trace does not have
 * blktrace_record_note	   for struct blktrace_merge, @data is the record
 * blktrace_record_sample  for struct blktrace_import, @data is the record
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
 * disks that it contains.
 */
const char *blktrace_record_unmatched(const struct blktrace_record *record, char *disks, size_t size);

/* Sequence numbers left out among the events of all disks. */
uint64_t blktrace_record_missing(const struct blktrace_record *record);

#endif
