// SPDX-License-Identifier: GPL-2.0-or-later

/* Records of blktrace, whole, cut and wrong, and their order. */

#include "unit.h"

#include "trace.h"

static struct trace trace;
static struct blktrace_reader reader;
static struct blktrace_event event;
static struct blktrace_note note;

static void open_trace(size_t buffer)
{
	struct blktrace_input input = { trace_read, &trace };

	trace.at = 0;
	assert_int_equal(blktrace_open(&reader, input, buffer), 0);
}

/* Read to the end; how many records came before it. */
static int read_all(int *end)
{
	int nr = 0, err;

	while ((err = blktrace_next(&reader, &event, &note)) > 0)
		nr++;
	*end = err;
	return nr;
}

static const struct {
	unsigned int version;
	bool big;
} formats[] = { { 1, false }, { 1, true }, { 2, false }, { 2, true } };

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

TEST(members)
{
	for (size_t i = 0; i < FORMATS; i++) {
		trace_begin(&trace, formats[i].version, formats[i].big);
		trace.device = 259U << 20 | 0x54321;
		trace.cpu = 5;
		trace.error = 0xfffb;
		trace.sequence = 41;
		trace_put(&trace, 0x123456789abcdefULL, C | W, 0x11223344556677ULL, 0x89abcdef);
		open_trace(4096);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_true(event.time_ns == 0x123456789abcdefULL);
		assert_true(event.sector == 0x11223344556677ULL);
		assert_int_equal(event.bytes, 0x89abcdef);
		assert_int_equal(event.device, 259U << 20 | 0x54321);
		assert_int_equal(event.cpu, 5);
		assert_int_equal(event.sequence, 42);
		assert_int_equal(event.what, BLKTRACE_COMPLETE);
		assert_int_equal(event.direction, RAIDTRACE_DIRECTION_WRITE);
		assert_true(event.write && event.error);
		assert_int_equal(reader.version, formats[i].version);
		assert_int_equal(blktrace_next(&reader, &event, &note), 0);
		assert_false(reader.cut);
		blktrace_close(&reader);
	}
}

/* The one event of a trace of @action. */
static void read_one(unsigned int version, uint64_t action, uint32_t bytes)
{
	trace_begin(&trace, version, false);
	trace_put(&trace, 1, action, 8, bytes);
	open_trace(4096);
	assert_int_equal(blktrace_next(&reader, &event, &note), 1);
	blktrace_close(&reader);
}

TEST(actions)
{
	static const struct {
		uint64_t action;
		int what;
	} table[] = {
		{ Q, BLKTRACE_QUEUE }, { G, BLKTRACE_GETRQ },
		{ M, BLKTRACE_BACK_MERGE }, { M | FS, BLKTRACE_REQUEST_MERGE },
		{ M | PC, BLKTRACE_REQUEST_MERGE }, { F, BLKTRACE_FRONT_MERGE },
		{ X, BLKTRACE_SPLIT }, { I, BLKTRACE_INSERT },
		{ D, BLKTRACE_ISSUE }, { REQUEUE, BLKTRACE_REQUEUE },
		{ C, BLKTRACE_COMPLETE }, { C & ~FS, BLKTRACE_BIO_COMPLETE },
		{ P, BLKTRACE_PLUG }, { U, BLKTRACE_UNPLUG },
		{ S, BLKTRACE_OTHER }, { UT, BLKTRACE_UNPLUG_SLEEP },
		{ 15 | TC(4), BLKTRACE_OTHER }, { 200 | TC(4), BLKTRACE_OTHER },
		{ Q | CGROUP, BLKTRACE_QUEUE },
	};
	static const struct {
		uint64_t categories;
		uint32_t bytes;
		int direction;
	} directions[] = {
		{ R, 512, RAIDTRACE_DIRECTION_READ },
		{ R, 0, RAIDTRACE_DIRECTION_READ },
		{ W, 512, RAIDTRACE_DIRECTION_WRITE },
		{ W | FLUSH, 512, RAIDTRACE_DIRECTION_WRITE },
		{ W | FLUSH, 0, RAIDTRACE_DIRECTION_FLUSH },
		{ W, 0, RAIDTRACE_DIRECTION_FLUSH },
		{ R | FLUSH, 0, RAIDTRACE_DIRECTION_FLUSH },
		{ W | DISCARD, 512, RAIDTRACE_DIRECTION_DISCARD },
		{ W | WRITE_ZEROES, 512, RAIDTRACE_DIRECTION_WRITE_ZEROES },
		{ W | ZONE_RESET, 0, RAIDTRACE_DIRECTION_OTHER },
		{ W | ZONE_APPEND, 512, RAIDTRACE_DIRECTION_WRITE },
		{ R | PC, 96, RAIDTRACE_DIRECTION_PASSTHROUGH },
		{ W | PC, 512, RAIDTRACE_DIRECTION_PASSTHROUGH },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		read_one(1, table[i].action | R, 4096);
		assert_int_equal(event.what, table[i].what);
	}
	for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
		read_one(2, Q | directions[i].categories, directions[i].bytes);
		assert_int_equal(event.direction, directions[i].direction);
	}
}

