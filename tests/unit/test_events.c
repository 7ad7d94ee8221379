// SPDX-License-Identifier: GPL-2.0-or-later

/* Events of a controller, as its driver writes them to the kernel's log. */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "disk/events.h"

#define LINE "4,310,500000,-;3w-9xxx: scsi1: AEN: ERROR (0x04:0x0002): Degraded unit detected:unit=0\n"

static void counts(void **state)
{
	(void)state;
	assert_int_equal(events_count("SCSI Host Resets:  0\nAEN's:   2\n"), 2);
	assert_int_equal(events_count("AEN's:                        0\n"), 0);
	assert_int_equal(events_count("Host Resets: 3\n"), -1);
	assert_int_equal(events_count("AEN's: many\n"), -1);
	assert_int_equal(events_count("AEN's:"), -1);
	assert_int_equal(events_count("AEN's: -1\n"), -1);
}

static void finds(void **state)
{
	char text[256];

	(void)state;
	assert_true(events_find(LINE, 1, text, sizeof(text)));
	assert_string_equal(text, "ERROR (0x04:0x0002): Degraded unit detected:unit=0");
	assert_false(events_find(LINE, 0, text, sizeof(text)));
	assert_false(events_find(LINE, 11, text, sizeof(text)));
	assert_false(events_find("6,1,2,-;3w-9xxx: scsi1: Firmware FE9X 2.02.00.009, BIOS BE9X, Ports: 12.\n", 1, text, sizeof(text)));
	assert_false(events_find("3w-9xxx: scsi1: AEN: \n", 1, text, sizeof(text)));
	assert_false(events_find("", 1, text, sizeof(text)));
}

static void is_cut_where_there_is_no_room(void **state)
{
	char text[8];

	(void)state;
	assert_true(events_find(LINE, 1, text, sizeof(text)));
	assert_string_equal(text, "ERROR (");
}

static void the_oldest_make_room(void **state)
{
	char lines[EVENTS_TEXT] = "", line[64], too_long[EVENTS_TEXT + 1];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "event %03d, which takes its room", i);
		events_append(lines, line);
		assert_true(strlen(lines) < EVENTS_TEXT);
	}
	assert_null(strstr(lines, "event 000"));
	assert_non_null(strstr(lines, "\nevent 099, which takes its room"));
	assert_memory_equal(lines, "event 0", 7);
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	events_append(lines, too_long);
	assert_non_null(strstr(lines, "event 099"));
	/* One that fits alone leaves none beside it. */
	too_long[EVENTS_TEXT - 1] = '\0';
	events_append(lines, too_long);
	assert_string_equal(lines, too_long);
}

/* Two fit if there is room for both, the line end between them and the NUL. */
static void at_the_last_byte(void **state)
{
	char *lines = malloc(EVENTS_TEXT), line[EVENTS_TEXT];

	(void)state;
	for (size_t more = EVENTS_TEXT - 104; more <= EVENTS_TEXT - 100; more++) {
		memset(lines, 'a', 100);
		lines[100] = '\0';
		memset(line, 'b', more);
		line[more] = '\0';
		events_append(lines, line);
		assert_int_equal(strlen(lines), more + (100 + 1 + more < EVENTS_TEXT ? 101 : 0));
	}
	free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(finds),
		cmocka_unit_test(is_cut_where_there_is_no_room),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(at_the_last_byte),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
