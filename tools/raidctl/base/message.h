/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What raidctl says on standard error. */

#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

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
