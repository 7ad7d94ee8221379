// SPDX-License-Identifier: GPL-2.0-or-later

/* When a disk counts as idle: never when something may have happened. */

#include "unit.h"

#include <string.h>

#include "record/recorder.h"

#define OTHER "   8       1 sda1 5 0 8 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"

static void idle(void **state)
{
	static const char before[] = OTHER
		"   8       0 sda 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
	static const char after[] = OTHER
		"   8       0 sda 11 0 88 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
	static const char busy[] = OTHER
		"   8       0 sda 11 0 88 1 0 0 0 0 1 1 1 0 0 0 0 0 0\n";
	struct idle_line last = { "" };

	(void)state;
	/* The first look knows nothing. */
	assert_false(idle_since(before, 8, 0, &last));
	assert_true(idle_since(before, 8, 0, &last));
	assert_true(idle_since(before, 8, 0, &last));
	/* Another count; then again the same. */
	assert_false(idle_since(after, 8, 0, &last));
	assert_true(idle_since(after, 8, 0, &last));
	/* A request in flight is never idle, however long it takes. */
	assert_false(idle_since(busy, 8, 0, &last));
	assert_false(idle_since(busy, 8, 0, &last));
	assert_false(idle_since(busy, 8, 0, &last));
	/* Gone, or not to be read. */
	assert_false(idle_since(OTHER, 8, 0, &last));
	assert_false(idle_since(OTHER, 8, 0, &last));
	assert_false(idle_since(NULL, 8, 0, &last));
	/* What changes on another disk or partition is none of it. */
	assert_false(idle_since(before, 8, 0, &last));
	assert_true(idle_since("   8       0 sda 10 0 80 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n", 8, 0, &last));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(idle) };

	return cmocka_run_group_tests_name("recorder idle", tests, NULL, NULL);
}
