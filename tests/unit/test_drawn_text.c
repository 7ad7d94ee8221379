// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Texts that are drawn, out of pieces of what is understood: output of
 * benchmarks, histograms as a recording holds them, numbers with units, words
 * to be wrapped.  golden/drawn-text.txt has what is made of each.
 */

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "drawn.h"
#include "format/wrap.h"
#include "phase/phase.h"
#include "store/packed.h"

#define ROUNDS	40
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static size_t add(char *to, size_t at, size_t size, const char *text)
{
	return at + strlen(text) < size ? at + (size_t)snprintf(to + at, size - at, "%s", text) : at;
}

static const char *const fio[] = {
	"a: (g=0): rw=read, bs=4k\n", "b: (g=1): rw=randread\n", "a+b: (g=1): rw=write\n", "long-name-of-a-job-that-is-longer-than-there-is-room-for-it-here: (g=2): rw=w\n",
	"...\n", "...", "Jobs: 2 (f=2): [", "Jobs: 1 (f=1): [", "R(1)", "W(2)", "r", "w", "M", "m", "D", "d", "V", "F", "_(1)", "P", ",", "E(3)",
	"]", "][80.0%]", "[r=1530KiB/s]", "[eta 00m:03s]", "[eta 01h:02m:03s]", "[eta 1d:00h:00m:00s]", "[eta 30d:00h]", "[eta 5x]", "[eta ]",
	"\r", "\n", "\n", ": (groupid=0, jobs=1)\n", "x: (g=", ": (g=3): rw=x\n", "R(", "(2)", "W(600)",
};
static const char *const letters[] = { "R(1)", "W(2)", "r", "w", "M", "m", "D", "d", "V", "F", "_(1)", "P", ",", "E(3)", "w(0)", "R(x" };
static const char *const etas[] = {
	"][80.0%][eta 00m:03s]\r", "]\r", "][eta 01h:02m:03s]\n", "][eta 1d:00h:00m:00s]\r", "][eta 29d:23h:59m:59s]\n", "][eta 30d:00h]\r",
	"][eta 5x]\n", "][eta 7]\r", "",
};
static const char *const iozone[] = {
	"\tChildren see throughput for  2 initial writers \t=  81.1 kB/sec\n", "Children see throughput for 1 rewriters =\n",
	"Children see throughput for  4 readers\n", "Children see throughput for 2 re-readers \t=\n", "Children see throughput for 2 random readers =\n",
	"Children see throughput for 2 mixed workload =\n", "Children see throughput for 1 pwrite writers\n", "Children see throughput for 2 stride readers =\n",
	"Children see throughput for 2 freaders =\n", "Children see throughput for 2 nobody =\n", "Each process writes a 1024 kByte file\n",
	"Each thread writes a 1 kB file\n", "   kB  reclen  write\n", "  1024", "     4", " 81920", "  7", " 99", " x", "\n", "\n", " ", "12", "\r",
};
static const char *const others[] = {
	"Writing a byte at a time...", "Writing intelligently...", "Rewriting...", "start 'em...", "done\n", "Delete files in random order...",
	"Writing...", "Reading...", "Pausing...", "Seeking...", "Writing with fwrite...", "Reading with getc...", "\n", "\r", "x", " ",
	"Create files in sequential order...", "Stat files in random order...done.\n",
};

static void phases(FILE *to, uint64_t *state)
{
	static const struct {
		const char *name;
		const char *const *pieces;
		size_t nr;
	} programs[] = { { "fio", fio, COUNT(fio) }, { "iozone", iozone, COUNT(iozone) }, { NULL, others, COUNT(others) },
			 { NULL, others, COUNT(others) } };
	static char *const words[][5] = {
		{ "iozone", "-i0", "-t", "2", NULL }, { "iozone", "-i", "1", "-i2", NULL }, { "sh", "-c", "/x/iozone -i 3 -i 5", NULL },
		{ "bonnie++", "-d", "/mnt", NULL }, { "sh", "-c", "nice bonnie", NULL }, { "fio", "x.fio", NULL }, { "iozone", "-i", "11", "-ix", NULL },
		{ "/usr/bin/bonnie++x", NULL }, { "a;bonnie++", NULL }, { "-i", NULL }, { "ddt", "x", NULL },
	};
	size_t which = drawn(state, COUNT(programs)), of = drawn(state, COUNT(words));
	struct phase_cutter cutter;
	char text[3000];
	size_t len = 0;
	bool known;

	memset(&cutter, 0xff, sizeof(cutter));
	known = phase_cutter_init(&cutter, programs[which].name ? programs[which].name : drawn(state, 4) ? phase_program_name(drawn(state, 6)) : NULL,
				  words[of]);
	fprintf(to, "%d %d %x\n", known, phase_named(&cutter), cutter.iozone.tests);
	for (uint64_t i = 20 + drawn(state, 100); i; i--) {
		bool status = !which && drawn(state, 2);

		if (status)
			len = add(text, len, sizeof(text), "\rJobs: 2 (f=2): [");
		for (uint64_t k = status ? drawn(state, 5) : 0; k; k--)
			len = add(text, len, sizeof(text), letters[drawn(state, COUNT(letters))]);
		len = add(text, len, sizeof(text), status ? etas[drawn(state, COUNT(etas))] :
			  programs[which].pieces[drawn(state, programs[which].nr)]);
	}
	for (size_t at = 0, piece; at < len; at += piece) {
		enum stream stream = drawn(state, 6) ? STREAM_STDERR : STREAM_STDOUT;
		bool moved;

		piece = 1 + drawn(state, 30);
		piece = piece < len - at ? piece : len - at;
		moved = phase_feed(&cutter, stream, text + at, piece);
		fprintf(to, "%d %s %u %u %" PRIu64 "\n", moved, cutter.now ? cutter.now : "-", cutter.opened, cutter.missed, cutter.left_s);
	}
}

