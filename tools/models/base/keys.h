/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated device as one flat list of key=value pairs, parsed strictly against the table of keys of its kind. */
#ifndef RL_KEYS_H
#define RL_KEYS_H

#include "types.h"

#define RL_CONFIG_ERROR_BYTES	160

/**
 * struct rl_config - the head of every device's configuration
 * @name: the profile's name, shown in the status
 * @number: of devices that are alike, which one this is, from 0; no key sets it
 * @count: devices of this profile
 * @store_mib: memory for the sectors' contents, of each device
 * @log_entries: capacity of the ground-truth log, of each device
 */
struct rl_config {
	char name[32];
	u32 number;
	u32 count;
	u32 store_mib;
	u32 log_entries;
};

enum rl_key_type { RL_KEY_U32, RL_KEY_U64, RL_KEY_TEXT, RL_KEY_CHOICE };

/**
 * struct rl_key - one key
 * @name: with its table in front
 * @offset: of the value in the configuration
 * @type: of the value; of a choice it is a u32, the number of the word
 * @low: numbers: smallest value; text: 0
 * @high: numbers: largest value; text: buffer size
 * @preset: value of a number or choice that is not set
 * @preset_text: the same for a text, else NULL
 * @choices: the words of a choice, NULL behind the last, else NULL
 */
struct rl_key {
	const char *name;
	size_t offset;
	enum rl_key_type type;
	u64 low;
	u64 high;
	u64 preset;
	const char *preset_text;
	const char *const *choices;
};

/* For a table of keys: @type is the structure of the configuration. */
#define RL_NUMBER(type, key, member, low, high, preset) \
	{ key, offsetof(type, member), RL_KEY_U32, low, high, preset, NULL, NULL }
#define RL_WIDE(type, key, member, low, high, preset) \
	{ key, offsetof(type, member), RL_KEY_U64, low, high, preset, NULL, NULL }
#define RL_TEXT(type, key, member, preset) \
	{ key, offsetof(type, member), RL_KEY_TEXT, 0, sizeof(((type *)0)->member), 0, preset, NULL }
#define RL_CHOICE(type, key, member, choices, preset) \
	{ key, offsetof(type, member), RL_KEY_CHOICE, 0, 0, preset, NULL, choices }

/**
 * struct rl_keys - the keys of one kind of device: the one list of them
 * @driver: name of the kind: the driver of Linux that its devices are for
 * @key: the keys
 * @nr: how many
 * @bytes: size of the configuration
 * @conflict: check values that are each in range against each other. Return: the error, with @key set, or NULL
 * @select: the configuration becomes that of device @number of those that are alike; NULL if they do not differ
 */
struct rl_keys {
	const char *driver;
	const struct rl_key *key;
	u32 nr;
	size_t bytes;
	const char *(*conflict)(const struct rl_config *config, const char **key);
	void (*select)(struct rl_config *config, u32 number);
};

/**
 * rl_keys_parse() - read "key=value,key=value,..." over the presets
 * @keys: of the kind of device
 * @config: filled in; @keys->bytes long
 * @text: the pairs; an underscore in a text value stands for a space. The key "device" is for rl_kind_of().
 * @error: says which key was refused and why
 *
 * Return: whether all of @text was accepted.
 */
bool rl_keys_parse(const struct rl_keys *keys, struct rl_config *config, const char *text,
		   char error[RL_CONFIG_ERROR_BYTES]);

/* Return: the first of @names, of which the last is NULL, whose number or choice is not its preset; NULL if all are. */
const char *rl_keys_changed(const struct rl_keys *keys, const struct rl_config *config,
			    const char *const *names);

/* Return: the first key "fault.*_lba" that names a sector beyond a disk of @sectors, NULL if none does. */
const char *rl_keys_beyond(const struct rl_keys *keys, const struct rl_config *config, u64 sectors);

#define RL_BEYOND	"is beyond the last sector of the disk"

/* The configuration becomes that of device @number, from 0, of those that are alike. */
void rl_keys_select(const struct rl_keys *keys, struct rl_config *config, u32 number);

/* Return: whether the first @length bytes of @at are all of @text. */
bool rl_keys_equal(const char *at, size_t length, const char *text);

#endif
