// SPDX-License-Identifier: GPL-2.0-or-later

/* Comma separated values as RFC 4180 has them. */

#include "format/csv.h"

#include <string.h>

static void field(FILE *to, const char *text)
{
	if (!text)
		return;
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, to);
		return;
	}
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

void csv_row(FILE *to, int nr, const char *const *fields)
{
	for (int i = 0; i < nr; i++) {
		if (i)
			fputc(',', to);
		field(to, fields[i]);
	}
	fputs("\r\n", to);
}
