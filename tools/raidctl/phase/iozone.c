// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Phases of iozone. It prints the tests that have ended; its options determine the next one.
 *
 * With -t it prints "Each process writes a ... file in ... records" before the first test and "Children see throughput
 * for  1 initial writers = ..." after each. Then it waits for two seconds, which are a part of the next phase. Without
 * -t a line begins with file and record size, and each test adds its figures when it has ended. Tests with two figures
 * (write and rewrite) are one phase. Tests run in the order of the tables below: those of -i, or all.
 */

#include "phase/phase.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_TESTS	0x7ff

/* With -t: test number of -i, name of its workers, name of the phase. */
struct stage {
	unsigned int test;
	const char *who;
	const char *phase;
};

static const struct stage stages[] = {
	{ 0, "initial writers", "write" },
	{ 0, "rewriters", "rewrite" },
	{ 1, "readers", "read" },
	{ 1, "re-readers", "reread" },
	{ 3, "reverse readers", "backward-read" },
	{ 5, "stride readers", "stride-read" },
	{ 2, "random readers", "random-read" },
	{ 8, "mixed workload", "mixed" },
	{ 2, "random writers", "random-write" },
	{ 9, "pwrite writers", "pwrite" },
	{ 10, "pread readers", "pread" },
	{ 6, "fwriters", "fwrite" },
	{ 7, "freaders", "fread" },
	{ 0 }
};

/* Without -t: the figures that the test adds to the line. */
struct figures {
	unsigned int test;
	unsigned int nr;
	const char *phase;
};

static const struct figures figures[] = {
	{ 0, 2, "write+rewrite" },
	{ 1, 2, "read+reread" },
	{ 2, 2, "random-read+write" },
	{ 3, 1, "backward-read" },
	{ 4, 1, "record-rewrite" },
	{ 5, 1, "stride-read" },
	{ 6, 2, "fwrite+refwrite" },
	{ 7, 2, "fread+refread" },
	{ 0 }
};

static void take_option(struct phase_cutter *cutter, const char *number)
{
	unsigned long test = strtoul(number, NULL, 10);

	if (isdigit((unsigned char)*number) && test <= 10)
		cutter->iozone.tests |= 1U << test;
}

/* Parse "-i 0" and "-i0", also in the words of a shell command. */
static void iozone_begin(struct phase_cutter *cutter, char *const *argv)
{
	cutter->iozone.tests = 0;
	for (; *argv; argv++) {
		const char *at = *argv;

		if (!strcmp(at, "-i") && argv[1])
			take_option(cutter, argv[1]);
		for (; (at = strstr(at, "-i")); at += 2) {
			const char *number = at + 2;

			if (at != *argv && at[-1] != ' ')
				continue;
			while (*number == ' ')
				number++;
			take_option(cutter, number);
		}
	}
	if (!cutter->iozone.tests)
		cutter->iozone.tests = ALL_TESTS;
}

static void begin_stage(struct phase_cutter *cutter, const struct stage *stage)
{
	while (stage->phase && !(cutter->iozone.tests & 1U << stage->test))
		stage++;
	if (stage->phase)
		phase_begin(cutter, stage->phase);
	else
		phase_end(cutter);
}

static void iozone_line(struct phase_cutter *cutter, const char *line)
{
	const char *see = strstr(line, "Children see throughput for ");
	size_t len;

	cutter->iozone.row = strstr(line, "reclen") ? true :
			     cutter->iozone.row;
	if (strstr(line, "Each process writes a ") ||
	    strstr(line, "Each thread writes a "))
		begin_stage(cutter, stages);
	if (!see) {
		/* The end of a line of the table. */
		if (cutter->iozone.row && isdigit((unsigned char)line[strspn(line, " ")]))
			phase_end(cutter);
		return;
	}
	see += strlen("Children see throughput for ");
	see += strspn(see, " 0123456789");
	len = strcspn(see, "\t=");
	while (len && see[len - 1] == ' ')
		len--;
	for (const struct stage *stage = stages; stage->phase; stage++)
		if (strlen(stage->who) == len && !strncmp(stage->who, see, len))
			begin_stage(cutter, stage + 1);
}

static unsigned int count_words(const char *line)
{
	unsigned int nr = 0;

	for (; *line; line++)
		nr += *line != ' ' && (!line[1] || line[1] == ' ');
	return nr;
}

static void iozone_column(struct phase_cutter *cutter, const char *line)
{
	unsigned int before = 2, nr;

	if (!cutter->iozone.row || strspn(line, " 0123456789") != strlen(line))
		return;
	nr = count_words(line);
	if (nr < before)
		return;
	for (const struct figures *test = figures; test->phase; test++) {
		if (!(cutter->iozone.tests & 1U << test->test))
			continue;
		if (nr < before + test->nr) {
			phase_begin(cutter, test->phase);
			return;
		}
		before += test->nr;
	}
	phase_end(cutter);
}

const struct phase_program phase_iozone = {
	.name = "iozone", .begin = iozone_begin, .line = iozone_line,
	.column = iozone_column,
};
