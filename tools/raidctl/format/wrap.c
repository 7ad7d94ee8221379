// SPDX-License-Identifier: GPL-2.0-or-later

/* Paragraphs in lines of limited width. */

#include "format/format.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Length of the next word. A number and the word after it are one. */
static int word_length(const char *text)
{
	size_t len = strcspn(text, " ");

	while (len && isdigit((unsigned char)text[len - 1]) && text[len] == ' ')
		len += 1 + strcspn(text + len + 1, " ");
	return (int)len;
}

/* Number of characters of @len bytes of UTF-8. */
static int columns_of(const char *text, int len)
{
	int columns = 0;

	for (int i = 0; i < len; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

static void wrap(FILE *to, const char *text, int column)
{
	int at = column, width = terminal_width(to);

	/* A column that takes half of a narrow line leaves too little room for words. */
	if (width < 2 * column && width < TERMINAL_WIDTH)
		width = 2 * column < TERMINAL_WIDTH ? 2 * column : TERMINAL_WIDTH;
	while (*text) {
		int word = word_length(text), wide = columns_of(text, word);

		if (at > column && at + 1 + wide > width) {
			fprintf(to, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', to);
			at++;
		}
		/* A word that is longer than a line, such as mount options. */
		while (wide > width - column) {
			int part = (int)foreign_cut(text, (size_t)(width - column));

			fprintf(to, "%.*s\n%*s", part, text, column, "");
			text += part;
			word -= part;
			wide -= width - column;
		}
		fprintf(to, "%.*s", word, text);
		at += wide;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

void print_wrapped(FILE *to, const char *text, int column)
{
	char *shown = foreign_visible(text, SIZE_MAX, NULL);

	wrap(to, shown ? shown : "", column);
	free(shown);
}

void print_labelled(FILE *to, int column, const char *label, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	fprintf(to, "%-*s", column, label);
	print_wrapped(to, text ? text : "", column);
	free(text);
}
