// SPDX-License-Identifier: GPL-2.0-or-later

/* Messages on standard error. */

#include "base/base.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* One line of progress on a terminal. */

#define SAVE_CURSOR	"\0337"
#define RESTORE_CURSOR	"\0338"
#define CLEAR_TO_END	"\033[K"

static bool shown;
/* Bytes of the command's present line. */
static size_t column;

bool progress_is_shown(void)
{
	return isatty(STDERR_FILENO);
}

void progress_show(const char *format, ...)
{
	struct winsize size = { 0 };
	char line[256], *text;
	size_t room;
	va_list args;

	if (!progress_is_shown())
		return;
	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	room = size.ws_col ? size.ws_col : 80;
	/* A text that reaches the margin would wrap and scroll. */
	if (column + 12 > room)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text = foreign_visible(line, sizeof(line), NULL);
	if (!text)
		return;
	fprintf(stderr, SAVE_CURSOR CLEAR_TO_END "%s%.*s" RESTORE_CURSOR,
		column ? " " : "",
		(int)foreign_cut(text, room - column - 2), text);
	fflush(stderr);
	free(text);
	shown = true;
}

void progress_clear(void)
{
	if (!shown)
		return;
	fputs(CLEAR_TO_END, stderr);
	fflush(stderr);
	shown = false;
}

void progress_passed(const char *text, size_t len)
{
	const char *line = memrchr(text, '\n', len);

	if (line) {
		column = len - (size_t)(line + 1 - text);
		return;
	}
	column += len;
}

static void print_message(const char *format, va_list args)
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
	print_message(format, args);
	va_end(args);
	return EXIT_FAILED;
}

int usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(format, args);
	va_end(args);
	return EXIT_USAGE;
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(format, args);
	va_end(args);
}
