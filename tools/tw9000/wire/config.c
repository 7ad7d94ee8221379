// SPDX-License-Identifier: GPL-2.0-or-later
/* The strict parser that fills a tw_config from key=value pairs. */
#include "config-check.h"
#include "config-keys.h"

static const char *const tw_levels[] = {
	[TW_LEVEL_SINGLE] = "single", [TW_LEVEL_RAID0] = "raid0", [TW_LEVEL_RAID1] = "raid1",
	[TW_LEVEL_RAID5] = "raid5", [TW_LEVEL_RAID10] = "raid10",
};

/* A slice of the text that is being parsed. */
struct tw_slice {
	const char *at;
	size_t length;
};

const char *tw_level_name(u32 level)
{
	return level < TW_COUNT(tw_levels) ? tw_levels[level] : "unknown";
}

static void tw_say(char *error, const char *text, size_t length)
{
	size_t used = 0;

	while (error[used])
		used++;
	while (length-- && *text && used < TW_CONFIG_ERROR_BYTES - 1)
		error[used++] = *text++;
	error[used] = '\0';
}

static void tw_say_number(char *error, u64 value)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	tw_say(error, digits + at, sizeof(digits));
}

static bool tw_refuse(char *error, const struct tw_slice *pair, const char *why)
{
	error[0] = '\0';
	tw_say(error, pair->at, tw_min(pair->length, 80));
	tw_say(error, ": ", 2);
	tw_say(error, why, TW_CONFIG_ERROR_BYTES);
	return false;
}

static bool tw_equal(const struct tw_slice *slice, const char *text)
{
	size_t i;

	for (i = 0; i < slice->length; i++)
		if (!text[i] || slice->at[i] != text[i])
			return false;
	return !text[i];
}

/* Decimal, or hexadecimal after 0x. Refuses anything else, and overflow. */
static bool tw_parse_number(const struct tw_slice *slice, u64 *value)
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

static void tw_store_number(struct tw_config *config, const struct tw_key *key, u64 value)
{
	u8 *at = (u8 *)config + key->offset;

	if (key->type == TW_KEY_U64)
		*(u64 *)at = value;
	else
		*(u32 *)at = (u32)value;
}

static bool tw_set_text(struct tw_config *config, const struct tw_key *key,
			const struct tw_slice *value)
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

static bool tw_set_level(struct tw_config *config, const struct tw_slice *value)
{
	u32 level;

	for (level = 0; level < TW_COUNT(tw_levels); level++)
		if (tw_equal(value, tw_levels[level])) {
			config->array.level = level;
			return true;
		}
	return false;
}

static bool tw_set(struct tw_config *config, const struct tw_key *key, const struct tw_slice *pair,
		   const struct tw_slice *value, char *error)
{
	u64 number;

	if (key->type == TW_KEY_TEXT)
		return tw_set_text(config, key, value) || tw_refuse(error, pair, "text too long");
	if (key->type == TW_KEY_LEVEL)
		return tw_set_level(config, value) ||
		       tw_refuse(error, pair, "not one of single, raid0, raid1, raid5, raid10");
	if (!tw_parse_number(value, &number))
		return tw_refuse(error, pair, "not a number");
	if (number < key->low || number > key->high) {
		tw_refuse(error, pair, "out of range, allowed are ");
		tw_say_number(error, key->low);
		tw_say(error, " to ", 4);
		tw_say_number(error, key->high);
		return false;
	}
	tw_store_number(config, key, number);
	return true;
}

static bool tw_parse_pair(struct tw_config *config, const struct tw_slice *pair, char *error)
{
	struct tw_slice key = { pair->at, 0 }, value;
	size_t i;

	while (key.length < pair->length && pair->at[key.length] != '=')
		key.length++;
	if (!pair->length)
		return tw_refuse(error, &(struct tw_slice){ ",", 1 }, "nothing before it");
	if (key.length == pair->length)
		return tw_refuse(error, pair, "not key=value");
	value.at = pair->at + key.length + 1;
	value.length = pair->length - key.length - 1;
	for (i = 0; i < tw_nr_keys; i++)
		if (tw_equal(&key, tw_keys[i].name))
			return tw_set(config, &tw_keys[i], pair, &value, error);
	return tw_refuse(error, &key, "unknown key");
}

static bool tw_refuse_key(char *error, const char *key, const char *why)
{
	struct tw_slice slice = { key, 0 };

	while (key[slice.length])
		slice.length++;
	return tw_refuse(error, &slice, why);
}

static void tw_preset(struct tw_config *config)
{
	size_t i, length;

	tw_fill(config, 0, sizeof(*config));
	for (i = 0; i < tw_nr_keys; i++) {
		const struct tw_key *key = &tw_keys[i];

		if (key->type == TW_KEY_TEXT) {
			for (length = 0; key->preset_text[length]; length++)
				;
			tw_copy((u8 *)config + key->offset, key->preset_text, length + 1);
		} else {
			tw_store_number(config, key, key->preset);
		}
	}
}

bool tw_config_parse(struct tw_config *config, const char *text, char error[TW_CONFIG_ERROR_BYTES])
{
	struct tw_slice pair = { text, 0 };
	const char *key = NULL, *why;

	error[0] = '\0';
	tw_preset(config);
	while (*pair.at) {
		pair.length = 0;
		while (pair.at[pair.length] && pair.at[pair.length] != ',')
			pair.length++;
		if (!tw_parse_pair(config, &pair, error))
			return false;
		pair.at += pair.length;
		if (*pair.at == ',') {
			pair.at++;
			if (!*pair.at)
				return tw_refuse(error, &(struct tw_slice){ ",", 1 },
						 "nothing after the last comma");
		}
	}
	why = tw_config_conflict(config, &key);
	return !why || tw_refuse_key(error, key, why);
}

void tw_config_select(struct tw_config *config, u32 number)
{
	config->number = number;
	if (number == config->fault.controller)
		return;
	tw_fill(&config->fault, 0, sizeof(config->fault));
	config->drive.slow_member = 0;
}
