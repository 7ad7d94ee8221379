/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What must hold whatever bytes came: else the fuzzer keeps the input. */

#ifndef FUZZ_EXPECT_H
#define FUZZ_EXPECT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void expect(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

#endif
