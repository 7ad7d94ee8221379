// SPDX-License-Identifier: GPL-2.0-or-later

/* Phases of a benchmark, cut from what it prints. */

#include "phase.h"

#include <string.h>

/**
 * struct phase_rule - a line that opens a phase; its end closes the phase
 * @stream: where it is printed
 * @opening: how the line begins
 * @phase: name of the phase
 */
struct phase_rule {
	enum stream stream;
	const char *opening;
	const char *phase;
};

/**
 * struct phase_program - a program whose phases can be cut
 * @name: as it is called
 * @rules: what it prints, ends with a rule without a phase
 */
struct phase_program {
	const char *name;
	const struct phase_rule *rules;
};

/*
 * bonnie++ 2.00a: "Rewriting..." is one write(2) when the phase begins,
 * "done\n" another when it has ended.  Only the seeks are told otherwise:
 * each of its processes adds "done...", the newline comes after the last.
 */
static const struct phase_rule bonnie_rules[] = {
	{ STREAM_STDERR, "Writing a byte at a time...", "write-chr" },
	{ STREAM_STDERR, "Writing intelligently...", "write" },
	{ STREAM_STDERR, "Rewriting...", "rewrite" },
	{ STREAM_STDERR, "Reading a byte at a time...", "read-chr" },
	{ STREAM_STDERR, "Reading intelligently...", "read" },
	{ STREAM_STDERR, "start 'em...", "seeks" },
	{ STREAM_STDERR, "Create files in sequential order...", "create-seq" },
	{ STREAM_STDERR, "Stat files in sequential order...", "stat-seq" },
	{ STREAM_STDERR, "Delete files in sequential order...", "delete-seq" },
	{ STREAM_STDERR, "Create files in random order...", "create-random" },
	{ STREAM_STDERR, "Stat files in random order...", "stat-random" },
	{ STREAM_STDERR, "Delete files in random order...", "delete-random" },
	{ 0 }
};

static const struct phase_program programs[] = {
	{ "bonnie++", bonnie_rules },
};

#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

const char *stream_name(enum stream stream)
{
	return stream == STREAM_STDOUT ? "stdout" : "stderr";
}

const char *phase_program_name(size_t i)
{
	return i < NR_PROGRAMS ? programs[i].name : NULL;
}

static bool mentions(char *const *argv, const char *name)
{
	for (; *argv; argv++)
		if (strstr(*argv, name))
			return true;
	return false;
}

bool phase_cutter_init(struct phase_cutter *cutter, const char *name,
		       char *const *argv)
{
	memset(cutter, 0, sizeof(*cutter));
	for (size_t i = 0; i < NR_PROGRAMS && !cutter->program; i++)
		if (name ? !strcmp(name, programs[i].name) :
			   mentions(argv, programs[i].name))
			cutter->program = &programs[i];
	return !name || cutter->program;
}

static const char *opened_by(const struct phase_cutter *cutter,
			     enum stream stream)
{
	const char *line = cutter->line[stream];
	size_t len = cutter->len[stream];

	for (const struct phase_rule *rule = cutter->program->rules;
	     rule->phase; rule++)
		if (rule->stream == stream && strlen(rule->opening) == len &&
		    !memcmp(rule->opening, line, len))
			return rule->phase;
	return NULL;
}

/* Returns the phase that this byte leads to. */
static const char *feed_byte(struct phase_cutter *cutter, enum stream stream,
			     char byte)
{
	const char *opened;

	if (byte == '\n') {
		cutter->len[stream] = 0;
		return stream == cutter->stream ? NULL : cutter->now;
	}
	if (cutter->len[stream] == PHASE_LINE)
		return cutter->now;
	cutter->line[stream][cutter->len[stream]++] = byte;
	opened = opened_by(cutter, stream);
	if (!opened)
		return cutter->now;
	cutter->stream = stream;
	cutter->opened++;
	return opened;
}

bool phase_feed(struct phase_cutter *cutter, enum stream stream,
		const char *text, size_t len)
{
	const char *before = cutter->now;

	if (!cutter->program)
		return false;
	cutter->opened = 0;
	for (size_t i = 0; i < len; i++)
		cutter->now = feed_byte(cutter, stream, text[i]);
	/* Of several only the one that is still open has time of its own. */
	if (cutter->opened)
		cutter->missed += cutter->opened - (cutter->now ? 1 : 0);
	return cutter->opened || cutter->now != before;
}
