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

/* No disk has as many bytes; one sector less is a position. */
static void beyond_all_disks(void **state)
{
	(void)state;
	for (int beyond = 0; beyond < 2; beyond++) {
		trace_begin(&trace, 1, false);
		trace_put(&trace, 5, C | W, (INT64_MAX >> 9) + beyond, 512);
		open_trace(4096);
		assert_int_equal(blktrace_next(&reader, &event, &note),
				 beyond ? -EBADMSG : 1);
		if (beyond)
			assert_non_null(strstr(reader.wrong, "position"));
		blktrace_close(&reader);
	}
}

static void members(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMATS; i++) {
		trace_begin(&trace, formats[i].version, formats[i].big);
		trace.device = 259U << 20 | 0x54321;
		trace.cpu = 5;
		trace.error = 0xfffb;
		trace.sequence = 41;
		trace_put(&trace, 0x123456789abcdefULL, C | W, 0x11223344556677ULL,
			  0x89abcdef);
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

static void actions(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		trace_begin(&trace, 1, false);
		trace_put(&trace, 1, table[i].action | R, 8, 4096);
		open_trace(4096);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(event.what, table[i].what);
		blktrace_close(&reader);
	}
}

static void directions(void **state)
{
	static const struct {
		uint64_t categories;
		uint32_t bytes;
		int direction;
	} table[] = {
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

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		trace_begin(&trace, 2, false);
		trace_put(&trace, 1, Q | table[i].categories, 8, table[i].bytes);
		open_trace(4096);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(event.direction, table[i].direction);
		blktrace_close(&reader);
	}
}

static void notes(void **state)
{
	static const char name[16] = "bonnie++";
	static const char message[] = "12345678hello";
	char longest[BLKTRACE_NOTE_TEXT + 9];

	(void)state;
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
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(event.what, BLKTRACE_NOTE);
		assert_int_equal(note.kind, BLKTRACE_NOTE_PROCESS);
		assert_int_equal(note.len, 8);
		assert_memory_equal(note.text, "bonnie++", 8);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.kind, BLKTRACE_NOTE_MESSAGE);
		assert_int_equal(note.len, 5);
		assert_memory_equal(note.text, "hello", 5);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.len, 13);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.kind, BLKTRACE_NOTE_TIMESTAMP);
		assert_int_equal(note.wall_s, 1700000000);
		assert_int_equal(note.wall_ns, 999999999);
		for (int unknown = 0; unknown < 2; unknown++) {
			assert_int_equal(blktrace_next(&reader, &event, &note), 1);
			assert_int_equal(note.kind, BLKTRACE_NOTES);
		}
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.len, BLKTRACE_NOTE_TEXT);
		assert_memory_equal(note.text, longest, BLKTRACE_NOTE_TEXT);
		assert_int_equal(blktrace_next(&reader, &event, &note), 1);
		assert_int_equal(note.len, BLKTRACE_NOTE_TEXT - 1);
		assert_int_equal(blktrace_next(&reader, &event, &note), 0);
		blktrace_close(&reader);
	}
}

