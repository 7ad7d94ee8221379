/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Attributes of a terminal. */

#ifndef FORMAT_STYLE_H
#define FORMAT_STYLE_H

#include <stdio.h>

/* bold, plain - terminal attributes; "" off a terminal and with NO_COLOR */
const char *bold(FILE *to);
const char *plain(FILE *to);

#endif
