// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: bytes become the text that holds the histograms of a sample.
 *
 * What is read is made a text again, which reads as the same: nothing is lost
 * and nothing added.  What is refused is no such text.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/packed.h"
#include "expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST	4096

static const char *text_of(struct packed *packed, const struct rt_counters *counters)
{
	static char text[1 << 20];

	expect(!packed_put(packed, counters), "memory");
	expect(packed->len < sizeof(text), "not longer than what it came from");
	memcpy(text, packed->text, packed->len);
	text[packed->len] = '\0';
	return text;
}

static void check_again(const struct rt_counters *counters)
{
	struct rt_counters again = { 0 };
	struct packed first = { 0 }, second = { 0 };

	expect(!packed_add(text_of(&first, counters), &again), "what is written is read");
	for (int d = 0; d < RT_DIRECTIONS; d++)
		for (int k = 0; k < RT_KINDS; k++)
			expect(rt_histogram_sum(&counters->histogram[d][k]) ==
			       rt_histogram_sum(&again.histogram[d][k]), "the same number");
	text_of(&second, &again);
	expect(first.len == second.len && !memcmp(first.text, second.text, first.len),
	       "the same text");
	packed_free(&first);
	packed_free(&second);
	rt_counters_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rt_counters counters = { 0 };
	char *text;
	int err;

	if (size > MOST)
		return 0;
	/* To the byte, so that what is read beyond it is found. */
	text = malloc(size + 1);
	expect(text, "memory");
	memcpy(text, data, size);
	text[size] = '\0';
	err = packed_add(text, &counters);
	expect(!err || err == -EINVAL || err == -ENOMEM, "read, or refused");
	if (!err)
		check_again(&counters);
	rt_counters_free(&counters);
	free(text);
	return 0;
}
