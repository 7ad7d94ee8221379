// SPDX-License-Identifier: GPL-2.0-or-later
/* Text that is put together in a buffer. */
#include "base.h"

void rl_text_init(struct rl_text *text, char *at, size_t size)
{
	text->at = at;
	text->size = size;
	text->used = 0;
	at[0] = '\0';
}

void rl_text_part(struct rl_text *text, const char *more, size_t length)
{
	while (length-- && *more && text->used < text->size - 1)
		text->at[text->used++] = *more++;
	text->at[text->used] = '\0';
}

void rl_text_add(struct rl_text *text, const char *more)
{
	rl_text_part(text, more, text->size);
}

static void rl_text_digits(struct rl_text *text, u64 value, u32 base, u32 least)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || sizeof(digits) - 1 - at < least);
	rl_text_add(text, digits + at);
}

void rl_text_number(struct rl_text *text, u64 value)
{
	rl_text_digits(text, value, 10, 1);
}

void rl_text_hex(struct rl_text *text, u64 value, u32 digits)
{
	rl_text_digits(text, value, 16, digits);
}

void rl_text_pair(struct rl_text *text, const char *prefix, const char *key, u64 value)
{
	rl_text_add(text, prefix);
	rl_text_add(text, key);
	rl_text_add(text, ": ");
	rl_text_number(text, value);
	rl_text_add(text, "\n");
}
