// SPDX-License-Identifier: GPL-2.0-or-later

/* Text of other programs: its characters, and its form that is safe to print. */

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT	"\xef\xbf\xbd"

/* \U and eight digits. A single byte has at most four characters. */
#define ESCAPE_SIZE	12
#define ESCAPE_GROWTH	4

size_t foreign_next(const char *text, size_t len, uint32_t *ret)
{
	/* By number of bytes: the lowest code point that needs this many. */
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)text[0];
	size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 :
		       first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
	uint32_t code = bytes < 2 ? first : first & (0x7fU >> bytes);

	*ret = FOREIGN_INVALID;
	if (!bytes || bytes > len)
		return 1;
	for (size_t i = 1; i < bytes; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 1;
		code = code << 6 | (next & 0x3f);
	}
	if (code < lowest[bytes] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 1;
	*ret = code;
	return bytes;
}

bool foreign_is_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	       code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xfff9 && code <= 0xfffb) ||
	       (code >= 0xe0000 && code <= 0xe0fff);
}

static void escape(char *ret, unsigned char byte, uint32_t code)
{
	if (code == '\n' || code == '\t' || code == '\r')
		snprintf(ret, ESCAPE_SIZE, "\\%c",
			 code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
	else if (code < 0x80 || code == FOREIGN_INVALID)
		snprintf(ret, ESCAPE_SIZE, "\\x%02x", byte);
	else if (code < 0x10000)
		snprintf(ret, ESCAPE_SIZE, "\\u%04x", code);
	else
		snprintf(ret, ESCAPE_SIZE, "\\U%08x", code);
}

char *foreign_visible(const char *text, size_t len, size_t *wide)
{
	size_t left = strnlen(text, len), at = 0, columns = 0;
	char *ret = malloc(left * ESCAPE_GROWTH + ESCAPE_SIZE);

	while (ret && left) {
		uint32_t code;
		size_t bytes = foreign_next(text, left, &code);

		if (code == FOREIGN_INVALID || foreign_is_hidden(code)) {
			escape(ret + at, (unsigned char)*text, code);
			columns += strlen(ret + at);
			at += strlen(ret + at);
		} else {
			memcpy(ret + at, text, bytes);
			at += bytes;
			columns++;
		}
		text += bytes;
		left -= bytes;
	}
	if (ret)
		ret[at] = '\0';
	if (wide)
		*wide = columns;
	return ret;
}

static bool is_utf8(const char *text, size_t len)
{
	uint32_t code = 0;

	for (size_t bytes; len && code != FOREIGN_INVALID;
	     text += bytes, len -= bytes)
		bytes = foreign_next(text, len, &code);
	return code != FOREIGN_INVALID;
}

const char *foreign_utf8(const char *text, char **made)
{
	size_t len = strlen(text), at = 0;

	*made = NULL;
	if (is_utf8(text, len))
		return text;
	*made = malloc(len * strlen(REPLACEMENT) + 1);
	if (!*made)
		return REPLACEMENT;
	while (len) {
		uint32_t code;
		size_t bytes = foreign_next(text, len, &code);
		bool good = code != FOREIGN_INVALID;
		size_t put = good ? bytes : strlen(REPLACEMENT);

		memcpy(*made + at, good ? text : REPLACEMENT, put);
		at += put;
		text += bytes;
		len -= bytes;
	}
	(*made)[at] = '\0';
	return *made;
}

size_t foreign_cut(const char *text, size_t nr)
{
	size_t len = strlen(text), at = 0;

	while (at < len && nr--) {
		uint32_t code;

		at += foreign_next(text + at, len - at, &code);
	}
	return at;
}
