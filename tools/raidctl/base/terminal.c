// SPDX-License-Identifier: GPL-2.0-or-later

/* Text on terminals. Formats are trusted, texts of %s are not. */

#include "base/base.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Compared by address, so that a name with the same bytes is not one of them. */
static const char bold_code[] = "\033[1m", plain_code[] = "\033[0m";

static const char *style(FILE *to, const char *code)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && no_color[0]) || !isatty(fileno(to)))
		return "";
	return code;
}

const char *bold(FILE *to)
{
	return style(to, bold_code);
}

const char *plain(FILE *to)
{
	return style(to, plain_code);
}

#define LEAST_WIDTH	20
#define MOST_WIDTH	100	/* longer lines are hard to read */

int terminal_width(FILE *to)
{
	static int width;
	struct winsize size = { 0 };

	if (to != stdout)
		return TERMINAL_WIDTH;
	if (width)
		return width;
	width = TERMINAL_WIDTH;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH :
			size.ws_col > MOST_WIDTH ? MOST_WIDTH : size.ws_col;
	return width;
}

/* One conversion of a format. */
struct conversion {
	char text[48];	/* as in the format, with numbers instead of stars */
	bool left;	/* pad after the text */
	int width;	/* fewest characters */
	int precision;	/* -1 for none */
	char size;	/* 'h', 'H' for hh, 'l', 'L' for ll, 'j', 'z', 't', or 0 */
	char kind;	/* d, s, and so on */
};

/* Decimal digits, or the argument of a star. */
static const char *number(const char *at, va_list *args, int *ret)
{
	*ret = 0;
	if (*at == '*') {
		*ret = va_arg(*args, int);
		return at + 1;
	}
	while (*at >= '0' && *at <= '9')
		*ret = *ret * 10 + (*at++ - '0');
	return at;
}

/* Parse a conversion after the percent sign. Returns the text after it. */
static const char *parse(const char *at, va_list *args, struct conversion *ret)
{
	size_t flags = strspn(at, "-+ #0");
	char precision[16] = "", width[16] = "", size[3] = "";

	*ret = (struct conversion){ .precision = -1 };
	ret->left = !!memchr(at, '-', flags);
	snprintf(ret->text, sizeof(ret->text), "%%%.*s", (int)flags, at);
	at = number(at + flags, args, &ret->width);
	if (ret->width < 0) {
		ret->left = true;
		ret->width = -ret->width;
	}
	if (ret->width)
		snprintf(width, sizeof(width), "%s%d", ret->left ? "-" : "",
			 ret->width);
	if (*at == '.') {
		at = number(at + 1, args, &ret->precision);
		snprintf(precision, sizeof(precision), ".%d", ret->precision);
	}
	while (strchr("hljzt", *at) && *at) {
		ret->size = ret->size == *at ? (*at == 'h' ? 'H' : 'L') : *at;
		size[strlen(size)] = *at++;
	}
	ret->kind = *at;
	snprintf(ret->text + strlen(ret->text),
		 sizeof(ret->text) - strlen(ret->text), "%s%s%s%c", width,
		 precision, size, ret->kind);
	return *at ? at + 1 : at;
}

static void put_text(FILE *to, const struct conversion *c, const char *text)
{
	size_t most = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;
	size_t columns = 0, len;
	char *shown = NULL;
	int gap;

	if (!text)
		text = "(null)";
	if (text == bold_code || text == plain_code) {
		fputs(text, to);
		return;
	}
	len = strnlen(text, most);
	shown = foreign_visible(text, len, &columns);
	gap = columns < (size_t)c->width ? c->width - (int)columns : 0;
	/* Without memory the text stays empty. */
	fprintf(to, "%*s%s%*s", c->left ? 0 : gap, "", shown ? shown : "",
		c->left ? gap : 0, "");
	free(shown);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* The compiler has checked the types at the call with this format. */
static void put_number(FILE *to, const struct conversion *c, va_list *args)
{
	if (strchr("aAeEfFgG", c->kind))
		fprintf(to, c->text, va_arg(*args, double));
	else if (c->kind == 'p')
		fprintf(to, c->text, va_arg(*args, void *));
	else if (c->size == 'l')
		fprintf(to, c->text, va_arg(*args, long));
	else if (c->size == 'L')
		fprintf(to, c->text, va_arg(*args, long long));
	else if (c->size == 'j')
		fprintf(to, c->text, va_arg(*args, intmax_t));
	else if (c->size == 'z')
		fprintf(to, c->text, va_arg(*args, size_t));
	else if (c->size == 't')
		fprintf(to, c->text, va_arg(*args, ptrdiff_t));
	else
		fprintf(to, c->text, va_arg(*args, int));
}

#pragma GCC diagnostic pop

void terminal_vprint(FILE *to, const char *format, va_list args)
{
	struct conversion c;
	va_list left;

	va_copy(left, args);
	while (*format) {
		size_t ours = strcspn(format, "%");

		fwrite(format, 1, ours, to);
		format += ours;
		if (!*format)
			break;
		format = parse(format + 1, &left, &c);
		if (c.kind == '%')
			fputc('%', to);
		else if (c.kind == 's')
			put_text(to, &c, va_arg(left, const char *));
		else
			put_number(to, &c, &left);
	}
	va_end(left);
}

void terminal_print(FILE *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	terminal_vprint(to, format, args);
	va_end(args);
}
