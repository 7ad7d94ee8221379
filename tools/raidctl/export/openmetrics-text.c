// SPDX-License-Identifier: GPL-2.0-or-later

/* Lines of OpenMetrics: what every family begins with, and labels. */

#include "export/openmetrics-text.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/foreign.h"

/* A label's value, in quotes: what a terminal would obey as its number. */
void metric_quoted(FILE *to, const char *text)
{
	size_t len = strlen(text), bytes;
	uint32_t code;

	fputc('"', to);
	for (; len; text += bytes, len -= bytes) {
		bytes = foreign_next(text, len, &code);
		if (*text == '\n')
			fputs("\\n", to);
		else if (code == FOREIGN_INVALID)
			fputs("\xef\xbf\xbd", to);
		else if (foreign_is_hidden(code))
			fprintf(to, "\\\\u%04" PRIx32, code);
		else
			fprintf(to, "%s%.*s", strchr("\"\\", *text) ? "\\" : "",
				(int)bytes, text);
	}
	fputc('"', to);
}

void metric_head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help)
{
	fprintf(to, "# TYPE raidtrace_%s %s\n", name, type);
	if (unit)
		fprintf(to, "# UNIT raidtrace_%s %s\n", name, unit);
	fprintf(to, "# HELP raidtrace_%s %s\n", name, help);
}

void metric_labels(FILE *to, const char *disk, const char *each,
		   const char *which)
{
	fputs("{disk=", to);
	metric_quoted(to, disk);
	if (each)
		fprintf(to, ",%s=\"%s\"", each, which);
}
