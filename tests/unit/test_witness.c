// SPDX-License-Identifier: GPL-2.0-or-later

/* The kernel's own count against the counters: what the definitions allow, and what they do not. */

#include "unit.h"

#include "record/witness.h"

#define LARGEST	4096
#define PROCESSORS	2

/* Readings of a recording in which the kernel counted 100 reads of 4 KiB, 50 writes, and 5 discards. */
static struct witness readings(void)
{
	struct witness_reading begin = { .known = true, .requests = { 1000, 2000, 3000 }, .bytes = { 1 << 20, 2 << 20, 0 } };
	struct witness_reading end = { .known = true, .requests = { 1100, 2050, 3005 },
				       .bytes = { (1 << 20) + 100 * LARGEST, (2 << 20) + 50 * LARGEST, 1 << 30 } };

	return (struct witness){ .before_begin = begin, .after_begin = begin, .before_end = end, .after_end = end };
}

static struct rt_counters counters(void)
{
	return (struct rt_counters){ .flow = {
		[RAIDTRACE_DIRECTION_READ] = { .completed = 100, .bytes_completed = 100 * LARGEST },
		[RAIDTRACE_DIRECTION_WRITE] = { .completed = 50, .bytes_completed = 50 * LARGEST },
		[RAIDTRACE_DIRECTION_DISCARD] = { .completed = 5, .bytes_completed = 5 },
	} };
}

static void expect(const struct witness *witness, const struct rt_counters *c, const char *text)
{
	struct witness_verdict verdict;
	char found[256];

	witness_compare(witness, c, PROCESSORS, LARGEST, &verdict);
	assert_string_equal(witness_text(found, sizeof(found), &verdict), text);
}

TEST(what_agrees)
{
	struct witness witness = readings();
	struct rt_counters c = counters();

	expect(&witness, &c, "");
	/* Each processor may be between both counts of a request, at the begin and at the end. */
	c.flow[RAIDTRACE_DIRECTION_READ].completed = 98;
	c.flow[RAIDTRACE_DIRECTION_READ].bytes_completed = 98 * LARGEST;
	expect(&witness, &c, "");
	c.flow[RAIDTRACE_DIRECTION_READ].completed = 102;
	expect(&witness, &c, "");
	/* Requests in flight at the begin end without a known issue. */
	c.flow[RAIDTRACE_DIRECTION_READ].completed = 60;
	c.flow[RAIDTRACE_DIRECTION_READ].unmatched = 40;
	c.flow[RAIDTRACE_DIRECTION_READ].bytes_completed = 60 * LARGEST;
	expect(&witness, &c, "");
	/* Empty flushes are writes of the kernel, the flushes that it issues for them are not. */
	witness.before_end.requests[WITNESS_WRITE] += 20;
	witness.after_end.requests[WITNESS_WRITE] += 20;
	c.flow[RAIDTRACE_DIRECTION_FLUSH] = (struct rt_flow){ .unissued = 20, .completed = 7 };
	expect(&witness, &c, "");
	/* Requests between two readings may be in or not. */
	witness.before_begin.requests[WITNESS_DISCARD] -= 10;
	witness.after_end.requests[WITNESS_DISCARD] += 10;
	c.flow[RAIDTRACE_DIRECTION_DISCARD].completed = 25;
	expect(&witness, &c, "");
}

TEST(what_does_not)
{
	struct witness witness = readings();
	struct rt_counters c = counters();

	c.flow[RAIDTRACE_DIRECTION_READ].completed = 90;
	c.flow[RAIDTRACE_DIRECTION_READ].bytes_completed = 90 * LARGEST;
	expect(&witness, &c, "8 more reads, 32,768 more bytes of reads");
	c = counters();
	c.flow[RAIDTRACE_DIRECTION_WRITE].completed = 60;
	c.flow[RAIDTRACE_DIRECTION_DISCARD].completed = 0;
	expect(&witness, &c, "8 fewer writes, 3 more discards");
	/* The flushes that the kernel issues do not hide writes. */
	c = counters();
	c.flow[RAIDTRACE_DIRECTION_WRITE].completed = 40;
	c.flow[RAIDTRACE_DIRECTION_FLUSH].completed = 10;
	expect(&witness, &c, "8 more writes");
}

/* Without a reading nothing is said; bytes of requests without data are not compared. */
TEST(what_is_not_known)
{
	struct witness witness = readings();
	struct rt_counters c = counters();
	struct json_object *object = json_object_new_object();
	struct witness_verdict verdict;

	c.flow[RAIDTRACE_DIRECTION_WRITE].completed = 49;
	c.flow[RAIDTRACE_DIRECTION_WRITE].bytes_completed = 0;
	c.flow[RAIDTRACE_DIRECTION_WRITE_ZEROES].completed = 1;
	expect(&witness, &c, "");
	witness_compare(&witness, &c, PROCESSORS, LARGEST, &verdict);
	witness_json(object, "sda", &verdict);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
			    "{\"sda\":{\"read\":{\"requests\":{\"kernel\":[98,102],\"counted\":[100,100]},"
			    "\"bytes\":{\"kernel\":[401408,417792],\"counted\":[409600,409600]}},"
			    "\"write\":{\"requests\":{\"kernel\":[48,52],\"counted\":[50,50]},\"bytes\":null},"
			    "\"discard\":{\"requests\":{\"kernel\":[3,7],\"counted\":[5,5]},\"bytes\":null}}}");
	c.flow[RAIDTRACE_DIRECTION_READ].completed = 0;
	witness.before_end.known = false;
	expect(&witness, &c, "");
	witness_compare(&witness, &c, PROCESSORS, LARGEST, &verdict);
	witness_json(object, "sda", &verdict);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), "{\"sda\":null}");
	json_object_put(object);
}
