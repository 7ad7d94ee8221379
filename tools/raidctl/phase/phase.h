/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Phases of a benchmark, cut from what it prints; pure. */

#ifndef PHASE_PHASE_H
#define PHASE_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a line that are looked at. */
#define PHASE_LINE	512
#define PHASE_NAME	64

enum stream {
	STREAM_STDOUT,
	STREAM_STDERR,
	NR_STREAMS
};

/* stream_name - "stdout" or "stderr" */
const char *stream_name(enum stream stream);

struct phase_program;

#define FIO_JOBS	64
#define FIO_LETTERS	512

/**
 * struct fio_jobs - the jobs in fio's status line
 * @nr: how many headers
 * @name: of each
 * @many: it stands for several jobs
 * @now: name of the phase and of the one before, in turns
 * @turn: which is which
 */
struct fio_jobs {
	size_t nr;
	char name[FIO_JOBS][PHASE_NAME];
	bool many[FIO_JOBS];
	char now[2][PHASE_NAME];
	int turn;
};

/**
 * struct iozone_tests - tests of iozone's command line
 * @tests: bit N: test N of -i
 * @row: the head of the table has been printed
 */
struct iozone_tests {
	unsigned int tests;
	bool row;
};

/**
 * struct phase_cutter - where in its output a program is
 * @program: the program of the output, NULL: a single phase
 * @now: phase it is in, NULL for none of those that it names
 * @stream: where that was printed, its next newline ends the phase
 * @opened: phases that began in the last piece
 * @left_s: seconds that the program says it needs, 0 when it does not
 * @missed: phases that began and ended within one piece of output
 * @line: how the unfinished line of each stream begins
 * @len: length of that, at most PHASE_LINE - 1
 * @fio: of fio alone
 * @iozone: of iozone alone
 */
struct phase_cutter {
	const struct phase_program *program;
	const char *now;
	enum stream stream;
	unsigned int opened;
	unsigned int missed;
	uint64_t left_s;
	char line[NR_STREAMS][PHASE_LINE];
	size_t len[NR_STREAMS];
	struct fio_jobs fio;
	struct iozone_tests iozone;
};

/**
 * phase_cutter_init - choose the program
 * @cutter: to be set up
 * @name: of the program; NULL to look for one in @argv
 * @argv: the command, ends with NULL
 *
 * The words of @argv are searched for the program's name, so that
 * "timeout 60 bonnie++ ..." and sh -c "bonnie++ ..." are recognised too.
 *
 * Return: false when @name is not known.
 */
bool phase_cutter_init(struct phase_cutter *cutter, const char *name,
		       char *const *argv);

/**
 * phase_feed - take a piece of output, cut anywhere
 * @cutter: set up
 * @stream: where it was printed
 * @text: the piece
 * @len: its length
 *
 * Return: whether cutter->now is another phase than before.
 */
bool phase_feed(struct phase_cutter *cutter, enum stream stream,
		const char *text, size_t len);

/**
 * phase_named - are all phases of the program named by what it prints?
 * @cutter: set up
 *
 * Return: false for one that may print nothing of it: what it does before it
 * names a phase is one of its own.
 */
bool phase_named(const struct phase_cutter *cutter);

/* phase_begin, phase_end - for programs: what the piece being fed leads to */
void phase_begin(struct phase_cutter *cutter, const char *name);
void phase_end(struct phase_cutter *cutter);

/* phase_program_name - the i-th known program, NULL beyond the last */
const char *phase_program_name(size_t i);

/* Programs with phases, each in a file of its own; pure. */

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
 * struct phase_program - a program with phases
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
