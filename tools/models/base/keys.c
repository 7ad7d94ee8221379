// SPDX-License-Identifier: GPL-2.0-or-later
/* The strict parser that fills a configuration from key=value pairs. */
#include "base.h"

/* A slice of the text that is being parsed. */
struct rl_slice {
	const char *at;
	size_t length;
};

static bool rl_refuse(struct rl_text *error, const struct rl_slice *pair, const char *why)
{
	rl_text_part(error, pair->at, rl_min(pair->length, 80));
	rl_text_add(error, ": ");
	rl_text_add(error, why);
	return false;
}

bool rl_keys_equal(const char *at, size_t length, const char *text)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (!text[i] || at[i] != text[i])
			return false;
	return !text[i];
}

static bool rl_equal(const struct rl_slice *slice, const char *text)
{
	return rl_keys_equal(slice->at, slice->length, text);
}

/* Decimal, or hexadecimal after 0x. Refuses anything else, and overflow. */
static bool rl_parse_number(const struct rl_slice *slice, u64 *value)
{
	size_t i = 0;
	u32 base = 10;

	if (slice->length > 2 && slice->at[0] == '0' && slice->at[1] == 'x') {
		base = 16;
		i = 2;
	}
	*value = 0;
	if (i == slice->length)
		return false;
	for (; i < slice->length; i++) {
		char c = slice->at[i];
		u32 digit = c >= '0' && c <= '9' ? (u32)(c - '0') :
			    c >= 'a' && c <= 'f' ? (u32)(c - 'a' + 10) : 16;

		if (digit >= base || *value > (~0ULL - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return true;
}

static u64 rl_number_of(const struct rl_config *config, const struct rl_key *key)
{
	const u8 *at = (const u8 *)config + key->offset;

	return key->type == RL_KEY_U64 ? *(const u64 *)at : *(const u32 *)at;
}

static void rl_put_number(struct rl_config *config, const struct rl_key *key, u64 value)
{
	u8 *at = (u8 *)config + key->offset;

	if (key->type == RL_KEY_U64)
		*(u64 *)at = value;
	else
		*(u32 *)at = (u32)value;
}

static bool rl_set_text(struct rl_config *config, const struct rl_key *key,
			const struct rl_slice *value)
{
	char *to = (char *)config + key->offset;
	size_t i;

	if (value->length >= key->high)
		return false;
	for (i = 0; i < value->length; i++)
		to[i] = value->at[i] == '_' ? ' ' : value->at[i];
	to[i] = '\0';
	return true;
}

static bool rl_set_choice(struct rl_config *config, const struct rl_key *key,
			  const struct rl_slice *pair, const struct rl_slice *value, struct rl_text *error)
{
	u32 i;

	for (i = 0; key->choices[i]; i++)
		if (rl_equal(value, key->choices[i])) {
			rl_put_number(config, key, i);
			return true;
		}
	rl_refuse(error, pair, "not one of ");
	for (i = 0; key->choices[i]; i++) {
		rl_text_add(error, i ? ", " : "");
		rl_text_add(error, key->choices[i]);
	}
	return false;
}

static bool rl_set(struct rl_config *config, const struct rl_key *key, const struct rl_slice *pair,
		   const struct rl_slice *value, struct rl_text *error)
{
	u64 number;

	if (key->type == RL_KEY_TEXT)
		return rl_set_text(config, key, value) || rl_refuse(error, pair, "text too long");
	if (key->type == RL_KEY_CHOICE)
		return rl_set_choice(config, key, pair, value, error);
	if (!rl_parse_number(value, &number))
		return rl_refuse(error, pair, "not a number");
	if (number < key->low || number > key->high) {
		rl_refuse(error, pair, "out of range, allowed are ");
		rl_text_number(error, key->low);
		rl_text_add(error, " to ");
		rl_text_number(error, key->high);
		return false;
	}
	rl_put_number(config, key, number);
	return true;
}

static bool rl_parse_pair(const struct rl_keys *keys, struct rl_config *config,
			  const struct rl_slice *pair, struct rl_text *error)
{
	struct rl_slice key = { pair->at, 0 }, value;
	size_t i;

	while (key.length < pair->length && pair->at[key.length] != '=')
		key.length++;
	if (!pair->length)
		return rl_refuse(error, &(struct rl_slice){ ",", 1 }, "nothing before it");
	if (key.length == pair->length)
		return rl_refuse(error, pair, "not key=value");
	value.at = pair->at + key.length + 1;
	value.length = pair->length - key.length - 1;
	if (rl_equal(&key, "device"))
		return true;
	for (i = 0; i < keys->nr; i++)
		if (rl_equal(&key, keys->key[i].name))
			return rl_set(config, &keys->key[i], pair, &value, error);
	return rl_refuse(error, &key, "unknown key");
}

static struct rl_slice rl_slice_of(const char *text)
{
	struct rl_slice slice = { text, 0 };

	while (text[slice.length])
		slice.length++;
	return slice;
}

static bool rl_same(const char *one, const char *other)
{
	return rl_keys_equal(one, rl_slice_of(one).length, other);
}

static bool rl_refuse_key(struct rl_text *error, const char *key, const char *why)
{
	const struct rl_slice slice = rl_slice_of(key);

	return rl_refuse(error, &slice, why);
}

static void rl_preset(const struct rl_keys *keys, struct rl_config *config)
{
	size_t i, length;

	rl_fill(config, 0, keys->bytes);
	for (i = 0; i < keys->nr; i++) {
		const struct rl_key *key = &keys->key[i];

		if (key->type == RL_KEY_TEXT) {
			for (length = 0; key->preset_text[length]; length++)
				;
			rl_copy((u8 *)config + key->offset, key->preset_text, length + 1);
		} else {
			rl_put_number(config, key, key->preset);
		}
	}
}

static bool rl_parse(const struct rl_keys *keys, struct rl_config *config, const char *text,
		     struct rl_text *error)
{
	struct rl_slice pair = { text, 0 };
	const char *key = NULL, *why;

	rl_preset(keys, config);
	while (*pair.at) {
		pair.length = 0;
		while (pair.at[pair.length] && pair.at[pair.length] != ',')
			pair.length++;
		if (!rl_parse_pair(keys, config, &pair, error))
			return false;
		pair.at += pair.length;
		if (*pair.at == ',') {
			pair.at++;
			if (!*pair.at)
				return rl_refuse(error, &(struct rl_slice){ ",", 1 },
						 "nothing after the last comma");
		}
	}
	why = keys->conflict(config, &key);
	return !why || rl_refuse_key(error, key, why);
}

bool rl_keys_parse(const struct rl_keys *keys, struct rl_config *config, const char *text,
		   char error[RL_CONFIG_ERROR_BYTES])
{
	struct rl_text message;

	rl_text_init(&message, error, RL_CONFIG_ERROR_BYTES);
	return rl_parse(keys, config, text, &message);
}

const char *rl_keys_changed(const struct rl_keys *keys, const struct rl_config *config,
			    const char *const *names)
{
	u32 i;

	for (; *names; names++)
		for (i = 0; i < keys->nr; i++) {
			const struct rl_key *key = &keys->key[i];

			if (rl_same(key->name, *names) && rl_number_of(config, key) != key->preset)
				return key->name;
		}
	return NULL;
}

static bool rl_is_place(const char *name)
{
	static const char begin[] = "fault.", end[] = "_lba";
	size_t length = rl_slice_of(name).length;

	return length > sizeof(begin) + sizeof(end) && rl_keys_equal(name, sizeof(begin) - 1, begin) &&
	       rl_keys_equal(name + length - (sizeof(end) - 1), sizeof(end) - 1, end);
}

const char *rl_keys_beyond(const struct rl_keys *keys, const struct rl_config *config, u64 sectors)
{
	u32 i;

	for (i = 0; i < keys->nr; i++)
		if (rl_is_place(keys->key[i].name) && rl_number_of(config, &keys->key[i]) >= sectors)
			return keys->key[i].name;
	return NULL;
}

void rl_keys_select(const struct rl_keys *keys, struct rl_config *config, u32 number)
{
	config->number = number;
	if (keys->select)
		keys->select(config, number);
}
