/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The door to terminals: everything that raidctl prints as text.
 *
 * What a format says is ours.  What %s puts in is somebody else's until it is
 * in one of the few texts that are named here: it is shown as
 * foreign_visible() has it, so that no name can move the cursor, begin a line
 * or hide.  tests/lint/doors sees to it that nothing prints otherwise.
 */

#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdarg.h>
#include <stdio.h>

/* Attributes; "" off a terminal and with NO_COLOR. */
const char *bold(FILE *to);
const char *plain(FILE *to);

#define TERMINAL_WIDTH	80	/* columns of what is no terminal */

/**
 * terminal_width - columns that lines of words may have
 * @to: stdout at the first call
 *
 * Return: those of the terminal, 20 to 100; 80 off a terminal.
 */
int terminal_width(FILE *to);

/**
 * terminal_print - as fprintf()
 * @to: a terminal, a pager, a file
 * @format: conversions of C11 without %n, %C, %S and long double
 *
 * A width counts characters.  A precision of %s is the most bytes that are
 * read.
 */
void terminal_print(FILE *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void terminal_vprint(FILE *to, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

#endif
