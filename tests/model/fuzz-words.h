/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With FUZZ_REACHED set a fuzzer ends with a list of the states that its inputs reached: of the REACHED words. */
#ifndef FUZZ_WORDS_H
#define FUZZ_WORDS_H

#include <stdio.h>

static bool reached[REACHED];

static void reached_print(void)
{
	u32 i;

	printf("reached:");
	for (i = 0; i < REACHED; i++)
		if (reached[i])
			printf(" %s", words[i]);
	printf("\n");
}

/* To be called for each input. */
static void reached_begin(void)
{
	static bool begun;

	if (begun || !getenv("FUZZ_REACHED"))
		return;
	if (atexit(reached_print))
		abort();
	begun = true;
}

#endif
