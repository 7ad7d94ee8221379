/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Code that the targets share. */

#ifndef FUZZ_EXPECT_H
#define FUZZ_EXPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that holds for any input; otherwise the fuzzer keeps the input. */
static inline void expect(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

/* One source of a trace: bytes still to be read, how many at a time, and all there are. */
struct bytes {
	const uint8_t *at;
	size_t left;
	size_t step;
	size_t size;
};

static inline ssize_t read_bytes(void *data, void *to, size_t room)
{
	struct bytes *b = data;
	size_t part = b->left < room ? b->left : room;

	if (part > b->step)
		part = b->step;
	memcpy(to, b->at, part);
	b->at += part;
	b->left -= part;
	return (ssize_t)part;
}

#endif
