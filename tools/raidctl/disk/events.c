// SPDX-License-Identifier: GPL-2.0-or-later

/* Asynchronous events that a 3ware controller reported to its driver, from the log. */

#include "disk/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long events_count(const char *stats)
{
	static const char name[] = "AEN's:";
	const char *at = strstr(stats, name);
	char *end;
	long count;

	if (!at)
		return -1;
	at += sizeof(name) - 1;
	count = strtol(at, &end, 10);
	return end == at || count < 0 ? -1 : count;
}

bool events_find(const char *line, unsigned int host, char *text, size_t size)
{
	static const char name[] = ": AEN: ";
	const char *at = strstr(line, "3w-9xxx: scsi"), *words;
	unsigned int found;

	if (!at || sscanf(at, "3w-9xxx: scsi%u", &found) != 1 || found != host)
		return false;
	words = strstr(at, name);
	if (!words)
		return false;
	words += sizeof(name) - 1;
	snprintf(text, size, "%.*s", (int)strcspn(words, "\n"), words);
	return text[0];
}

void events_append(char *lines, const char *line)
{
	size_t len = strlen(lines), more = strlen(line);
	char *rest;

	if (more >= EVENTS_TEXT)
		return;
	while (len + (len > 0) + more >= EVENTS_TEXT) {
		rest = strchr(lines, '\n');
		rest = rest ? rest + 1 : lines + len;
		len = strlen(rest);
		memmove(lines, rest, len + 1);
	}
	if (len)
		lines[len++] = '\n';
	memcpy(lines + len, line, more + 1);
}

void events_read(unsigned int host, char *lines)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[8192], text[256];
	ssize_t len;

	lines[0] = '\0';
	if (fd < 0)
		return;
	/* Each read is one message; one that was overwritten is an error. */
	while ((len = read(fd, line, sizeof(line) - 1)) > 0 ||
	       (len < 0 && errno == EPIPE)) {
		line[len > 0 ? len : 0] = '\0';
		if (events_find(line, host, text, sizeof(text)))
			events_append(lines, text);
	}
	close(fd);
}
