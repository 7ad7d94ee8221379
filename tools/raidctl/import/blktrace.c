// SPDX-License-Identifier: GPL-2.0-or-later

/* Records of blktrace, one source at a time. */

#include "import/import.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC		0x65617400U
#define MAGIC_MASK	0xffffff00U
#define VERSION_1	0x07
#define VERSION_2	0x08

/* Lengths of a record and where its members are; the first four are common. */
#define LENGTH_1	48
#define LENGTH_2	64
#define AT_SEQUENCE	4
#define AT_TIME		8
#define AT_SECTOR	16
#define AT_BYTES	24
#define AT_ACTION_1	28
#define AT_ACTION_2	32
#define AT_DEVICE_1	36
#define AT_DEVICE_2	40
#define BEHIND_DEVICE_CPU	4
#define BEHIND_DEVICE_ERROR	8
#define BEHIND_DEVICE_LENGTH	10

/* Categories, above an action's low 16 bits. */
#define TC_WRITE	(1U << 1)
#define TC_FLUSH	(1U << 2)
#define TC_FS		(1U << 8)
#define TC_PC		(1U << 9)
#define TC_NOTIFY	(1U << 10)
#define TC_AHEAD	(1U << 11)
#define TC_DISCARD	(1U << 13)
#define TC_FUA		(1U << 15)
#define TC_ZONE_APPEND	(1U << 16)
#define TC_ZONES	(0x1fU << 17)
#define TC_WRITE_ZEROES	(1U << 22)

/* The number of a cgroup precedes the data of a note or an action. */
#define TA_CGROUP	(1U << 8)
#define CGROUP_BYTES	8
/* After an unplug: the number of requests, big endian on any machine. */
#define UNPLUG_BYTES	8

/* BLKTRACE_BACK_MERGE and BLKTRACE_COMPLETE are distinguished by category. */
static const uint8_t by_action[] = {
	[0] = BLKTRACE_OTHER,
	[1] = BLKTRACE_QUEUE,
	[2] = BLKTRACE_BACK_MERGE,
	[3] = BLKTRACE_FRONT_MERGE,
	[4] = BLKTRACE_GETRQ,
	[5] = BLKTRACE_OTHER,
	[6] = BLKTRACE_REQUEUE,
	[7] = BLKTRACE_ISSUE,
	[8] = BLKTRACE_COMPLETE,
	[9] = BLKTRACE_PLUG,
	[10] = BLKTRACE_UNPLUG,
	[11] = BLKTRACE_UNPLUG_SLEEP,
	[12] = BLKTRACE_INSERT,
	[13] = BLKTRACE_SPLIT,
};

int blktrace_open(struct blktrace_reader *reader, struct blktrace_input input,
		  size_t size)
{
	memset(reader, 0, sizeof(*reader));
	reader->input = input;
	reader->size = size;
	reader->buffer = malloc(size);
	return reader->buffer ? 0 : -ENOMEM;
}

