// SPDX-License-Identifier: GPL-2.0-or-later

/* Comma-separated values as in RFC 4180. */

#include "format/format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Would a spreadsheet interpret the text as a formula? A number may begin with a sign. */
static bool is_formula(const char *text)
{
	char *end;

	if (!strchr("=+-@\t\r", text[0]))
		return false;
	if (text[0] != '+' && text[0] != '-')
		return true;
	/* Only numbers that every reader accepts: not inf, not 0x10. */
	if (strspn(text, "+-0123456789.eE") != strlen(text))
		return true;
	strtod(text, &end);
	return end == text || *end;
}

static void field(FILE *to, const char *text)
{
	const char *mark;
	char *repaired;

	if (!text || !text[0])
		return;
	text = foreign_utf8(text, &repaired);
	mark = is_formula(text) ? "'" : "";
	if (!strpbrk(text, ",\"\r\n")) {
		fprintf(to, "%s%s", mark, text);
		goto out;
	}
	fprintf(to, "\"%s", mark);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc(*text, to);
	}
	fputc('"', to);
out:
	free(repaired);
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
