// SPDX-License-Identifier: GPL-2.0-or-later

/* What every number is. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raidtrace.h"
#include "report/definitions.h"

static void defined(const char *name)
{
	const struct definition *definition = explain_find(name, NULL);

	if (!definition)
		fail_msg("%s has no definition in Documentation/counters.rst", name);
	assert_true(strlen(definition->text) > 5);
}

/* Every number that is counted or headed has a definition; tests/unit/words looks for those that are compared. */
static void definitions_of_all(void **state)
{
	static const char *const headings[] = {
		"requests", "data", "MiB/s", "depth", "max", "size mode",
		"mean", "sequential", "seeks", "p50", "p99", "mean seek",
		"bios", "splits", "back", "front", "request", "requeued",
		"errors", "unmatched", "abandoned", "readahead",
	};

	(void)state;
#define X(member, attribute, ...) defined(#member);
	RT_FLOW_COUNTERS(X)
#undef X
	for (unsigned int k = 0; k < RT_KINDS; k++)
		defined(rt_kind_name(k));
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		defined(headings[i]);
}

static void names(void **state)
{
	const struct definition *first;

	(void)state;
	assert_string_equal(explain_find("D", NULL)->name, "issued");
	assert_string_equal(explain_find("D2C_SUM_ns", NULL)->name, "d2c-sum-ns");
	assert_string_equal(explain_find("d2c_p99_ns_high", NULL)->name, "d2c-p99-ns");
	assert_null(explain_find("", NULL));
	assert_null(explain_find("d2", NULL));
	assert_null(explain_find("d2c-sum-nsx", NULL));
	/* One name, two numbers: the counter, and its share. */
	first = explain_find("sequential", NULL);
	assert_string_equal(first->unit, "requests");
	assert_string_equal(explain_find("sequential", first)->unit, "%");
}

static void explained_in_columns(void **state)
{
	char *text, *line;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	for (size_t i = 0; i < nr_definitions; i++)
		explain_print(to, &definitions[i]);
	fclose(to);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 100);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_of_all),
		cmocka_unit_test(names),
		cmocka_unit_test(explained_in_columns),
	};

	return cmocka_run_group_tests_name("definitions", tests, NULL, NULL);
}
