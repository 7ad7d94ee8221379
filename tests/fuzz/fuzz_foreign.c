// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * libFuzzer target: a text of any bytes goes through each door.
 *
 * Text for a terminal has one line and nothing that moves the cursor; JSON
 * and CSV are read again, by json-c and by RFC 4180 as it is written down here,
 * and give the text back.  All three are UTF-8, which is judged here by the
 * table of RFC 3629, not by the code that is tested.
 */

#include <json-c/json.h>

#include "base/base.h"
#include "format/format.h"
#include "expect.h"

#define MOST	4096

static FILE *sink;
static char *written;
static size_t length;

/* Bytes of the character at @at; 0 when it is none of RFC 3629. */
static size_t character(const unsigned char *at, const unsigned char *end)
{
	static const struct {
		unsigned char first, last, second_least, second_most, more;
	} rows[] = {
		{ 0x00, 0x7f, 0x00, 0x00, 0 }, { 0xc2, 0xdf, 0x80, 0xbf, 1 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 2 }, { 0xe1, 0xec, 0x80, 0xbf, 2 },
		{ 0xed, 0xed, 0x80, 0x9f, 2 }, { 0xee, 0xef, 0x80, 0xbf, 2 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 3 }, { 0xf1, 0xf3, 0x80, 0xbf, 3 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 3 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (*at < rows[i].first || *at > rows[i].last)
			continue;
		if ((size_t)(end - at) <= rows[i].more)
			return 0;
		for (size_t k = 1; k <= rows[i].more; k++)
			if (at[k] < (k == 1 ? rows[i].second_least : 0x80) ||
			    at[k] > (k == 1 ? rows[i].second_most : 0xbf))
				return 0;
		return rows[i].more + 1U;
	}
	return 0;
}

static bool is_utf8(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + size;

	for (size_t len; at < end; at += len) {
		len = character(at, end);
		if (!len)
			return false;
	}
	return true;
}

/* No escape sequence, C0, C1, delete, nor what turns the direction of writing. */
static bool moves_nothing(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const unsigned char *at = (const unsigned char *)text + i;

		if (*at < 0x20 || *at == 0x7f ||
		    (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) ||
		    (*at == 0xe2 && at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
		    (*at == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9))
			return false;
	}
	return true;
}

/* The text written since the last call, ended by a NUL. */
static const char *take(size_t *size)
{
	long at = ftell(sink);

	expect(!fflush(sink) && at >= 0 && (size_t)at <= length, "memory");
	written[at] = '\0';
	rewind(sink);
	*size = (size_t)at;
	return written;
}

static void check_terminal(const char *text)
{
	size_t wide, size;
	char *shown = foreign_visible(text, SIZE_MAX, &wide);
	const char *printed;

	expect(shown, "memory");
	expect(is_utf8(shown, strlen(shown)), "shown is UTF-8");
	expect(moves_nothing(shown, strlen(shown)), "shown moves nothing");
	expect(wide <= strlen(shown) && (!*text || wide), "columns");
	terminal_print(sink, "<%s|%.7s|%-20s>", text, text, text);
	printed = take(&size);
	expect(is_utf8(printed, size), "printed is UTF-8");
	expect(moves_nothing(printed, size), "printed moves nothing");
	expect(!strncmp(printed + 1, shown, strlen(shown)), "printed as shown");
	free(shown);
}

static void check_json(const char *text, const char *repaired)
{
	struct json_object *object = json_new_string(text);
	size_t size;

	json_finish(sink, object);
	expect(is_utf8(take(&size), size), "JSON is UTF-8");
	while (size && written[size - 1] == '\n')
		written[--size] = '\0';
	expect(moves_nothing(written, size), "JSON moves nothing");
	object = json_tokener_parse(written);
	expect(object && json_object_is_type(object, json_type_string), "JSON is JSON");
	expect(!strcmp(json_object_get_string(object), repaired), "JSON gives the text back");
	json_object_put(object);
}

/* A field of a record; where the next one begins. */
static const char *read_field(const char *at, char *ret)
{
	bool quoted = *at == '"';

	for (at += quoted; *at; at++) {
		if (quoted && *at == '"' && *++at != '"') {
			quoted = false;
			break;
		}
		if (!quoted && (*at == ',' || *at == '\r'))
			break;
		*ret++ = *at;
	}
	expect(!quoted, "a quote is closed");
	*ret = '\0';
	expect(*at == ',' || !strcmp(at, "\r\n"), "a field ends where the next begins");
	return at + 1;
}

static void check_csv(const char *text, const char *repaired)
{
	static char field[3 * MOST + 2];
	const char *fields[] = { text, NULL, text }, *at;
	size_t size;

	csv_row(sink, 3, fields);
	at = take(&size);
	expect(is_utf8(at, size), "CSV is UTF-8");
	at = read_field(at, field);
	expect(!strcmp(field + (*field == '\'' && *text != '\''), repaired), "CSV gives the text back");
	expect(!strchr("=@\t\r", *field) || !*field, "no formula");
	at = read_field(at, field);
	expect(!*field, "no text is an empty field");
	read_field(at, field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[MOST + 1];
	const char *repaired;
	char *made;

	if (!sink)
		sink = open_memstream(&written, &length);
	if (size > MOST)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	repaired = foreign_utf8(text, &made);
	expect(is_utf8(repaired, strlen(repaired)), "repaired is UTF-8");
	expect(!is_utf8(text, strlen(text)) || repaired == text, "what is UTF-8 stays");
	check_terminal(text);
	check_json(text, repaired);
	check_csv(text, repaired);
	free(made);
	return 0;
}