TEST(notes)
{
	static const char name[16] = "bonnie++";
	static const char message[] = "12345678hello";
	char longest[BLKTRACE_NOTE_TEXT + 9];
	const struct {
		int kind;
		size_t len;
		const char *text;
	} expected[] = {
		{ BLKTRACE_NOTE_PROCESS, 8, name },
		{ BLKTRACE_NOTE_MESSAGE, 5, "hello" },
		{ BLKTRACE_NOTE_MESSAGE, 13, message },
		{ BLKTRACE_NOTE_TIMESTAMP, 0, NULL },
		{ BLKTRACE_NOTES, 0, NULL },
		{ BLKTRACE_NOTES, 0, NULL },
		{ BLKTRACE_NOTE_MESSAGE, BLKTRACE_NOTE_TEXT, longest },
		{ BLKTRACE_NOTE_MESSAGE, BLKTRACE_NOTE_TEXT - 1, longest },
	};

	for (size_t i = 0; i < FORMATS; i++) {
		size_t at;

		trace_begin(&trace, formats[i].version, formats[i].big);
		trace_data(&trace, 1, NOTIFY, 0, 0, name, sizeof(name));
		trace_data(&trace, 2, NOTIFY | 2 | CGROUP, 0, 0, message, 13);
		trace_data(&trace, 3, NOTIFY | 2, 0, 0, message, 13);
		at = trace.len;
		trace_data(&trace, 4, NOTIFY | 1, 0, 0, "12345678", 8);
		trace.len = at + (formats[i].version == 1 ? 48 : 64);
		trace_number(&trace, 1700000000, 4);
		trace_number(&trace, 999999999, 4);
		trace_data(&trace, 5, NOTIFY | 1, 0, 0, "1234", 4);
		trace_data(&trace, 6, NOTIFY | 77, 0, 0, "1234", 4);
		memset(longest, 'a' + (int)i, sizeof(longest));
		trace_data(&trace, 7, NOTIFY | 2 | CGROUP, 0, 0, longest, sizeof(longest));
		trace_data(&trace, 8, NOTIFY | 2, 0, 0, longest, BLKTRACE_NOTE_TEXT - 1);
		open_trace(4096);
		for (size_t n = 0; n < sizeof(expected) / sizeof(expected[0]); n++) {
			assert_int_equal(blktrace_next(&reader, &event, &note), 1);
			assert_int_equal(event.what, BLKTRACE_NOTE);
			assert_int_equal(note.kind, expected[n].kind);
			if (note.kind == BLKTRACE_NOTE_TIMESTAMP) {
				assert_int_equal(note.wall_s, 1700000000);
				assert_int_equal(note.wall_ns, 999999999);
			}
			if (!expected[n].text)
				continue;
			assert_int_equal(note.len, expected[n].len);
			assert_memory_equal(note.text, expected[n].text, note.len);
		}
		assert_int_equal(blktrace_next(&reader, &event, &note), 0);
		blktrace_close(&reader);
	}
}

/* Data longer than the buffer, read a few bytes at a time. */
TEST(long_data)
{
	static char text[20000];

	memset(text, 'a', sizeof(text));
	for (size_t step = 1; step < 6000; step = step * 3 + 1) {
		trace_begin(&trace, 2, true);
		trace_data(&trace, 1, NOTIFY | 2, 0, 0, text, sizeof(text));
		trace_data(&trace, 2, U | R, 0, 0, text, sizeof(text));
		trace_put(&trace, 3, Q | R, 8, 512);
		trace.step = step;
		open_trace(BLKTRACE_BUFFER_MIN);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.len, BLKTRACE_NOTE_TEXT);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(event.what, BLKTRACE_QUEUE);
		assert_int_equal(reader.offset, 2 * (64 + sizeof(text)));
		assert_int_equal(blktrace_next(&reader, &event, &note), 0);
		blktrace_close(&reader);
	}
}

