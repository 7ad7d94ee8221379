/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Programs whose phases can be cut, each in a file of its own; pure. */

#ifndef PHASE_PROGRAM_H
#define PHASE_PROGRAM_H

#include "phase/phase.h"

/**
 * struct phase_rule - a line that opens a phase; its end closes the phase
 * @stream: where it is printed
 * @opening: how the line begins
 * @phase: name of the phase, NULL for one that is of no phase
 */
struct phase_rule {
	enum stream stream;
	const char *opening;
	const char *phase;
};

/**
 * struct phase_program - a program whose phases can be cut
 * @name: as it is called
 * @rules: what it prints, ends with a rule without an opening; NULL for one
 *	whose lines say more than that
 * @begin: looks at the command, NULL when nothing has to be known of it
 * @line: takes a line of standard output that is whole, or that ends with
 *	'\r'; sets @now of the cutter
 * @column: takes the line that is being printed, after each piece of it
 */
struct phase_program {
	const char *name;
	const struct phase_rule *rules;
	void (*begin)(struct phase_cutter *cutter, char *const *argv);
	void (*line)(struct phase_cutter *cutter, const char *line);
	void (*column)(struct phase_cutter *cutter, const char *line);
};

extern const struct phase_program phase_fio;
extern const struct phase_program phase_iozone;

#endif
