// SPDX-License-Identifier: GPL-2.0-or-later

/* Run the suites that registered themselves, TAP on standard output. */

#include <kunit/test.h>

#define MAX_SUITES 32

static const struct kunit_suite *suites[MAX_SUITES];
static unsigned int nr_suites;

void kunit_register(const struct kunit_suite *suite)
{
	if (nr_suites == MAX_SUITES)
		abort();
	suites[nr_suites++] = suite;
}

static bool run_once(const struct kunit_suite *suite, const struct kunit_case *one,
		     const void *parameter)
{
	struct kunit *test = calloc(1, sizeof(*test));
	bool good;

	if (!test)
		abort();
	test->param_value = parameter;
	if (!setjmp(test->out)) {
		if (suite->init && suite->init(test))
			test->failed = true;
		else
			one->run(test);
	}
	if (suite->exit)
		suite->exit(test);
	good = !test->failed;
	while (test->nr_allocated)
		free(test->allocated[--test->nr_allocated]);
	free(test);
	return good;
}

static bool run_case(const struct kunit_suite *suite, const struct kunit_case *one)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *parameter = NULL;
	bool good = true;

	if (!one->generate)
		return run_once(suite, one, NULL);
	while ((parameter = one->generate(parameter, desc))) {
		if (!run_once(suite, one, parameter)) {
			printf("# %s: %s\n", one->name, desc);
			good = false;
		}
	}
	return good;
}

int main(void)
{
	const struct kunit_case *one;
	unsigned int i, failed = 0;

	for (i = 0; i < nr_suites; i++) {
		for (one = suites[i]->test_cases; one->run; one++) {
			bool good = run_case(suites[i], one);

			printf("%s - %s: %s\n", good ? "ok" : "not ok", suites[i]->name, one->name);
			failed += !good;
		}
	}
	return failed || !nr_suites;
}