/* Three records, the second with data; their ends go to @ends. */
static void three_records(size_t format, size_t *ends)
{
	trace_begin(&trace, formats[format].version, formats[format].big);
	trace_put(&trace, 1, Q | R, 8, 4096);
	ends[0] = trace.len;
	trace_data(&trace, 2, U | R, 0, 0, "12345678", 8);
	ends[1] = trace.len;
	trace_put(&trace, 3, D | R, 8, 4096);
	ends[2] = trace.len;
}

TEST(cut_anywhere)
{
	size_t ends[3];

	for (size_t i = 0; i < FORMATS; i++) {
		three_records(i, ends);
		for (size_t len = 0; len <= ends[2]; len++) {
			size_t whole = 0, last = 0;
			int end;

			while (whole < 3 && ends[whole] <= len)
				last = ends[whole++];
			trace.len = len;
			open_trace(4096);
			assert_int_equal(read_all(&end), whole);
			assert_int_equal(end, 0);
			assert_int_equal(reader.cut, len != last);
			assert_int_equal(reader.offset, last);
			blktrace_close(&reader);
		}
	}
}

/* A record with any wrong byte in its begin is refused there. */
TEST(garbage_anywhere)
{
	size_t ends[3];

	for (size_t i = 0; i < FORMATS; i++) {
		for (size_t at = 0; at < 12; at++) {
			size_t record = at / 4, where;
			int end;

			three_records(i, ends);
			where = record ? ends[record - 1] : 0;
			trace.bytes[where + at % 4] ^= 0x55;
			open_trace(4096);
			assert_int_equal(read_all(&end), record);
			assert_int_equal(end, -EBADMSG);
			assert_int_equal(reader.offset, where);
			assert_non_null(reader.wrong);
			assert_false(reader.cut);
			blktrace_close(&reader);
		}
	}
}

/* Bytes put in at any place are found at the next record, at the latest. */
TEST(shifted_anywhere)
{
	size_t ends[3];

	three_records(0, ends);
	for (size_t at = 0; at <= ends[1]; at++) {
		int end, nr;

		three_records(0, ends);
		memmove(trace.bytes + at + 3, trace.bytes + at, trace.len - at);
		memset(trace.bytes + at, 0xa5, 3);
		trace.len += 3;
		open_trace(4096);
		nr = read_all(&end);
		assert_true(nr <= 2 && (end == -EBADMSG || reader.cut));
		assert_true(reader.offset >= (nr ? ends[nr - 1] : 0));
		blktrace_close(&reader);
	}
}

/* The rest of @trace: @nr records, then @expected. */
static void expect_end(int nr, int expected)
{
	int end;

	open_trace(4096);
	assert_int_equal(read_all(&end), nr);
	assert_int_equal(end, expected);
	if (nr)
		assert_int_equal(reader.offset, 48);
	assert_int_equal(reader.cut, !expected);
	blktrace_close(&reader);
}

TEST(impossible)
{
	for (int i = 0; i < 3; i++) {
		trace_begin(&trace, 1, false);
		trace.cpu = i ? 0 : BLKTRACE_CPUS;
		/* No disk has as many bytes. */
		trace_put(&trace, (uint64_t)(i == 1) << 63, C | W, i == 2 ? (INT64_MAX >> 9) + 1 : 8, 512);
		expect_end(0, -EBADMSG);
		if (i == 2)
			assert_non_null(strstr(reader.wrong, "position"));
	}
	/* The byte order is that of the first record, at the last position that there is. */
	trace_begin(&trace, 1, false);
	trace_put(&trace, 1, Q | R, INT64_MAX >> 9, 512);
	trace.big = true;
	trace_put(&trace, 2, Q | R, 8, 4096);
	expect_end(1, -EBADMSG);
}

/* A blktrace that is killed leaves zeros behind the last record. */
TEST(zeros)
{
	trace_begin(&trace, 1, false);
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace.len += 10000;
	expect_end(1, 0);
	trace.fail_at = 5000;
	expect_end(1, -EIO);
	trace.fail_at = 0;
	trace.bytes[9000] = 1;
	expect_end(1, -EBADMSG);
	trace_begin(&trace, 1, false);
	trace.len = 1000;
	expect_end(0, -EBADMSG);
}

/* Records before the error are read, wherever the error is. */
TEST(read_error)
{
	size_t ends[3];
	int end;

	three_records(0, ends);
	trace.step = 7;
	for (trace.fail_at = 1; trace.fail_at <= ends[2]; trace.fail_at++) {
		size_t read = (trace.fail_at + trace.step - 1) / trace.step * trace.step;

		open_trace(4096);
		assert_int_equal(read_all(&end), (read >= ends[0]) + (read >= ends[1]) + (read >= ends[2]));
		assert_int_equal(end, -EIO);
		blktrace_close(&reader);
	}
}

