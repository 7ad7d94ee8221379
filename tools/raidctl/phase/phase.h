/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Phases of a recording: cut from the output of a benchmark, or marked by a script. */

#ifndef PHASE_PHASE_H
#define PHASE_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Room for the name of a phase. */
#define PHASE_NAME	64

/* Name of the phase before, between and after the named phases. */
#define PHASE_OUTSIDE	"outside"

/* cutter.c: phases from the output of a program; pure */

/* Bytes of a line that are considered. */
#define PHASE_LINE	512

enum stream {
	STREAM_STDOUT,
	STREAM_STDERR,
	NR_STREAMS
};

/* Return: "stdout" or "stderr". */
const char *stream_name(enum stream stream);

#define FIO_JOBS	64
#define FIO_LETTERS	512

/* The jobs in fio's status line. */
struct fio_jobs {
	size_t nr;
	char name[FIO_JOBS][PHASE_NAME];
	bool many[FIO_JOBS];		/* the header is for several jobs */
	char now[2][PHASE_NAME];	/* names of this phase and of the previous one, alternating */
	int turn;
};

/* Tests of iozone's command line. */
struct iozone_tests {
	unsigned int tests;	/* bit N: test N of -i */
	bool row;		/* the head of the table was printed */
};

/* State of the output of a program. */
struct phase_cutter {
	const struct phase_program *program;	/* NULL: a single phase */
	const char *now;		/* present phase, NULL outside the named phases */
	enum stream stream;		/* stream of the line of @now; its next newline ends the phase */
	unsigned int opened;		/* phases that began in the last piece */
	unsigned int missed;		/* phases that began and ended within one piece */
	uint64_t left_s;		/* seconds left by the program's estimate, 0 without one */
	char line[NR_STREAMS][PHASE_LINE];	/* start of the unfinished line */
	size_t len[NR_STREAMS];		/* of @line, at most PHASE_LINE - 1 */
	struct fio_jobs fio;
	struct iozone_tests iozone;
};

/*
 * Choose the program by @name, or if it is NULL by the words of @argv, which ends with NULL: "timeout 60 bonnie++ ..."
 * and sh -c "bonnie++ ..." are recognised, too. Return: false if @name is not known.
 */
bool phase_cutter_init(struct phase_cutter *cutter, const char *name,
		       char *const *argv);

/* Process a piece of output, which may begin and end anywhere. Return: is cutter->now another phase than before? */
bool phase_feed(struct phase_cutter *cutter, enum stream stream,
		const char *text, size_t len);

/* Does the program print the name of each phase? If not, the time before the first name is a phase, too. */
bool phase_named(const struct phase_cutter *cutter);

/* For programs: the current piece begins or ends a phase. */
void phase_begin(struct phase_cutter *cutter, const char *name);
void phase_end(struct phase_cutter *cutter);

/* The i-th known program, NULL beyond the last. */
const char *phase_program_name(size_t i);

/* A line that begins a phase. The end of the line ends the phase. */
struct phase_rule {
	enum stream stream;
	const char *opening;	/* start of the line */
	const char *phase;
};

/* A program with phases. */
struct phase_program {
	const char *name;
	const struct phase_rule *rules;		/* the list ends with a rule without an opening; NULL: use @line */
	void (*begin)(struct phase_cutter *cutter, char *const *argv);	/* may be NULL */
	void (*line)(struct phase_cutter *cutter, const char *line);	/* lines of stdout, ended by \n or \r */
	void (*column)(struct phase_cutter *cutter, const char *line);	/* present line, after each piece */
};

extern const struct phase_program phase_fio;
extern const struct phase_program phase_iozone;

/*
 * marks.c: phases that a script names. The recorder has a datagram socket. The sender binds its own address and waits
 * for the answer, which is sent after the counters have been read. Messages are the texts "phase NAME" and "end"; the
 * answer is "ok" or the reason of a failure.
 */

/* Longest message, with its terminating zero. */
#define MARK_TEXT	256

/* Environment of the command: the socket of its recorder. */
#define MARK_VARIABLE	"RAIDTRACE_RECORD"

/* One message to the recorder, and its sender. */
struct mark {
	char text[MARK_TEXT];
	struct sockaddr_un from;
	socklen_t from_len;
};

/* Open the recorder's socket; one that exists is replaced. Return: a descriptor to poll, or -errno. */
int marks_open(const char *path);

/* Get the next message. Return: false if there is none now. */
bool marks_take(int fd, struct mark *ret);
void marks_answer(int fd, const struct mark *mark, const char *text);

/* Send a message to the recorder's socket and wait for the answer. Return: 0; -ETIMEDOUT; another -errno. */
int marks_send(const char *path, const char *text, char *answer, size_t size);

/* Is a name valid: printable, without tabs and newlines, of 1 to PHASE_NAME - 1 bytes? */
bool mark_name_valid(const char *name);

#endif
