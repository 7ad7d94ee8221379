/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Inputs that are drawn, the same each time, and what came of them as one line
 * a text: its length and checksum.  DRAWN_KEEP=DIRECTORY writes the texts, to
 * be compared with those of the commit before.
 */

#ifndef DRAWN_H
#define DRAWN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "full.h"

/* One of the numbers below a limit. */
static inline uint64_t drawn(uint64_t *state, uint64_t limit)
{
	return full_next(state) % limit;
}

/* A number at or beside one where something changes: nothing, one, a unit, a column's width. */
static inline uint64_t drawn_edge(uint64_t *state)
{
	static const uint64_t edges[] = { 0, 1, 2, 8, 10, 100, 256, 1000, 1024, 4096, 10000, 1000000, 1 << 20, 1000000000, 1 << 30 };

	/* One draw: what is drawn first in an expression, compilers choose. */
	uint64_t n = full_next(state), edge = edges[n % (sizeof(edges) / sizeof(edges[0]))];

	return edge * (n >> 8 & 1 ? 3 : 1) + (n >> 12) % 3 - (edge && !(n >> 16 & 3));
}

/* A line on a text, which is freed. */
static inline void digest(FILE *to, const char *name, char *text)
{
	const char *keep = getenv("DRAWN_KEEP");
	char path[512];

	fprintf(to, "%s: %zu bytes, %08lx\n", name, strlen(text),
		crc32(0, (const unsigned char *)text, (unsigned int)strlen(text)));
	if (keep) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", keep, name);
		file = fopen(path, "we");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	free(text);
}

#endif
