// SPDX-License-Identifier: GPL-2.0-or-later

/* Phases cut from what bonnie++ 2.00a really prints, in awkward pieces. */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "phase/phase.h"

/* Its standard error with -f -b -n 1, byte by byte as it was captured. */
static const char captured[] =
	"Using uid:0, gid:0.\n"
	"Writing intelligently...done\n"
	"Rewriting...done\n"
	"Reading intelligently...done\n"
	"start 'em...done...done...done...done...done...\n"
	"Create files in sequential order...done.\n"
	"Stat files in sequential order...done.\n"
	"Delete files in sequential order...done.\n"
	"Create files in random order...done.\n"
	"Stat files in random order...done.\n"
	"Delete files in random order...done.\n";

static const char *const expected =
	"write - rewrite - read - seeks - create-seq - stat-seq - delete-seq -"
	" create-random - stat-random - delete-random -";

static char bonnie[] = "bonnie++", directory[] = "-d", place[] = "/mnt";
static char *argv_bonnie[] = { bonnie, directory, place, NULL };

static void note(char *phases, size_t size, const struct phase_cutter *cutter)
{
	size_t used = strlen(phases);

	snprintf(phases + used, size - used, "%s%s", used ? " " : "",
		 cutter->now ? cutter->now : "-");
}

static void one_byte_at_a_time(void **state)
{
	struct phase_cutter cutter;
	char phases[512] = "";

	(void)state;
	assert_true(phase_cutter_init(&cutter, NULL, argv_bonnie));
	for (size_t i = 0; i < sizeof(captured) - 1; i++)
		if (phase_feed(&cutter, STREAM_STDERR, captured + i, 1))
			note(phases, sizeof(phases), &cutter);
	assert_string_equal(phases, expected);
	assert_int_equal(cutter.missed, 0);
}

/* However it is cut, no phase that is still open is lost or invented. */
static void any_pieces(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(captured); piece++) {
		struct phase_cutter cutter;
		unsigned int opened = 0;

		phase_cutter_init(&cutter, NULL, argv_bonnie);
		for (size_t at = 0; at < sizeof(captured) - 1; at += piece) {
			size_t left = sizeof(captured) - 1 - at;

			phase_feed(&cutter, STREAM_STDERR, captured + at,
				   left < piece ? left : piece);
			opened += cutter.opened;
		}
		assert_int_equal(opened, 10);
		assert_null(cutter.now);
	}
}

/* The text of a phase ends exactly with its last byte. */
static void not_too_early(void **state)
{
	struct phase_cutter cutter;

	(void)state;
	phase_cutter_init(&cutter, NULL, argv_bonnie);
	assert_false(phase_feed(&cutter, STREAM_STDERR, "Rewriting..", 11));
	assert_true(phase_feed(&cutter, STREAM_STDERR, ".", 1));
	assert_string_equal(cutter.now, "rewrite");
	assert_false(phase_feed(&cutter, STREAM_STDERR, "done", 4));
	assert_true(phase_feed(&cutter, STREAM_STDERR, "\n", 1));
	assert_null(cutter.now);
}

static void two_at_once(void **state)
{
	struct phase_cutter cutter;

	(void)state;
	phase_cutter_init(&cutter, NULL, argv_bonnie);
	assert_true(phase_feed(&cutter, STREAM_STDERR,
			       "Writing intelligently...done\nRewriting...", 41));
	assert_string_equal(cutter.now, "rewrite");
	assert_int_equal(cutter.missed, 1);
	/* From one to the next without a pause is one cut. */
	assert_true(phase_feed(&cutter, STREAM_STDERR,
			       "done\nReading intelligently...", 29));
	assert_string_equal(cutter.now, "read");
	assert_int_equal(cutter.missed, 1);
}

static void other_output(void **state)
{
	struct phase_cutter cutter;
	char line[300];

	(void)state;
	phase_cutter_init(&cutter, NULL, argv_bonnie);
	/* On the wrong stream, in mid-line, or beyond what a line can hold. */
	assert_false(phase_feed(&cutter, STREAM_STDOUT, "Rewriting...", 12));
	assert_false(phase_feed(&cutter, STREAM_STDERR, "so Rewriting...\n", 16));
	memset(line, 'x', sizeof(line));
	assert_false(phase_feed(&cutter, STREAM_STDERR, line, sizeof(line)));
	assert_false(phase_feed(&cutter, STREAM_STDERR, "\n", 1));
	assert_true(phase_feed(&cutter, STREAM_STDERR, "Rewriting...", 12));
	/* A newline on the other stream ends nothing. */
	assert_false(phase_feed(&cutter, STREAM_STDOUT, "\n", 1));
	assert_string_equal(cutter.now, "rewrite");
}

static void which_program(void **state)
{
	char shell[] = "sh", c[] = "-c", text[] = "ulimit -n 9; bonnie++ -f";
	char dd[] = "dd";
	char *wrapped[] = { shell, c, text, NULL }, *other[] = { dd, NULL };
	struct phase_cutter cutter;

	(void)state;
	assert_true(phase_cutter_init(&cutter, NULL, wrapped));
	assert_non_null(cutter.program);
	assert_true(phase_cutter_init(&cutter, NULL, other));
	assert_null(cutter.program);
	assert_false(phase_feed(&cutter, STREAM_STDERR, captured,
				sizeof(captured) - 1));
	assert_true(phase_cutter_init(&cutter, "bonnie++", other));
	assert_non_null(cutter.program);
	assert_false(phase_cutter_init(&cutter, "bonnie", other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_byte_at_a_time),
		cmocka_unit_test(any_pieces),
		cmocka_unit_test(not_too_early),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(other_output),
		cmocka_unit_test(which_program),
	};

	return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
