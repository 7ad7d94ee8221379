/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One line of progress on a terminal.
 *
 * It is written behind whatever the followed command has printed on its
 * current line, and the cursor goes back there: the command's own output looks
 * as it would without it.
 */

#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* progress_wanted - is there a terminal to show it on? */
bool progress_wanted(void);

/* progress_show - replace the text; nothing when stderr is no terminal */
void progress_show(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* progress_clear - take the text away before something else is printed */
void progress_clear(void);

/* progress_passed - this was printed to the terminal by somebody else */
void progress_passed(const char *text, size_t len);

#endif
