// SPDX-License-Identifier: GPL-2.0-or-later

/* Words in lines of bounded width. */

#include "format/wrap.h"

#include <ctype.h>
#include <string.h>

/* Length of the next word; a number and what it counts are one. */
static int word_length(const char *text)
{
	size_t len = strcspn(text, " ");

	while (len && isdigit((unsigned char)text[len - 1]) && text[len] == ' ')
		len += 1 + strcspn(text + len + 1, " ");
	return (int)len;
}

void print_wrapped(FILE *to, const char *text, int column)
{
	int at = column;

	while (*text) {
		int word = word_length(text);

		if (at > column && at + 1 + word > WRAP_WIDTH) {
			fprintf(to, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', to);
			at++;
		}
		/* A word that no line holds, such as mount options. */
		while (word > WRAP_WIDTH - column) {
			fprintf(to, "%.*s\n%*s", WRAP_WIDTH - column, text, column, "");
			text += WRAP_WIDTH - column;
			word -= WRAP_WIDTH - column;
		}
		fprintf(to, "%.*s", word, text);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}
