// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Phases of fio, from its status lines.
 *
 * It prints them on a terminal, and elsewhere with --eta=always:
 *	Jobs: 2 (f=2): [_(1),r(2)][80.0%][r=1530KiB/s][r=382 IOPS][eta 00m:01s]
 * The letters are the jobs in the order of their headers
 *	b: (g=1): rw=randread, bs=(R) 4096B-4096B, ...
 *
 * where "..." below a header stands for more jobs with the same name. A phase is a set of running jobs; it ends when
 * the status shows another set. This is the format of fio 3; letters without counts are from fio 2.
 */

#include "phase/phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_LEFT_S	(30 * 86400)

static void take_header(struct fio_jobs *jobs, const char *line)
{
	const char *group = strstr(line, ": (g=");
	int len = group ? (int)(group - line) : 0;

	if (!len || !strstr(group, "): rw=") || jobs->nr == FIO_JOBS)
		return;
	snprintf(jobs->name[jobs->nr], PHASE_NAME, "%.*s", len, line);
	jobs->many[jobs->nr++] = false;
}

/* Number of letters of the status that belong to a job: one, or the rest for "...". */
static unsigned int width(const struct fio_jobs *jobs, size_t job,
			  size_t letters)
{
	size_t single = 0, many = 0;

	for (size_t i = 0; i < jobs->nr; i++) {
		single += !jobs->many[i];
		many += jobs->many[i];
	}
	if (!jobs->many[job])
		return 1;
	/* If there are several such jobs, their borders are not known. */
	if (many != 1 || letters < single)
		return 0;
	return (unsigned int)(letters - single);
}

/* Expand "W(1),P(2)" or "WPP" to single letters. */
static size_t expand(const char *from, const char *to, char *ret, size_t size)
{
	size_t nr = 0;

	while (from < to) {
		char letter = *from++;
		unsigned long times = 1;

		if (letter == ',')
			continue;
		if (from < to && *from == '(') {
			char *end;

			times = strtoul(from + 1, &end, 10);
			from = *end == ')' ? end + 1 : to;
		}
		for (; times && nr < size; times--)
			ret[nr++] = letter;
	}
	return nr;
}

static const char *pattern_name(char letter)
{
	switch (letter) {
	case 'R':
		return "read";
	case 'W':
		return "write";
	case 'M':
		return "mixed";
	case 'r':
		return "randread";
	case 'w':
		return "randwrite";
	case 'm':
		return "randmixed";
	case 'D':
	case 'd':
		return "trim";
	case 'V':
		return "verify";
	case 'F':
		return "fsync";
	default:
		return NULL;	/* set up, waiting, ended */
	}
}

static void add_name(char *ret, const char *name)
{
	size_t used = strlen(ret), len = strlen(name);

	for (const char *at = ret; (at = strstr(at, name)); at += len)
		if ((at == ret || at[-1] == '+') &&
		    (!at[len] || at[len] == '+'))
			return;
	snprintf(ret + used, PHASE_NAME - used, "%s%s", used ? "+" : "", name);
}

static void name_running(const struct fio_jobs *jobs, const char *letters,
			 size_t nr, char *ret)
{
	size_t at = 0;

	ret[0] = '\0';
	for (size_t job = 0; job < jobs->nr; job++) {
		unsigned int wide = width(jobs, job, nr);

		for (unsigned int i = 0; i < wide && at < nr; i++)
			if (pattern_name(letters[at++]))
				add_name(ret, jobs->name[job]);
	}
	if (at == nr && jobs->nr)
		return;
	ret[0] = '\0';
	for (at = 0; at < nr; at++)
		if (pattern_name(letters[at]))
			add_name(ret, pattern_name(letters[at]));
}

/* Parse "00m:03s", "01h:02m:03s", "1d:00h:00m:00s". The first estimates are not plausible. */
static uint64_t seconds_left(const char *line)
{
	const char *at = strstr(line, "[eta ");
	uint64_t seconds = 0;
	char *end;

	for (at = at ? at + 5 : ""; *at; at = *end == ':' ? end + 1 : "") {
		uint64_t number = strtoull(at, &end, 10);
		uint64_t unit = *end == 'd' ? 86400 : *end == 'h' ? 3600 :
				*end == 'm' ? 60 : *end == 's' ? 1 : 0;

		if (end == at || !unit)
			return 0;
		seconds += number * unit;
		end++;
	}
	return seconds < LONGEST_LEFT_S ? seconds : 0;
}

static void take_status(struct phase_cutter *cutter, const char *line)
{
	struct fio_jobs *jobs = &cutter->fio;
	const char *open = strchr(line, '[');
	const char *close = open ? strchr(open, ']') : NULL;
	char letters[FIO_LETTERS], name[PHASE_NAME];

	if (!close)
		return;
	cutter->left_s = seconds_left(close);
	name_running(jobs, letters,
		     expand(open + 1, close, letters, sizeof(letters)), name);
	if (cutter->now && !strcmp(cutter->now, name))
		return;
	/* The present name must not change while it is used. */
	jobs->turn = !jobs->turn;
	strcpy(jobs->now[jobs->turn], name);
	if (name[0])
		phase_begin(cutter, jobs->now[jobs->turn]);
	else
		phase_end(cutter);
}

static void fio_line(struct phase_cutter *cutter, const char *line)
{
	struct fio_jobs *jobs = &cutter->fio;

	if (!strncmp(line, "Jobs: ", 6)) {
		take_status(cutter, line);
	} else if (!strcmp(line, "...")) {
		if (jobs->nr)
			jobs->many[jobs->nr - 1] = true;
	} else if (strstr(line, ": (groupid=")) {
		cutter->left_s = 0;
		phase_end(cutter);
	} else {
		take_header(jobs, line);
	}
}

const struct phase_program phase_fio = { .name = "fio", .line = fio_line };
