// SPDX-License-Identifier: GPL-2.0-or-later

/* A kernel that lacks memory for an answer is asked again, and not for ever. */

#include "unit.h"

#include <errno.h>

#include "attach/claim.h"

static int asked, failing, failure;

int rt_counters_advance(struct rt_client *client, uint32_t id,
			struct rt_counters *last, struct rt_counters *span)
{
	(void)client;
	(void)span;
	assert_int_equal(id, 7);
	last->now_ns = (uint64_t)++asked;
	return asked <= failing ? failure : 0;
}

static int get(int times, int err)
{
	struct rt_counters last, span;
	int got;

	asked = 0;
	failing = times;
	failure = err;
	got = counters_advance_again(NULL, 7, &last, &span);
	assert_int_equal(last.now_ns, asked);
	return got;
}

static void again(void **state)
{
	(void)state;
	assert_int_equal(get(0, -ENOMEM), 0);
	assert_int_equal(asked, 1);
	assert_int_equal(get(3, -ENOMEM), 0);
	assert_int_equal(asked, 4);
}

static void not_for_ever(void **state)
{
	(void)state;
	assert_int_equal(get(1000000, -ENOMEM), -ENOMEM);
	assert_int_equal(asked, 100);
}

static void not_for_other_reasons(void **state)
{
	(void)state;
	assert_int_equal(get(1, -ENODEV), -ENODEV);
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(again),
		cmocka_unit_test(not_for_ever),
		cmocka_unit_test(not_for_other_reasons),
	};

	return cmocka_run_group_tests_name("counters again", tests, NULL, NULL);
}
