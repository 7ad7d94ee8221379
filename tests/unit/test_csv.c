// SPDX-License-Identifier: GPL-2.0-or-later

/* RFC 4180: what has to be quoted, and how a record ends. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/csv.h"

static void row(int nr, const char *const *fields, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	csv_row(to, nr, fields);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
}

static void quoting(void **state)
{
	(void)state;
	row(3, (const char *const[]){ "a", "b c", "1" }, "a,b c,1\r\n");
	row(2, (const char *const[]){ "a,b", "say \"x\"" },
	    "\"a,b\",\"say \"\"x\"\"\"\r\n");
	row(2, (const char *const[]){ "two\nlines", "cr\r" },
	    "\"two\nlines\",\"cr\r\"\r\n");
	row(3, (const char *const[]){ NULL, "", NULL }, ",,\r\n");
	row(1, (const char *const[]){ "\"" }, "\"\"\"\"\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(quoting) };

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
