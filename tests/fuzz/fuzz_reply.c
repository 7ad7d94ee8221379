// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become a reply of the module, and what is read out of
 * it goes through the arithmetic on snapshots.
 *
 * The first byte says which reply; the rest are its attributes.
 */

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "internal.h"
#include "expect.h"

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static void on_history(struct nlmsghdr *nlh)
{
	static struct rt_history history;

	memset(&history, 0, sizeof(history));
	if (!rt_parse_history(nlh, &history))
		for (size_t i = 0; i < history.nr; i++)
			expect(is_text(history.ended[i].comm, sizeof(history.ended[i].comm)) &&
			       history.ended[i].class_ < RT_CLASSES,
			       "requests are what can be printed");
}

static void on_info(struct nlmsghdr *nlh)
{
	struct rt_info info = { 0 };

	if (!rt_parse_info(nlh, &info))
		expect(is_text(info.version, sizeof(info.version)) &&
		       is_text(info.unavailable, sizeof(info.unavailable)),
		       "texts of info end");
}

static void on_target(struct nlmsghdr *nlh)
{
	struct rt_target target = { 0 };

	if (!rt_parse_target(nlh, &target))
		expect(is_text(target.disk, sizeof(target.disk)),
		       "texts of a target end");
}

static void on_counters(struct nlmsghdr *nlh)
{
	static const uint32_t none[RT_DIRECTIONS];
	struct rt_counters counters = { 0 }, delta = { 0 }, sum = { 0 };
	char text[256];

	if (!rt_parse_counters(nlh, &counters)) {
		rt_counters_check(&counters, none, text, sizeof(text));
		expect(!rt_counters_delta(&counters, &counters, &delta),
		       "a snapshot less itself");
		for (int d = 0; d < RT_DIRECTIONS; d++)
			for (int k = 0; k < RT_KINDS; k++)
				expect(!rt_histogram_sum(&delta.histogram[d][k]),
				       "is nothing");
		if (!rt_counters_add(&sum, &counters))
			rt_counters_add(&sum, &counters);
	}
	rt_counters_free(&counters);
	rt_counters_free(&delta);
	rt_counters_free(&sum);
}

/* The same answer once more: what it leaves out is as it was. */
static void on_advance(struct nlmsghdr *nlh)
{
	struct rt_counters last = { 0 }, span = { 0 };
	struct rt_advance advance = { .last = &last };

	if (!rt_parse_counters(nlh, &last) && !rt_parse_advance(nlh, &advance) &&
	    !rt_advance_apply(&advance, &last, &span))
		for (int d = 0; d < RT_DIRECTIONS; d++)
			for (int k = 0; k < RT_KINDS; k++)
				expect(!rt_histogram_sum(&span.histogram[d][k]) ||
				       last.resets != span.resets,
				       "nothing happened");
	rt_counters_free(&advance.now);
	rt_counters_free(&span);
	rt_counters_free(&last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nlmsghdr *nlh;
	size_t length;

	if (!size)
		return 0;
	length = NLMSG_HDRLEN + GENL_HDRLEN + size - 1;
	/* To the byte, so that what is read beyond it is found. */
	nlh = malloc(length);
	if (!nlh)
		return 0;
	memset(nlh, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	nlh->nlmsg_len = (uint32_t)length;
	memcpy((char *)nlh + NLMSG_HDRLEN + GENL_HDRLEN, data + 1, size - 1);
	if (data[0] >= 252)
		on_history(nlh);
	else if (data[0] % 4 == 0)
		on_info(nlh);
	else if (data[0] % 4 == 1)
		on_target(nlh);
	else if (data[0] % 4 == 2)
		on_counters(nlh);
	else
		on_advance(nlh);
	free(nlh);
	return 0;
}
