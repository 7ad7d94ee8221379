// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become what a benchmark prints, cut anywhere.
 *
 * The first byte says which program and how its output is cut, the second which
 * stream; the rest is printed.  A name of a phase is one that mark_name_valid()
 * would take, and the last phase does not depend on where lines were cut, but
 * for one that begins and ends within a piece.
 */

#include "base/base.h"
#include "phase/phase.h"
#include "expect.h"

static void check(const struct phase_cutter *cutter)
{
	for (int i = 0; i < NR_STREAMS; i++)
		expect(cutter->len[i] < PHASE_LINE, "a line has its end");
	expect(!cutter->now || (*cutter->now && strnlen(cutter->now, PHASE_NAME) < PHASE_NAME),
	       "a name of a phase");
	expect(cutter->fio.nr <= FIO_JOBS || !cutter->program, "jobs of fio");
}

/* Pieces of @step bytes, each in memory of its own to its end. */
static void feed(struct phase_cutter *cutter, enum stream stream, const uint8_t *data, size_t size, size_t step)
{
	while (size) {
		size_t part = size < step ? size : step;
		char *piece = malloc(part);

		expect(piece, "memory");
		memcpy(piece, data, part);
		phase_feed(cutter, stream, piece, part);
		check(cutter);
		free(piece);
		data += part;
		size -= part;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct phase_cutter cutter;
	char *const argv[] = {
		"iozone", "-i", "0", "-i1", "-i", "2", "-s", "64m", NULL
	};
	static size_t nr;

	while (phase_program_name(nr))
		nr++;
	if (size < 2)
		return 0;
	memset(&cutter, 0, sizeof(cutter));
	expect(phase_cutter_init(&cutter, phase_program_name(data[0] % nr), argv),
	       "a program that is known");
	feed(&cutter, data[1] & 1 ? STREAM_STDERR : STREAM_STDOUT, data + 2, size - 2,
	     1 + data[0] / nr + (data[1] & 2 ? 64 : 0));
	return 0;
}
