// SPDX-License-Identifier: GPL-2.0-or-later

/* Phases of a benchmark, from its output. */

#include "phase/phase.h"

#include <string.h>

/*
 * bonnie++ 2.00a prints "Rewriting..." with one write(2) when the phase begins, and "done\n" with another when it ends.
 * Only the seeks differ: each process prints "done...", and the newline follows after the last.
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

/* Our own: "Writing..." and "done\n", also on standard error. */
static const struct phase_rule ddt_rules[] = {
	{ STREAM_STDERR, "Writing...", "write" },
	{ STREAM_STDERR, "Pausing...", "pause" },
	{ STREAM_STDERR, "Reading...", "read" },
	{ 0 }
};

static const struct phase_program bonnie = {
	.name = "bonnie++", .rules = bonnie_rules,
};

static const struct phase_program ddt = { .name = "ddt", .rules = ddt_rules };

static const struct phase_rule ioperf_rules[] = {
	{ STREAM_STDERR, "Writing with fwrite...", "fwrite" },
	{ STREAM_STDERR, "Reading with fread...", "fread" },
	{ STREAM_STDERR, "Writing with putc...", "putc" },
	{ STREAM_STDERR, "Reading with getc...", "getc" },
	{ STREAM_STDERR, "Seeking...", "seeks" },
	{ 0 }
};

static const struct phase_program ioperf = {
	.name = "ioperf", .rules = ioperf_rules,
};

static const struct phase_program *const programs[] = {
	&bonnie, &phase_iozone, &phase_fio, &ddt, &ioperf,
};

#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

const char *stream_name(enum stream stream)
{
	return stream == STREAM_STDOUT ? "stdout" : "stderr";
}

const char *phase_program_name(size_t i)
{
	return i < NR_PROGRAMS ? programs[i]->name : NULL;
}

/* Is the name a word, the end of a path, or a word of a shell command? */
static bool is_word(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += len) {
		bool begins = at == text || strchr(" /;&|(\n\t", at[-1]);

		if (begins && (!at[len] || strchr(" ;&|)\n\t", at[len])))
			return true;
	}
	return false;
}

static bool mentions(char *const *argv, const char *name)
{
	for (; *argv; argv++)
		if (is_word(*argv, name))
			return true;
	return false;
}

bool phase_cutter_init(struct phase_cutter *cutter, const char *name,
		       char *const *argv)
{
	memset(cutter, 0, sizeof(*cutter));
	for (size_t i = 0; i < NR_PROGRAMS && !cutter->program; i++)
		if (name ? !strcmp(name, programs[i]->name) :
			   mentions(argv, programs[i]->name))
			cutter->program = programs[i];
	if (cutter->program && cutter->program->begin)
		cutter->program->begin(cutter, argv);
	return !name || cutter->program;
}

bool phase_named(const struct phase_cutter *cutter)
{
	return cutter->program && cutter->program->rules;
}

void phase_begin(struct phase_cutter *cutter, const char *name)
{
	if (cutter->now != name)
		cutter->opened++;
	cutter->now = name;
}

void phase_end(struct phase_cutter *cutter)
{
	cutter->now = NULL;
}

static const struct phase_rule *opened_by(const struct phase_cutter *cutter,
					  enum stream stream)
{
	const char *line = cutter->line[stream];

	for (const struct phase_rule *rule = cutter->program->rules;
	     rule->opening; rule++)
		if (rule->stream == stream && !strcmp(rule->opening, line))
			return rule;
	return NULL;
}

/* A program whose lines are one phase each. The end of the line ends the phase. */
static void feed_rules(struct phase_cutter *cutter, enum stream stream,
		       bool end)
{
	const struct phase_rule *rule;

	if (end) {
		if (stream == cutter->stream)
			phase_end(cutter);
		return;
	}
	rule = opened_by(cutter, stream);
	if (!rule)
		return;
	cutter->stream = stream;
	/* The same phase again is a new one. */
	cutter->now = NULL;
	phase_begin(cutter, rule->phase);
}

static void feed_byte(struct phase_cutter *cutter, enum stream stream,
		      char byte)
{
	const struct phase_program *program = cutter->program;
	char *line = cutter->line[stream];
	bool end = byte == '\n' || byte == '\r';

	if (!end) {
		if (cutter->len[stream] == PHASE_LINE - 1)
			return;
		line[cutter->len[stream]++] = byte;
		line[cutter->len[stream]] = '\0';
	}
	if (program->rules)
		feed_rules(cutter, stream, end);
	else if (end && stream == STREAM_STDOUT)
		program->line(cutter, line);
	if (end) {
		cutter->len[stream] = 0;
		line[0] = '\0';
	}
}

bool phase_feed(struct phase_cutter *cutter, enum stream stream,
		const char *text, size_t len)
{
	const char *before = cutter->now;

	if (!cutter->program)
		return false;
	cutter->opened = 0;
	for (size_t i = 0; i < len; i++)
		feed_byte(cutter, stream, text[i]);
	if (cutter->program->column && stream == STREAM_STDOUT)
		cutter->program->column(cutter, cutter->line[stream]);
	/* If several phases began, only the open one has time of its own. */
	if (cutter->opened)
		cutter->missed += cutter->opened - (cutter->now ? 1 : 0);
	return cutter->opened || cutter->now != before;
}
