/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Synthetic blktrace traces for the tests of raidctl import. */

#ifndef TRACE_H
#define TRACE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

/* Actions with their own category, as Linux writes them; and categories. */
#define TC(bit)		((uint64_t)1 << ((bit) + 16))
#define R		TC(0)
#define W		TC(1)
#define FLUSH		TC(2)
#define FS		TC(8)
#define PC		TC(9)
#define NOTIFY		TC(10)
#define AHEAD		TC(11)
#define DISCARD		TC(13)
#define FUA		TC(15)
#define ZONE_APPEND	TC(16)
#define ZONE_RESET	TC(17)
#define WRITE_ZEROES	TC(22)
#define CGROUP		0x100
#define Q	(1 | TC(4))
#define M	(2 | TC(4))
#define F	(3 | TC(4))
#define G	(4 | TC(4))
#define S	(5 | TC(4))
#define REQUEUE	(6 | TC(5) | FS)
#define D	(7 | TC(6) | FS)
#define C	(8 | TC(7) | FS)
#define P	(9 | TC(4))
#define U	(10 | TC(4))
#define UT	(11 | TC(4))
#define I	(12 | TC(4) | FS)
#define X	13

#define SDA	(8U << 20)
#define SDB	(8U << 20 | 16)

/* Bytes of one source. */
struct trace {
	unsigned int version;	/* 1 or 2 */
	bool big;	/* big-endian */
	uint32_t device;	/* of the records that are put */
	uint32_t cpu;	/* of the records that are put */
	uint16_t error;	/* of the next record that is put */
	uint32_t sequence;	/* of the last record */
	size_t len;	/* of @bytes */
	size_t at;	/* read so far */
	size_t step;	/* bytes that one read returns at most, 0 for no limit */
	size_t fail_at;	/* a read beyond so many bytes fails, 0 for never */
	unsigned char bytes[1 << 16];	/* the records */
};

static inline void trace_number(struct trace *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		t->bytes[t->len++] = (unsigned char)(value >> 8 * (t->big ? size - 1 - i : i));
}

/* Put a record with @size bytes of data behind it. */
static inline void trace_data(struct trace *t, uint64_t time_ns,
			      uint64_t action, uint64_t sector, uint32_t bytes,
			      const void *data, uint16_t size)
{
	trace_number(t, 0x65617400 | (t->version == 1 ? 7 : 8), 4);
	trace_number(t, action & NOTIFY ? 0 : ++t->sequence, 4);
	trace_number(t, time_ns, 8);
	trace_number(t, sector, 8);
	trace_number(t, bytes, 4);
	if (t->version == 1) {
		trace_number(t, action, 4);
		trace_number(t, 4711, 4);
	} else {
		trace_number(t, 4711, 4);
		trace_number(t, action, 8);
	}
	trace_number(t, t->device, 4);
	trace_number(t, t->cpu, 4);
	trace_number(t, t->error, 2);
	trace_number(t, size, 2);
	if (t->version == 2)
		for (int i = 0; i < 12; i++)
			t->bytes[t->len++] = 0;
	memcpy(t->bytes + t->len, data ? data : "", size);
	t->len += size;
	t->error = 0;
}

static inline void trace_put(struct trace *t, uint64_t time_ns, uint64_t action, uint64_t sector, uint32_t bytes)
{
	trace_data(t, time_ns, action, sector, bytes, NULL, 0);
}

static inline void trace_begin(struct trace *t, unsigned int version, bool big)
{
	memset(t, 0, sizeof(*t));
	t->version = version;
	t->big = big;
	t->device = SDA;
}

static inline ssize_t trace_read(void *data, void *to, size_t room)
{
	struct trace *t = data;
	size_t part = t->len - t->at;

	if (t->fail_at && t->at >= t->fail_at)
		return -EIO;
	part = part < room ? part : room;
	if (t->step && part > t->step)
		part = t->step;
	memcpy(to, t->bytes + t->at, part);
	t->at += part;
	return (ssize_t)part;
}

#endif