/* Right as often as not; then one thing of it is another. */
static void packed(FILE *to, uint64_t *state)
{
	static const char *const pieces[] = { "{", "}", "\"read\":{", "\"write\":{", "\"all\":{", "\"size\":{", "\"d2c\":{", "\"8\":3", ",", "\"", ":",
					      "\"65535\":1", "\"65536\":1", "\"0\":9223372036854775807", "\"1\":9223372036854775808", "x", "\"nobody\":{" };
	struct packed packed = { 0 };
	struct rt_counters span = { 0 }, sum = { 0 };
	char text[512];
	int err;

	for (uint64_t i = drawn(state, 40); i; i--) {
		struct rt_histogram *h = &span.histogram[drawn(state, RT_DIRECTIONS)][drawn(state, RT_KINDS)];
		unsigned int bin = (unsigned int)drawn(state, 60);

		rt_histogram_count(h, bin, drawn(state, 9) ? drawn(state, 100000) : (uint64_t)INT64_MAX);
	}
	err = packed_put(&packed, &span);
	fprintf(to, "%d %.*s\n", err, (int)packed.len, packed.text); /* no NUL ends it */
	rt_counters_free(&span);
	for (int i = 0; i < 60; i++) {
		size_t len = 0;

		snprintf(text, sizeof(text), "%.*s", (int)packed.len, packed.text);
		if (i % 2) {
			len = strlen(text);
			if (len)
				text[drawn(state, len)] = "{}\",:019ax"[drawn(state, 10)];
		} else {
			for (uint64_t k = drawn(state, 12); k; k--)
				len = add(text, len, sizeof(text), pieces[drawn(state, COUNT(pieces))]);
			text[len] = '\0';
		}
		err = packed_add(text, &sum);
		fprintf(to, "%d\n", err);
		say_counters(to, &sum);
		rt_counters_free(&sum);
		memset(&sum, 0, sizeof(sum));
	}
	packed_free(&packed);
}

static void numbers(FILE *to, uint64_t *state)
{
	static const char *const values[] = { "0", "1", "0.4", "0.5", "1.5", "10", "999", "1000000", "9223372036854775807", "-1", "+1", "nan", "inf",
					      "0x10", "1e3", "", ".5", "9e18", "100000000000", "3153600000", "3153600001" };
	static const char *const units[] = { "", "ns", "us", "ms", "s", "m", "min", "h", "B", "K", "KiB", "k", "M", "MiB", "m", "G", "g", "GiB", "T",
					     "t", "TiB", "kB", "KB", "MB", "GB", "TB", " ", "x", "d", "E" };
	char text[64], made[SECTORS_TEXT];

	for (int i = 0; i < 200; i++) {
		uint64_t value = 0, n = drawn_edge(state);
		double part = (double)drawn_edge(state) / (1 + i % 7), whole = (double)(n % 4 ? n : 0);
		const char *number = values[drawn(state, COUNT(values))];
		int err;

		snprintf(text, sizeof(text), "%s%s", number, units[drawn(state, COUNT(units))]);
		err = parse_duration(text, &value);
		fprintf(to, "%s %d %" PRIu64, text, err, value);
		value = 0;
		err = parse_size(text, &value);
		fprintf(to, " %d %" PRIu64 "\n", err, value);
		fprintf(to, "%s", format_bytes(made, part * (i % 3 ? 1 : 1024)));
		fprintf(to, " %s", format_ns(made, part * (i % 5 ? 1 : 1000)));
		fprintf(to, " %s", format_count(made, n));
		fprintf(to, " %s", format_sectors(made, n));
		fprintf(to, " %s", format_share(made, part, whole));
		fprintf(to, " %s\n", format_clock(made, n * 36));
	}
}

static void wrapped(FILE *to, uint64_t *state)
{
	static const char *const words[] = { "a", "word", "another", "(8 sectors)", "a-word-that-is-rather-longer-than-any-other-of-them", "12345678",
					     "\xc3\xa9t\xc3\xa9", "\xe2\x82\xac", "one", "\033[2J", "\xff", "(", "a", ",", "a-word-of-eighty-columns-0123456789-"
					     "0123456789-0123456789-0123456789-0123456789-0123" };
	static const char *const between[] = { " ", " ", " ", "  ", "", "\n" };
	char text[1200];

	for (int i = 0; i < 12; i++) {
		int column = (int)drawn(state, 5) * 6;
		size_t len = 0;

		for (uint64_t k = drawn(state, 60); k; k--) {
			len = add(text, len, sizeof(text), words[drawn(state, COUNT(words))]);
			len = add(text, len, sizeof(text), between[drawn(state, COUNT(between))]);
		}
		text[len] = '\0';
		print_wrapped(to, text, column);
		print_labelled(to, column, i % 3 ? words[drawn(state, 4)] : "", "%s", text);
	}
}

static void texts(void **unused)
{
	static const struct drawn_kind kinds[] = { { "phases", phases }, { "packed", packed }, { "numbers", numbers }, { "wrapped", wrapped } };

	(void)unused;
	drawn_golden("golden/drawn-text.txt", kinds, sizeof(kinds) / sizeof(kinds[0]), ROUNDS, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(texts) };

	return cmocka_run_group_tests_name("drawn-text", tests, NULL, NULL);
}
