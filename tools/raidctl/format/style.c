// SPDX-License-Identifier: GPL-2.0-or-later

/* Attributes of a terminal. */

#include "format/style.h"

#include <stdlib.h>
#include <unistd.h>

/* Terminal attributes go to a terminal only, and not with NO_COLOR. */
static const char *style(FILE *to, const char *code)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && no_color[0]) || !isatty(fileno(to)))
		return "";
	return code;
}

const char *bold(FILE *to)
{
	return style(to, "\033[1m");
}

const char *plain(FILE *to)
{
	return style(to, "\033[0m");
}
