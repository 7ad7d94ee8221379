/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording of a blktrace trace. Files are read (files.c, blktrace.c), merged in order of time (merge.c), divided
 * into samples (import.c) and given as records to the engine of the kernel module (device.c, events.c), which needs
 * addresses of bios and requests (pending.c). record.c stores the result.
 *
 * Memory does not depend on the length of the trace: an engine for each disk, pools of limited size, a window of
 * events.
 */

#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "disk/disk.h"
#include "engine.h"
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
 * pending.c: what a trace has begun and not ended on a disk. The module identifies a bio and a request by its address;
 * a trace has only positions and lengths. So each gets an address of its own, the number of its place in a pool, and is
 * found by its stage and position. If several are equal, the one that came to this stage first is taken.
 */

/*
 * Upper limit of bios, and of requests, of a disk. No supported machine has more in flight on one: 64 queues with 1,023
 * tags are 65,472. Beyond it, the oldest is dropped and its place used again, so that a trace without completions needs
 * no more memory.
 */
#ifndef BLKTRACE_IN_FLIGHT	/* a fuzzer sets a lower one */
#define BLKTRACE_IN_FLIGHT	65536
#endif

enum blktrace_stage {
	BLKTRACE_FREE,
	BLKTRACE_QUEUED,	/* a bio; after a split, each piece */
	BLKTRACE_FLUSHING,	/* a bio whose data are written; the end of its flush is to come */
	BLKTRACE_INSERTED,	/* a request with the scheduler */
	BLKTRACE_ISSUED,	/* with the driver */
	BLKTRACE_REQUEUED,	/* that the driver gave back */
};

/* A bio or a request. */
struct blktrace_item {
	uint64_t sector;	/* first sector of the rest */
	uint64_t since_ns;	/* time of issue or, for a bio, of queueing */
	uint32_t bytes;		/* bytes left */
	uint8_t stage;		/* enum blktrace_stage */
	uint8_t direction;	/* enum raidtrace_direction */
	bool write;
	bool preflush;		/* of a bio */
	bool fua;		/* of a bio */
};

struct blktrace_pool;

/* Return: an empty pool, or NULL without memory. */
struct blktrace_pool *blktrace_pool_new(void);
void blktrace_pool_free(struct blktrace_pool *pool);

/* Add a copy of an item. Return: its place, 1 to BLKTRACE_IN_FLIGHT. If all were taken, @dropped gets the oldest. */
uint32_t blktrace_pool_add(struct blktrace_pool *pool, const struct blktrace_item *item,
			   struct blktrace_item *dropped);

/* The item at a place; valid until the pool changes. */
const struct blktrace_item *blktrace_pool_at(const struct blktrace_pool *pool, uint32_t place);

/* Put another item in a place. Among equal ones it is the last from now on. */
void blktrace_pool_set(struct blktrace_pool *pool, uint32_t place, const struct blktrace_item *item);
void blktrace_pool_remove(struct blktrace_pool *pool, uint32_t place);

/* How long an item may be that is searched for. */
enum blktrace_fit {
	BLKTRACE_SAME,		/* as like->bytes */
	BLKTRACE_SAME_OR_MORE,	/* preferably the same */
	BLKTRACE_AT_MOST,
};

/*
 * Find an item by the stage, sector, direction and write of @like, and its bytes. blktrace_pool_behind() finds one that
 * is flushing or inserted by the sector behind its end, of any length. Return: its place, 0 for none.
 */
uint32_t blktrace_pool_find(const struct blktrace_pool *pool, const struct blktrace_item *like, enum blktrace_fit fit);
uint32_t blktrace_pool_behind(const struct blktrace_pool *pool, const struct blktrace_item *like);

/* The highest place that was ever taken. A free place has the stage BLKTRACE_FREE. */
uint32_t blktrace_pool_used(const struct blktrace_pool *pool);

/* The sector behind an item. */
uint64_t blktrace_item_end(const struct blktrace_item *item);

/* device.c, events.c: one disk. Its events become records for the engine of the kernel module. */

/* Groups that a trace has. It also has place if the size of the disk is known. */
#define BLKTRACE_GROUPS \
	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE |		\
	 RAIDTRACE_GROUP_SEEK | RAIDTRACE_GROUP_STREAM |	\
	 RAIDTRACE_GROUP_DEPTH | RAIDTRACE_GROUP_LATENCY |	\
	 RAIDTRACE_GROUP_PLUG | RAIDTRACE_GROUP_READAHEAD)

/* Words of records that are counted together. */
#define BLKTRACE_WORDS	4096

struct blktrace_device {
	uint32_t device;	/* major << 20 | minor */
	uint16_t index;		/* index in the trace, from 0 */
	uint64_t events;
	uint32_t observed;	/* 1 << enum blktrace_what of each event of the disk */
	uint64_t missing;	/* sequence numbers missing between events of one CPU */
	uint64_t given_up;	/* requests in flight that were dropped */
	uint64_t longest_ns;	/* from issue to completion */
	uint64_t lost;		/* requests that the trace issues and never completes; known at its end */
	uint64_t capacity_sectors;	/* 0 if not given; then places are not counted */
	struct blktrace_pool *bios;
	struct blktrace_pool *requests;
	uint64_t empty_flushes;	/* flushes without data that have a request and did not end yet */
	struct raidtrace_engine engine;
	struct raidtrace_account account;	/* of the engine, since the last sample */
	struct raidtrace_account total;		/* until the last sample */
	uint64_t forgotten;			/* streams, until the last sample */
	uint64_t forgotten_queued;
	uint64_t words[BLKTRACE_WORDS];	/* records that are not counted yet */
	uint32_t nr_words;
	uint32_t *sequences;	/* per CPU, sequence number of the last event, 0 for none */
	size_t nr_sequences;
};

/* Start counting a disk at @start_ns. @capacity_sectors may be 0. Return: the disk, or NULL without memory. */
struct blktrace_device *blktrace_device_new(uint32_t device, uint16_t index, uint64_t capacity_sectors,
					    uint64_t start_ns);
void blktrace_device_free(struct blktrace_device *device);

/* Count an event. Return: 0 or -ENOMEM. */
int blktrace_device_event(struct blktrace_device *device, const struct blktrace_event *event);

/* Count the records that wait. */
void blktrace_device_count(struct blktrace_device *device);

/* Get the span since the last sample, and start the next one. Return: 0 or -ENOMEM; free the span in both cases. */
int blktrace_device_sample(struct blktrace_device *device, uint64_t start_ns, uint64_t end_ns,
			   struct rt_counters *span);

/* Get the span of all samples, in the same way. */
int blktrace_device_total(const struct blktrace_device *device, uint64_t start_ns, uint64_t end_ns,
			  struct rt_counters *span);

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
void blktrace_import_check(const struct blktrace_import *import, char *text, size_t size);
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
