/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Text that came from elsewhere: names of processes, mounts and files, command
 * lines, whatever a recording holds.  It can be of any bytes.
 *
 * One door for each output: terminal.h for text, json-add.h and csv.h.  All
 * of them use these definitions.
 */

#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What foreign_next() gives for a byte that is not UTF-8. */
#define FOREIGN_INVALID	UINT32_MAX

/**
 * foreign_next - the character at the begin of a text
 * @text: UTF-8, perhaps
 * @len: bytes that are there, at least 1
 * @ret: its code point, or FOREIGN_INVALID
 *
 * Return: how many bytes it has; 1 for one that is not UTF-8.
 */
size_t foreign_next(const char *text, size_t len, uint32_t *ret);

/* foreign_is_hidden - control characters, and those that are invisible or change the order of the text */
bool foreign_is_hidden(uint32_t code);

/**
 * foreign_visible - what a terminal may be shown of a text, in one line
 * @text: of any bytes, up to a NUL or @len
 * @len: most bytes
 * @wide: columns that it fills, may be NULL; a character counts as one
 *
 * What is not UTF-8, controls a terminal or turns the direction of writing
 * becomes \n, \t, \r, \x1b or \u202e.
 *
 * Return: to be given to free(); NULL: no memory.
 */
char *foreign_visible(const char *text, size_t len, size_t *wide);

/**
 * foreign_utf8 - a text as valid UTF-8
 * @text: of any bytes
 * @made: NULL, or what is to be given to free()
 *
 * Return: @text if it is; a copy with U+FFFD for each byte that is not; that
 * character alone without memory.
 */
const char *foreign_utf8(const char *text, char **made);

/* foreign_cut - how many bytes the first @nr characters of UTF-8 have */
size_t foreign_cut(const char *text, size_t nr);

#endif
