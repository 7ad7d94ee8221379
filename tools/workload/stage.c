// SPDX-License-Identifier: GPL-2.0-or-later

/* Shared by ddt and ioperf: stages on standard error, arguments, the scratch file. */

#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void stage_begin(const char *what)
{
	fprintf(stderr, "%s...", what);
}

void stage_end(void)
{
	fputs("done\n", stderr);
}

double stage_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

void stage_die(const char *what)
{
	fprintf(stderr, "\n%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

uint64_t stage_number(const char *text)
{
	static const char units[] = "KMG";
	unsigned long long value;
	const char *unit;
	unsigned int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return 0;
	if (*end) {
		unit = strchr(units, *end & ~0x20);
		if (!unit || end[1])
			return 0;
		shift = 10 * (unit - units + 1);
	}
	return value > (UINT64_MAX >> 1) >> shift ? 0 : (uint64_t)value << shift;
}

int stage_fill(const char *word, enum fill *ret)
{
	if (!strcmp(word, "random"))
		*ret = FILL_RANDOM;
	else if (!strcmp(word, "zeros"))
		*ret = FILL_ZEROS;
	else
		return -1;
	return 0;
}

int stage_file(const char *directory)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s.XXXXXX", directory, program_invocation_short_name) < 0)
		stage_die("out of memory");
	fd = mkstemp(path);
	if (fd < 0 || unlink(path))
		stage_die(path);
	free(path);
	return fd;
}

uint64_t stage_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

void stage_data(enum fill fill, uint64_t *state, void *block, uint64_t bytes)
{
	uint64_t *words = block;
	uint64_t i;

	if (fill == FILL_ZEROS) {
		memset(block, 0, bytes);
		return;
	}
	for (i = 0; i < bytes / sizeof(*words); i++)
		words[i] = stage_random(state);
}
