/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys that a profile may set: the one list of them. */
#ifndef TW_CONFIG_KEYS_H
#define TW_CONFIG_KEYS_H

#include "config.h"

enum tw_key_type { TW_KEY_U32, TW_KEY_U64, TW_KEY_TEXT, TW_KEY_LEVEL };

/**
 * struct tw_key - one key
 * @name: with its table in front
 * @offset: of the value in struct tw_config
 * @type: of the value
 * @low: numbers: smallest value; text: 0
 * @high: numbers: largest value; text: buffer size
 * @preset: numbers and levels: the value if nothing is said
 * @preset_text: the same for a text, else NULL
 */
struct tw_key {
	const char *name;
	size_t offset;
	enum tw_key_type type;
	u64 low;
	u64 high;
	u64 preset;
	const char *preset_text;
};

extern const struct tw_key tw_keys[];
extern const u32 tw_nr_keys;

#endif
