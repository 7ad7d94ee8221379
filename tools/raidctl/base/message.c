// SPDX-License-Identifier: GPL-2.0-or-later

/* What raidctl says on standard error. */

#include "base/message.h"
#include "base/progress.h"
#include "base/terminal.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *format, va_list args)
{
	progress_clear();
	fflush(stdout);
	fputs("raidctl: ", stderr);
	terminal_vprint(stderr, format, args);
	fputc('\n', stderr);
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_FAILED;
}

int usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_USAGE;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}