/* Sources of the tests below, and what is read of them together. */
static struct trace traces[3];
static struct blktrace_reader readers[3];
static struct blktrace_merge merge;

static void open_merge(size_t nr, size_t window)
{
	for (size_t i = 0; i < nr; i++) {
		struct blktrace_input input = { trace_read, &traces[i] };

		assert_int_equal(blktrace_open(&readers[i], input, 4096), 0);
	}
	merge = (struct blktrace_merge){ .nr = nr, .readers = readers };
	assert_int_equal(blktrace_merge_open(&merge, window), 0);
}

static void close_merge(void)
{
	for (size_t i = 0; i < merge.nr; i++)
		blktrace_close(&readers[i]);
	blktrace_merge_close(&merge);
}

TEST(order)
{
	static const struct {
		size_t window;
		struct {
			const char *sectors;
			uint64_t times[8];
		} sources[3];
		const char *expected;
		uint64_t late;
	} table[] = {
		{ 1, { { "adg", { 1, 4, 7 } }, { "bcij", { 2, 3, 9, 10 } }, { "efh", { 5, 6, 8 } } }, "abcdefghij", 0 },
		/* Events of the same time come in the order of reading. */
		{ 4, { { "abcdef", { 1, 1, 1, 1, 1, 1 } } }, "abcdef", 0 },
		{ 4, { { "efgabcd", { 5, 6, 7, 1, 2, 3, 4 } } }, "abcdefg", 0 },
		/* "a" is read when "e" has to go. */
		{ 3, { { "efgabcd", { 5, 6, 7, 1, 2, 3, 4 } } }, "eabcdfg", 4 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t nr = 0;

		for (; nr < 3 && table[i].sources[nr].sectors; nr++) {
			trace_begin(&traces[nr], 1, nr == 1);
			for (size_t n = 0; table[i].sources[nr].sectors[n]; n++)
				trace_put(&traces[nr], table[i].sources[nr].times[n], Q | R,
					  (unsigned char)table[i].sources[nr].sectors[n], 512);
		}
		open_merge(nr, table[i].window);
		for (const char *sector = table[i].expected; *sector; sector++) {
			assert_int_equal(blktrace_merge_next(&merge, &event), 1);
			assert_int_equal(event.sector, *sector);
		}
		assert_int_equal(blktrace_merge_next(&merge, &event), 0);
		assert_int_equal(merge.late, table[i].late);
		close_merge();
	}
}

static int count_note(void *data, const struct blktrace_event *of, const struct blktrace_note *message)
{
	int *nr = data;

	assert_int_equal(of->what, BLKTRACE_NOTE);
	assert_int_equal(message->kind, BLKTRACE_NOTE_MESSAGE);
	return ++*nr == 3 ? -EIO : 0;
}

TEST(notes_apart)
{
	struct blktrace_input input = { trace_read, &traces[0] };
	int nr = 0;

	trace_begin(&traces[0], 1, false);
	for (int i = 0; i < 3; i++) {
		trace_data(&traces[0], 100, NOTIFY | 2, 0, 0, "x", 1);
		trace_put(&traces[0], (uint64_t)i, Q | R, 'a' + (uint64_t)i, 512);
	}
	assert_int_equal(blktrace_open(&readers[0], input, 4096), 0);
	merge = (struct blktrace_merge){ .nr = 1, .readers = readers,
					 .note = count_note, .data = &nr };
	assert_int_equal(blktrace_merge_open(&merge, 1), 0);
	assert_int_equal(blktrace_merge_next(&merge, &event), 1);
	assert_int_equal(event.sector, 'a');
	assert_int_equal(blktrace_merge_next(&merge, &event), -EIO);
	close_merge();
}

TEST(says_which_failed)
{
	for (int i = 0; i < 3; i++) {
		trace_begin(&traces[i], 1, false);
		for (int n = 0; n < 2; n++)
			trace_put(&traces[i], (uint64_t)(i + 3 * n), Q | R, 8, 512);
	}
	traces[1].bytes[48] = 'x';
	open_merge(3, 1);
	assert_int_equal(blktrace_merge_next(&merge, &event), 1);
	assert_int_equal(blktrace_merge_next(&merge, &event), -EBADMSG);
	assert_int_equal(merge.failed, 1);
	assert_int_equal(readers[1].offset, 48);
	close_merge();
}
