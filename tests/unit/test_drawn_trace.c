// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Traces that are drawn: events of few places in any order, notes, records of
 * either version and byte order, cut and damaged.  golden/drawn-trace.txt has
 * what each is counted as.
 */

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drawn.h"
#include "trace.h"

#define TRACES	60
#define SOURCES	3

static struct trace traces[SOURCES];

static void put_note(struct trace *t, uint64_t now, uint64_t *state)
{
	static const unsigned char notes[] = "\1\0\0\0\2\0\0\0a message of a program or name";
	uint64_t kind = drawn(state, 4), sort = drawn(state, 3) ? 0 : CGROUP;

	trace_data(t, now, NOTIFY | kind | sort, 0, 0, notes, (uint16_t)drawn(state, 36));
}

static void put_event(struct trace *t, uint64_t now, uint64_t *state)
{
	static const uint64_t actions[] = { Q, Q, Q, G, G, I, I, D, D, D, D, C, C, C, C, M, F, M | FS, S, REQUEUE, P, U, UT, X,
					    C & ~FS, 14 };
	static const uint64_t flags[] = { R, R, R, W, W, W | FUA, FLUSH | W, FLUSH, AHEAD | R, DISCARD | W, PC | R, PC | W,
					  ZONE_APPEND | W, ZONE_RESET | W, WRITE_ZEROES | W, 0 };
	static const uint64_t sectors[] = { 0, 8, 16, 24, 800, 808, 1 << 20 };
	static const uint32_t sizes[] = { 4096, 4096, 4096, 8192, 512, 0, 100 };
	uint64_t action = actions[drawn(state, sizeof(actions) / sizeof(actions[0]))];
	uint64_t flag = flags[drawn(state, drawn(state, 2) ? 4 : sizeof(flags) / sizeof(flags[0]))];
	uint64_t sector = sectors[drawn(state, 7)];
	uint32_t bytes = sizes[drawn(state, 7)];
	unsigned char data[24] = { 0 };

	data[3] = data[7] = (unsigned char)drawn(state, 30);
	t->error = drawn(state, 12) ? 0 : 5;
	trace_data(t, now, action | flag | (drawn(state, 20) ? 0 : CGROUP), sector, bytes, data,
		   (uint16_t)(action == U || action == UT || action == X ? drawn(state, 3) * 8 : drawn(state, 9) / 8 * 4));
}

/* Some hundred events, spread over the files of the processors. */
static void draw(uint64_t *state)
{
	bool big = drawn(state, 2);
	uint64_t now = 1000, nr = 40 + drawn(state, 300);
	uint64_t pause = drawn(state, 2) ? 90 : 3; /* many at one moment */

	for (unsigned int i = 0; i < SOURCES; i++) {
		trace_begin(&traces[i], 1 + (unsigned int)drawn(state, 2), big);
		traces[i].cpu = i;
		traces[i].step = drawn(state, 3) ? 0 : 1 + drawn(state, 200);
	}
	for (uint64_t i = 0; i < nr; i++) {
		struct trace *t = &traces[drawn(state, SOURCES)];

		now += drawn(state, 4) ? drawn(state, pause) : drawn(state, 60000);
		if (t->len > sizeof(t->bytes) - 200)
			continue;
		t->device = drawn(state, 5) ? SDA : SDB;
		t->cpu = drawn(state, 60) ? (uint32_t)(t - traces) : (uint32_t)drawn(state, 5);
		if (!drawn(state, 30))
			t->sequence += (uint32_t)drawn(state, 4);
		if (drawn(state, 16))
			put_event(t, drawn(state, 25) ? now : now - 900, state);
		else
			put_note(t, now, state);
	}
	for (unsigned int i = 0; i < SOURCES; i++) {
		struct trace *t = &traces[i];

		if (!drawn(state, 6))
			t->len -= drawn(state, t->len < 60 ? t->len + 1 : 60);
		if (!drawn(state, 10) && t->len)
			t->bytes[drawn(state, t->len)] ^= (unsigned char)(1 << drawn(state, 8));
		if (!drawn(state, 10)) {
			t->len = (t->len + 100) & ~(size_t)3;
			memset(t->bytes + t->len - 90, 0, 90);
		}
		if (!drawn(state, 12))
			t->fail_at = t->len / 2;
	}
}

static int take_note(void *data, const struct blktrace_event *event, const struct blktrace_note *note)
{
	fprintf(data, "note %u at %" PRIu64 ": %u %u %.*s\n", note->kind, event->time_ns, note->wall_s, note->wall_ns, (int)note->len,
		note->text);
	return 0;
}

static int take_sample(void *data, const struct blktrace_device *device, const struct rt_counters *span)
{
	fprintf(data, "sample of %x: ", device->device);
	say_counters(data, span);
	return 0;
}

static uint64_t capacity(void *data, uint32_t device)
{
	(void)data;
	return device == SDA ? 1 << 20 : 0;
}

static void count(FILE *to, uint64_t *state)
{
	struct blktrace_reader readers[SOURCES];
	struct blktrace_merge merge = { .nr = SOURCES, .readers = readers, .note = take_note, .data = to };
	struct blktrace_import import = { .merge = &merge, .sample = take_sample, .capacity = capacity, .data = to };
	char text[256];
	int err = 0;

	draw(state);
	import.interval_ns = 1 + drawn(state, 3) * 50000;
	import.begun_ns = drawn(state, 3) * 990;
	if (import.interval_ns == 1)
		import.interval_ns = 1000000000;
	memset(readers, 0, sizeof(readers));
	for (unsigned int i = 0; i < SOURCES; i++) {
		err = blktrace_open(&readers[i], (struct blktrace_input){ trace_read, &traces[i] }, BLKTRACE_BUFFER_MIN);
		fprintf(to, "open: %d\n", err);
	}
	err = blktrace_merge_open(&merge, 1 + drawn(state, 40));
	if (!err)
		err = blktrace_import_run(&import);
	fprintf(to, "%d: %" PRIu64 " events, %" PRIu64 " notes, %" PRIu64 " late, source %zu, %" PRIu64 " to %" PRIu64 "\n", err,
		import.events, merge.notes, merge.late, merge.failed, import.start_ns, import.now_ns);
	for (unsigned int i = 0; i < SOURCES; i++)
		fprintf(to, "%" PRIu64 " %" PRIu64 " %d %s\n", readers[i].offset, readers[i].passed, readers[i].cut,
			readers[i].wrong ? readers[i].wrong : "");
	blktrace_import_check(&import, text, sizeof(text));
	fprintf(to, "%s\n", text);
	for (size_t i = 0; i < import.nr; i++) {
		struct blktrace_device *d = import.devices[i];
		struct rt_counters total;

		blktrace_device_total(d, import.start_ns, import.now_ns, &total);
		fprintf(to, "%x %" PRIu64 " %x %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 " %x ", d->device, d->events, d->seen, d->missing,
			d->given_up, d->empty_flushes, blktrace_device_unknown(d), blktrace_device_unknown_disk(d));
		say_counters(to, &total);
	}
	blktrace_import_free(&import);
	blktrace_merge_close(&merge);
	for (unsigned int i = 0; i < SOURCES; i++)
		blktrace_close(&readers[i]);
}

static void counted(void **unused)
{
	static const struct drawn_kind kind = { "trace", count };

	(void)unused;
	drawn_golden("golden/drawn-trace.txt", &kind, 1, TRACES, 2004);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(counted) };

	return cmocka_run_group_tests_name("drawn-trace", tests, NULL, NULL);
}
