/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that is put together in a buffer; what does not fit is left out. */
#ifndef RL_TEXT_H
#define RL_TEXT_H

#include "types.h"

/**
 * struct rl_text - a text
 * @at: the buffer; always ends with a NUL
 * @size: bytes of it, at least 1
 * @used: bytes in use, without the NUL
 */
struct rl_text {
	char *at;
	size_t size;
	size_t used;
};

/* Begin an empty text in @at. */
void rl_text_init(struct rl_text *text, char *at, size_t size);

void rl_text_add(struct rl_text *text, const char *more);

/* The same with at most @length bytes of @more. */
void rl_text_part(struct rl_text *text, const char *more, size_t length);

void rl_text_number(struct rl_text *text, u64 value);

/* Hexadecimal, without 0x, with zeros in front up to @digits. */
void rl_text_hex(struct rl_text *text, u64 value, u32 digits);

/* A line "PREFIXKEY: VALUE". */
void rl_text_pair(struct rl_text *text, const char *prefix, const char *key, u64 value);

#endif
