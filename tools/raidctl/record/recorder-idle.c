// SPDX-License-Identifier: GPL-2.0-or-later

/* Disks that do nothing need no snapshot at each sample. */

#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The field of requests in flight, counted from the name. */
#define IN_FLIGHT_FIELD	9

static const char *find_line(const char *text, unsigned int major,
			     unsigned int minor, size_t *len)
{
	for (; text; text = proc_line(text)) {
		char *end;

		/* For each disk at each sample: sscanf() takes ten times as long. */
		if (strtoul(text, &end, 10) != major ||
		    strtoul(end, NULL, 10) != minor)
			continue;
		*len = strcspn(text, "\n");
		return text;
	}
	return NULL;
}

static bool in_flight(const char *line)
{
	unsigned long long requests = 1;
	int end = 0;

	sscanf(line, "%*u %*u %*s%n", &end);
	for (int field = 0; end && field < IN_FLIGHT_FIELD; field++) {
		int more = 0;

		if (sscanf(line + end, "%llu%n", &requests, &more) != 1)
			return true;
		end += more;
	}
	return requests;
}

bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last)
{
	size_t len = 0;
	const char *line = find_line(text, major, minor, &len);

	if (line && len < sizeof(last->text) && last->text[0] &&
	    strlen(last->text) == len && !memcmp(last->text, line, len) &&
	    !in_flight(last->text))
		return true;
	last->text[0] = '\0';
	if (line && len < sizeof(last->text))
		snprintf(last->text, sizeof(last->text), "%.*s", (int)len,
			 line);
	return false;
}
