/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Long texts that are what a file of golden/ holds, byte by byte. UPDATE_GOLDEN=1 writes it anew. */

#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/**
 * golden - compare a text with a file
 * @name: of the file; packed when it says so
 * @text: freed
 */
static inline void golden(const char *name, char *text)
{
	static char expected[1 << 20];
	gzFile file;
	size_t at = 0;
	int len;

	if (getenv("UPDATE_GOLDEN")) {
		file = gzopen(name, strstr(name, ".gz") ? "wb9" : "wbT");
		assert_non_null(file);
		gzputs(file, text);
		assert_int_equal(gzclose(file), Z_OK);
	}
	file = gzopen(name, "rb");
	assert_non_null(file);
	len = gzread(file, expected, sizeof(expected) - 1);
	assert_true(len > 0);
	gzclose(file);
	expected[len] = '\0';
	while (text[at] && text[at] == expected[at])
		at++;
	if (text[at] || expected[at])
		fail_msg("%s is another, UPDATE_GOLDEN=1 if it should be: from byte %zu it is\n%.400s\ninstead of\n%.400s",
			 name, at, text + at, expected + at);
	free(text);
}

#endif
