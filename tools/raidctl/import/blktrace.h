/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Records of blktrace, one source at a time.
 *
 * A source is a file that blktrace wrote for one CPU, or a stream of such
 * records of any CPUs.  Records of version 1 (48 bytes) and 2 (64 bytes, Linux
 * 7.x) and of either byte order are read; nothing in a source is trusted.
 */

#ifndef IMPORT_BLKTRACE_H
#define IMPORT_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "histogram.h"

/* No kernel has more CPUs; a record of a higher one is garbage. */
#define BLKTRACE_CPUS		8192
/* As much of a note's text as is kept; the kernel writes at most 128 bytes. */
#define BLKTRACE_NOTE_TEXT	256
/* A reader's buffer is at least this long. */
#define BLKTRACE_BUFFER_MIN	4096

/**
 * enum blktrace_what - what happened
 * @BLKTRACE_QUEUE: Q, a bio is queued
 * @BLKTRACE_GETRQ: G, a request is allocated for a bio
 * @BLKTRACE_BACK_MERGE: M of a bio, it goes to the end of a request
 * @BLKTRACE_FRONT_MERGE: F, it goes to the front of a request
 * @BLKTRACE_REQUEST_MERGE: M of a request, it goes into another
 * @BLKTRACE_SPLIT: X, a bio is cut in two
 * @BLKTRACE_INSERT: I, a request goes to the scheduler
 * @BLKTRACE_ISSUE: D, a request goes to the driver
 * @BLKTRACE_REQUEUE: R, it comes back
 * @BLKTRACE_COMPLETE: C of a request
 * @BLKTRACE_BIO_COMPLETE: C of a bio that no request carried
 * @BLKTRACE_PLUG: P, a task begins to hold requests back
 * @BLKTRACE_UNPLUG: U, it sends them
 * @BLKTRACE_UNPLUG_SLEEP: UT, they are sent because it goes to sleep
 * @BLKTRACE_NOTE: a note: a process name, a timestamp, a message
 * @BLKTRACE_OTHER: S, A, and what is not known
 */
enum blktrace_what {
	BLKTRACE_QUEUE,
	BLKTRACE_GETRQ,
	BLKTRACE_BACK_MERGE,
	BLKTRACE_FRONT_MERGE,
	BLKTRACE_REQUEST_MERGE,
	BLKTRACE_SPLIT,
	BLKTRACE_INSERT,
	BLKTRACE_ISSUE,
	BLKTRACE_REQUEUE,
	BLKTRACE_COMPLETE,
	BLKTRACE_BIO_COMPLETE,
	BLKTRACE_PLUG,
	BLKTRACE_UNPLUG,
	BLKTRACE_UNPLUG_SLEEP,
	BLKTRACE_NOTE,
	BLKTRACE_OTHER,
};

/**
 * struct blktrace_event - one record
 * @time_ns: CLOCK_MONOTONIC of the traced machine, below 2^63
 * @sector: where it begins, 0 when it has no place
 * @bytes: how long it is; of a completion what is completed by it, of an unplug
 *	how many requests are sent
 * @device: major << 20 | minor
 * @sequence: number among the events of its device and CPU
 * @cpu: below BLKTRACE_CPUS
 * @what: enum blktrace_what
 * @direction: enum raidtrace_direction
 * @write: the operation is one that writes, whatever @direction
 * @zone_append: the operation is a zone append
 * @ahead: it reads ahead
 * @preflush: a flush goes before it
 * @fua: it is to be on the medium when it ends
 * @error: completed with a status other than success
 */
struct blktrace_event {
	uint64_t time_ns;
	uint64_t sector;
	uint32_t bytes;
	uint32_t device;
	uint32_t sequence;
	uint16_t cpu;
	uint8_t what;
	uint8_t direction;
	bool write;
	bool zone_append;
	bool ahead;
	bool preflush;
	bool fua;
	bool error;
};

enum blktrace_note_kind {
	BLKTRACE_NOTE_PROCESS,
	BLKTRACE_NOTE_TIMESTAMP,
	BLKTRACE_NOTE_MESSAGE,
	BLKTRACE_NOTES,
};

/**
 * struct blktrace_note - what a BLKTRACE_NOTE says besides
 * @kind: enum blktrace_note_kind, BLKTRACE_NOTES for one that is not known
 * @wall_s: of a timestamp, seconds since 1970 at the event's time
 * @wall_ns: nanoseconds behind @wall_s, below a second
 * @len: of @text
 * @text: of the others; not terminated, any bytes; valid until the next record
 */
struct blktrace_note {
	unsigned int kind;
	uint32_t wall_s;
	uint32_t wall_ns;
	size_t len;
	const char *text;
};

/**
 * struct blktrace_input - where bytes come from
 * @read: like read(2), but returns -errno
 * @data: for @read
 */
struct blktrace_input {
	ssize_t (*read)(void *data, void *to, size_t room);
	void *data;
};

/**
 * struct blktrace_reader - one source being read
 * @input: its bytes
 * @buffer: what was read and not yet used is in [@at, @end)
 * @size: of @buffer
 * @at: where the next record begins in @buffer
 * @end: where @buffer has no more
 * @ended: @input has no more
 * @offset: where the record read last begins in the source, or the one that is
 *	refused or cut
 * @passed: bytes of the source before buffer[0]
 * @version: 1 or 2, 0 before the first record
 * @swapped: of the other byte order than this machine
 * @cut: the source ends within the record at @offset, or in zeros from there
 * @wrong: what is wrong with the record at @offset after -EBADMSG
 * @text: of the note read last
 */
struct blktrace_reader {
	struct blktrace_input input;
	unsigned char *buffer;
	size_t size;
	size_t at;
	size_t end;
	bool ended;
	uint64_t offset;
	uint64_t passed;
	unsigned int version;
	bool swapped;
	bool cut;
	const char *wrong;
	char text[BLKTRACE_NOTE_TEXT];
};

/**
 * blktrace_open - begin to read a source
 * @reader: set up; to be given to blktrace_close()
 * @input: its bytes
 * @size: of the buffer, at least BLKTRACE_BUFFER_MIN
 *
 * Return: 0 or -ENOMEM.
 */
int blktrace_open(struct blktrace_reader *reader, struct blktrace_input input,
		  size_t size);
void blktrace_close(struct blktrace_reader *reader);

/**
 * blktrace_next - read a record
 * @reader: open
 * @event: filled in
 * @note: filled in when the event is a note
 *
 * Return: 1; 0 at the end, also when the last record is cut; -EBADMSG for
 * bytes that are no record, reader->wrong and reader->offset then say more;
 * another -errno of the input.
 */
int blktrace_next(struct blktrace_reader *reader, struct blktrace_event *event,
		  struct blktrace_note *note);

#endif
