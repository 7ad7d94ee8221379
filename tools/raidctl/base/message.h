/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What raidctl says on standard error, and one line of progress there. */

#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * One line of progress on a terminal.
 *
 * It is written behind whatever the followed command has printed on its
 * current line, and the cursor goes back there: the command's own output looks
 * as it would without it.
 */

/* progress_wanted - is there a terminal to show it on? */
bool progress_wanted(void);

/* progress_show - replace the text; nothing when stderr is no terminal */
void progress_show(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* progress_clear - take the text away before something else is printed */
void progress_clear(void);

/* progress_passed - this was printed to the terminal by somebody else */
void progress_passed(const char *text, size_t len);

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/**
 * fail - print "raidctl: <what>: <why>; <what to do>"
 * @format: the text after "raidctl: ", without a newline
 *
 * Return: EXIT_FAILED, so that a command can return it.
 */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * usage_error - like fail() but the command line was wrong
 * @format: as with fail()
 *
 * Return: EXIT_USAGE.
 */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* note - print "raidctl: <text>" about something that is no failure */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
