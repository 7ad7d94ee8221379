/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Words in lines of bounded width. */

#ifndef FORMAT_WRAP_H
#define FORMAT_WRAP_H

#include <stdio.h>

/**
 * print_wrapped - words, and the end of the line
 * @to: where @column characters of the line are printed already
 * @text: separated by blanks; a number and what it counts stay together
 * @column: where the next lines begin
 *
 * No line of words is longer than terminal_width().
 */
void print_wrapped(FILE *to, const char *text, int column);

/* What a line of the head of a text begins at, behind its label. */
#define LABEL_WIDTH	11

/* print_labelled - a label and words behind it from a column on, in as many lines as they need */
void __attribute__((format(printf, 4, 5)))
print_labelled(FILE *to, int column, const char *label, const char *format, ...);

#endif
