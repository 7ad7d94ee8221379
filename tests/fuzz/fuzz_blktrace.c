// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become the files of a trace, for the reader.
 *
 * The first byte says how many files there are and how many events a stream is
 * sorted by, the second how much one read returns; the rest is cut in equal
 * parts and read as it is.  fuzz_blktrace_account.c is for what is made of the
 * events.
 */

#include <errno.h>

#include "import/import.h"
#include "expect.h"

#define SOURCES	4
/* A record that nothing is behind. */
#define SHORTEST	48

static struct bytes bytes[SOURCES];
static struct blktrace_reader readers[SOURCES];
static size_t notes;

static int on_note(void *data, const struct blktrace_event *event, const struct blktrace_note *note)
{
	static char text[BLKTRACE_NOTE_TEXT];

	(void)data;
	expect(event->what == BLKTRACE_NOTE, "a note is one");
	expect(note->kind <= BLKTRACE_NOTES, "kind of a note");
	expect(note->wall_ns < 1000000000, "nanoseconds below a second");
	expect(note->len <= BLKTRACE_NOTE_TEXT, "length of a note");
	memcpy(text, note->text, note->len);
	notes++;
	return 0;
}

static void check_event(const struct blktrace_event *event)
{
	expect(event->what < BLKTRACE_NOTE || event->what == BLKTRACE_OTHER,
	       "notes are not handed out");
	expect(event->direction < RAIDTRACE_DIRECTION_ALL, "direction");
	expect(event->cpu < BLKTRACE_CPUS, "CPU");
	expect(event->time_ns <= INT64_MAX, "time");
}

/* Check the state of the readers at the end of all sources. */
static void check_end(const struct blktrace_merge *merge, int err, size_t events)
{
	size_t most = 0;

	for (size_t i = 0; i < merge->nr; i++) {
		expect(readers[i].offset <= bytes[i].size, "offset");
		most += bytes[i].size / SHORTEST;
	}
	expect(events + notes <= most, "no more events than there are bytes for");
	expect(merge->late <= events, "late events are events");
	expect(!err || err == -EBADMSG, "only garbage is refused");
	expect(err != -EBADMSG || readers[merge->failed].wrong, "a refusal has words");
	expect(err || events == merge->order, "all that is read is handed out");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct blktrace_merge merge = { .readers = readers, .note = on_note };
	struct blktrace_event event;
	size_t step, part, events = 0;
	int err;

	if (size < 2)
		return 0;
	notes = 0;
	merge.nr = 1 + (data[0] & 3);
	step = data[1] & 31;
	part = (size - 2) / merge.nr;
	for (size_t i = 0; i < merge.nr; i++) {
		struct blktrace_input input = { read_bytes, &bytes[i] };

		bytes[i] = (struct bytes){ data + 2 + i * part, part,
					   step ? step * step : SIZE_MAX, part };
		expect(!blktrace_open(&readers[i], input, BLKTRACE_BUFFER_MIN),
		       "memory");
	}
	err = blktrace_merge_open(&merge, 1 + (data[0] >> 2));
	while (!err && (err = blktrace_merge_next(&merge, &event)) > 0) {
		check_event(&event);
		events++;
		err = 0;
	}
	check_end(&merge, err, events);
	blktrace_merge_close(&merge);
	for (size_t i = 0; i < merge.nr; i++)
		blktrace_close(&readers[i]);
	return 0;
}
