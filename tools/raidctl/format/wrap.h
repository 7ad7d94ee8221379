/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Words in lines of bounded width. */

#ifndef FORMAT_WRAP_H
#define FORMAT_WRAP_H

#include <stdio.h>

/* No line of text that raidctl prints is longer. */
#define WRAP_WIDTH	100

/**
 * print_wrapped - words, and the end of the line
 * @to: where @column characters of the line are printed already
 * @text: separated by blanks; a number and what it counts stay together
 * @column: where the next lines begin
 */
void print_wrapped(FILE *to, const char *text, int column);

#endif