/* Data longer than the buffer, read a few bytes at a time. */
static void long_data(void **state)
{
	static char text[20000];

	(void)state;
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

static void cut_anywhere(void **state)
{
	size_t ends[3];

	(void)state;
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

/* Whatever byte of a record's begin is wrong, it is refused there. */
static void garbage_anywhere(void **state)
{
	size_t ends[3];

	(void)state;
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
static void shifted_anywhere(void **state)
{
	size_t ends[3];

	(void)state;
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

static void impossible(void **state)
{
	int end;

	(void)state;
	trace_begin(&trace, 1, false);
	trace.cpu = BLKTRACE_CPUS;
	trace_put(&trace, 1, Q | R, 8, 4096);
	open_trace(4096);
	read_all(&end);
	assert_int_equal(end, -EBADMSG);
	blktrace_close(&reader);

	trace_begin(&trace, 1, false);
	trace_put(&trace, (uint64_t)1 << 63, Q | R, 8, 4096);
	open_trace(4096);
	read_all(&end);
	assert_int_equal(end, -EBADMSG);
	blktrace_close(&reader);

	/* The byte order is that of the first record. */
	trace_begin(&trace, 1, false);
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace.big = true;
	trace_put(&trace, 2, Q | R, 8, 4096);
	open_trace(4096);
	assert_int_equal(read_all(&end), 1);
	assert_int_equal(end, -EBADMSG);
	blktrace_close(&reader);
}

/* A blktrace that is killed leaves zeros behind the last record. */
static void zeros(void **state)
{
	int end;

	(void)state;
	trace_begin(&trace, 1, false);
	trace_put(&trace, 1, Q | R, 8, 4096);
	trace.len += 10000;
	open_trace(4096);
	assert_int_equal(read_all(&end), 1);
	assert_int_equal(end, 0);
	assert_true(reader.cut);
	assert_int_equal(reader.offset, 48);
	blktrace_close(&reader);

	trace.fail_at = 5000;
	open_trace(4096);
	assert_int_equal(read_all(&end), 1);
	assert_int_equal(end, -EIO);
	blktrace_close(&reader);

	trace.fail_at = 0;
	trace.bytes[9000] = 1;
	open_trace(4096);
	assert_int_equal(read_all(&end), 1);
	assert_int_equal(end, -EBADMSG);
	assert_int_equal(reader.offset, 48);
	blktrace_close(&reader);

	trace_begin(&trace, 1, false);
	trace.len = 1000;
	open_trace(4096);
	assert_int_equal(read_all(&end), 0);
	assert_int_equal(end, -EBADMSG);
	blktrace_close(&reader);
}

/* Wherever it is, what stands before it is read. */
static void read_error(void **state)
{
	size_t ends[3];
	int end;

	(void)state;
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

/* Sectors in the order in which the events come. */
static void expect_sectors(const char *sectors)
{
	for (; *sectors; sectors++) {
		assert_int_equal(blktrace_merge_next(&merge, &event), 1);
		assert_int_equal(event.sector, *sectors);
	}
	assert_int_equal(blktrace_merge_next(&merge, &event), 0);
}

static void put_sectors(struct trace *t, const char *sectors,
			const int *times)
{
	for (size_t i = 0; sectors[i]; i++)
		trace_put(t, (uint64_t)times[i], Q | R,
			  (unsigned char)sectors[i], 512);
}

static void cpus_in_order(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		trace_begin(&traces[i], 1, i == 1);
	put_sectors(&traces[0], "adg", (const int[]){ 1, 4, 7 });
	put_sectors(&traces[1], "bcij", (const int[]){ 2, 3, 9, 10 });
	put_sectors(&traces[2], "efh", (const int[]){ 5, 6, 8 });
	open_merge(3, 1);
	expect_sectors("abcdefghij");
	assert_int_equal(merge.late, 0);
	close_merge();
}

static void same_time_as_read(void **state)
{
	(void)state;
	trace_begin(&traces[0], 1, false);
	put_sectors(&traces[0], "abcdef", (const int[]){ 1, 1, 1, 1, 1, 1 });
	open_merge(1, 4);
	expect_sectors("abcdef");
	close_merge();
}

static void stream_in_window(void **state)
{
	(void)state;
	trace_begin(&traces[0], 1, false);
	put_sectors(&traces[0], "efgabcd", (const int[]){ 5, 6, 7, 1, 2, 3, 4 });
	open_merge(1, 4);
	expect_sectors("abcdefg");
	assert_int_equal(merge.late, 0);
	close_merge();

	traces[0].at = 0;
	open_merge(1, 3);
	/* "a" is read when "e" has to go. */
	expect_sectors("eabcdfg");
	assert_int_equal(merge.late, 4);
	close_merge();
}

static int count_note(void *data, const struct blktrace_event *of,
		      const struct blktrace_note *message)
{
	int *nr = data;

	assert_int_equal(of->what, BLKTRACE_NOTE);
	assert_int_equal(message->kind, BLKTRACE_NOTE_MESSAGE);
	return ++*nr == 3 ? -EIO : 0;
}

static void notes_apart(void **state)
{
	struct blktrace_input input = { trace_read, &traces[0] };
	int nr = 0;

	(void)state;
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

static void says_which_failed(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		trace_begin(&traces[i], 1, false);
		put_sectors(&traces[i], "ab", (const int[]){ i, i + 3 });
	}
	traces[1].bytes[48] = 'x';
	open_merge(3, 1);
	assert_int_equal(blktrace_merge_next(&merge, &event), 1);
	assert_int_equal(blktrace_merge_next(&merge, &event), -EBADMSG);
	assert_int_equal(merge.failed, 1);
	assert_int_equal(readers[1].offset, 48);
	close_merge();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members),
		cmocka_unit_test(beyond_all_disks),
		cmocka_unit_test(actions),
		cmocka_unit_test(directions),
		cmocka_unit_test(notes),
		cmocka_unit_test(long_data),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(garbage_anywhere),
		cmocka_unit_test(shifted_anywhere),
		cmocka_unit_test(impossible),
		cmocka_unit_test(zeros),
		cmocka_unit_test(read_error),
		cmocka_unit_test(cpus_in_order),
		cmocka_unit_test(same_time_as_read),
		cmocka_unit_test(stream_in_window),
		cmocka_unit_test(notes_apart),
		cmocka_unit_test(says_which_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