void blktrace_close(struct blktrace_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

/* Read until @need bytes are at reader->at, or the source ends. @need is at most size. */
static int fill(struct blktrace_reader *r, size_t need)
{
	memmove(r->buffer, r->buffer + r->at, r->end - r->at);
	r->passed += r->at;
	r->end -= r->at;
	r->at = 0;
	while (r->end < need && !r->ended) {
		ssize_t got = r->input.read(r->input.data, r->buffer + r->end,
					    r->size - r->end);

		if (got == -EINTR)
			continue;
		if (got < 0)
			return (int)got;
		r->ended = !got;
		r->end += (size_t)got;
	}
	return 0;
}

static int make_available(struct blktrace_reader *r, size_t need)
{
	return r->end - r->at >= need ? 0 : fill(r, need);
}

static size_t available(const struct blktrace_reader *r)
{
	return r->end - r->at;
}

static uint16_t get16(const struct blktrace_reader *r, size_t at)
{
	uint16_t value;

	memcpy(&value, r->buffer + r->at + at, sizeof(value));
	return r->swapped ? bswap_16(value) : value;
}

static uint32_t get32(const struct blktrace_reader *r, size_t at)
{
	uint32_t value;

	memcpy(&value, r->buffer + r->at + at, sizeof(value));
	return r->swapped ? bswap_32(value) : value;
}

static uint64_t get64(const struct blktrace_reader *r, size_t at)
{
	uint64_t value;

	memcpy(&value, r->buffer + r->at + at, sizeof(value));
	return r->swapped ? bswap_64(value) : value;
}

static int refuse(struct blktrace_reader *r, const char *wrong)
{
	r->wrong = wrong;
	return -EBADMSG;
}

static int cut_here(struct blktrace_reader *r)
{
	r->cut = true;
	return 0;
}

/*
 * blktrace extends its files in advance and truncates them at its end. If it was killed, there are zeros after the last
 * record.
 */
static int zeros_to_end(struct blktrace_reader *r)
{
	do {
		for (; r->at < r->end; r->at++)
			if (r->buffer[r->at])
				return refuse(r, "not a record of blktrace");
		if (fill(r, 1))
			return -EIO;
	} while (available(r));
	return cut_here(r);
}

/* Get the byte order (once for the source) and the length of the record at reader->at. */
static int read_magic(struct blktrace_reader *r, size_t *length)
{
	uint32_t magic = get32(r, 0);

	if (!r->version && (bswap_32(magic) & MAGIC_MASK) == MAGIC) {
		r->swapped = true;
		magic = bswap_32(magic);
	}
	if (!magic && r->version)
		return zeros_to_end(r);
	if ((magic & MAGIC_MASK) != MAGIC)
		return refuse(r, r->version ? "not a record of blktrace" :
			      "not a file of blktrace");
	switch (magic & ~MAGIC_MASK) {
	case VERSION_1:
		*length = LENGTH_1;
		r->version = 1;
		return 1;
	case VERSION_2:
		*length = LENGTH_2;
		r->version = 2;
		return 1;
	}
	return refuse(r, "its version is neither 7 nor 8; this raidctl reads no other version");
}

/* As in kmod/probe.c, as far as categories show the operation. */
static uint8_t direction_of(uint64_t categories, uint32_t bytes)
{
	if (categories & TC_PC)
		return RAIDTRACE_DIRECTION_PASSTHROUGH;
	if (categories & TC_DISCARD)
		return RAIDTRACE_DIRECTION_DISCARD;
	if (categories & TC_WRITE_ZEROES)
		return RAIDTRACE_DIRECTION_WRITE_ZEROES;
	if (categories & TC_ZONES)
		return RAIDTRACE_DIRECTION_OTHER;
	if (categories & TC_ZONE_APPEND)
		return RAIDTRACE_DIRECTION_WRITE;
	if (categories & TC_WRITE)
		return bytes ? RAIDTRACE_DIRECTION_WRITE :
			       RAIDTRACE_DIRECTION_FLUSH;
	return categories & TC_FLUSH ? RAIDTRACE_DIRECTION_FLUSH :
				       RAIDTRACE_DIRECTION_READ;
}

/* Events of requests have the category file system or passthrough, those of bios neither. */
static uint8_t event_of(unsigned int action, uint64_t categories)
{
	bool request = categories & (TC_FS | TC_PC);
	uint8_t what;

	if (categories & TC_NOTIFY)
		return BLKTRACE_NOTE;
	if (action >= sizeof(by_action))
		return BLKTRACE_OTHER;
	what = by_action[action];
	if (what == BLKTRACE_BACK_MERGE && request)
		return BLKTRACE_REQUEST_MERGE;
	if (what == BLKTRACE_COMPLETE && !request)
		return BLKTRACE_BIO_COMPLETE;
	return what;
}

static int decode(struct blktrace_reader *r, struct blktrace_event *event,
		  uint64_t *action)
{
	size_t device = r->version == 1 ? AT_DEVICE_1 : AT_DEVICE_2;
	uint64_t categories;
	uint32_t cpu;

	*action = r->version == 1 ? get32(r, AT_ACTION_1) :
				    get64(r, AT_ACTION_2);
	categories = *action >> 16;
	event->time_ns = get64(r, AT_TIME);
	event->sector = get64(r, AT_SECTOR);
	event->bytes = get32(r, AT_BYTES);
	event->device = get32(r, device);
	event->sequence = get32(r, AT_SEQUENCE);
	cpu = get32(r, device + BEHIND_DEVICE_CPU);
	event->cpu = (uint16_t)cpu;
	event->what = event_of(*action & 0xff, categories);
	event->direction = direction_of(categories, event->bytes);
	event->write = categories & TC_WRITE;
	event->zone_append = categories & TC_ZONE_APPEND;
	event->ahead = categories & TC_AHEAD;
	event->preflush = categories & TC_FLUSH;
	event->fua = categories & TC_FUA;
	event->error = get16(r, device + BEHIND_DEVICE_ERROR);
	if (cpu >= BLKTRACE_CPUS)
		return refuse(r, "its CPU number is impossible");
	if (event->time_ns > INT64_MAX)
		return refuse(r, "its time is impossible");
	/* A disk has at most as many bytes as a file offset can express. */
	if (event->sector > INT64_MAX >> 9)
		return refuse(r, "its position is impossible");
	return 1;
}

/* The @len bytes at reader->at are the data of a note. */
static void take_note(struct blktrace_reader *r, uint64_t action, size_t len,
		      struct blktrace_note *note)
{
	size_t skip = action & TA_CGROUP ? CGROUP_BYTES : 0;
	unsigned int kind = action & 0xff;

	*note = (struct blktrace_note){ .kind = kind, .text = r->text };
	skip = skip < len ? skip : len;
	len -= skip;
	if (kind > BLKTRACE_NOTES)
		note->kind = BLKTRACE_NOTES;
	if (kind == BLKTRACE_NOTE_TIMESTAMP) {
		if (len >= 8) {
			note->wall_s = get32(r, skip);
			note->wall_ns = get32(r, skip + 4);
		}
		if (len < 8 || note->wall_ns >= 1000000000)
			*note = (struct blktrace_note){
				.kind = BLKTRACE_NOTES, .text = r->text,
			};
		return;
	}
	note->len = len < sizeof(r->text) ? len : sizeof(r->text);
	memcpy(r->text, r->buffer + r->at + skip, note->len);
	if (kind == BLKTRACE_NOTE_PROCESS)
		note->len = strnlen(r->text, note->len);
}

/* The @len bytes at reader->at are the data of an unplug. */
static uint32_t unplugged(const struct blktrace_reader *r, uint64_t action,
			  size_t len)
{
	size_t at = r->at + (action & TA_CGROUP ? CGROUP_BYTES : 0);
	uint64_t depth = 0;

	if (at + UNPLUG_BYTES > r->at + len)
		return 0;
	for (size_t i = 0; i < UNPLUG_BYTES; i++)
		depth = depth << 8 | r->buffer[at + i];
	return depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
}

/* Skip @len bytes. Return: false if the source ends within them. */
static int skip_bytes(struct blktrace_reader *r, size_t len)
{
	while (len) {
		size_t part;
		int err = make_available(r, 1);

		if (err)
			return err;
		part = available(r) < len ? available(r) : len;
		if (!part)
			return cut_here(r);
		r->at += part;
		len -= part;
	}
	return 1;
}

int blktrace_next(struct blktrace_reader *r, struct blktrace_event *event,
		  struct blktrace_note *note)
{
	size_t length, data, kept = 0;
	uint64_t action;
	int err;

	r->offset = r->passed + r->at;
	err = make_available(r, sizeof(uint32_t));
	if (err)
		return err;
	if (available(r) < sizeof(uint32_t))
		return available(r) ? cut_here(r) : 0;
	err = read_magic(r, &length);
	if (err <= 0)
		return err;
	err = make_available(r, length);
	if (err)
		return err;
	if (available(r) < length)
		return cut_here(r);
	err = decode(r, event, &action);
	if (err <= 0)
		return err;
	data = get16(r, (r->version == 1 ? AT_DEVICE_1 : AT_DEVICE_2) +
			BEHIND_DEVICE_LENGTH);
	r->at += length;
	if (event->what >= BLKTRACE_UNPLUG && event->what <= BLKTRACE_NOTE) {
		kept = data < BLKTRACE_NOTE_TEXT + CGROUP_BYTES ?
			       data : BLKTRACE_NOTE_TEXT + CGROUP_BYTES;
		err = make_available(r, kept);
		if (err)
			return err;
		if (available(r) < kept)
			return cut_here(r);
		if (event->what == BLKTRACE_NOTE)
			take_note(r, action, kept, note);
		else
			event->bytes = unplugged(r, action, kept);
	}
	return data ? skip_bytes(r, data) : 1;
}
