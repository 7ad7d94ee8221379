// SPDX-License-Identifier: GPL-2.0-or-later
/* The strict parser that fills a tw_config from key=value pairs, and rules that tie several keys together. */
#include "config.h"

#define TW_MAX_UNITS_9500S	16	/* as many targets does the driver scan, but for the 9650SE and later */

static bool tw_is_redundant(const struct tw_config *config)
{
	return config->array.level != TW_LEVEL_SINGLE && config->array.level != TW_LEVEL_RAID0;
}

static const char *tw_check_drives(const struct tw_config *config, const char **key)
{
	const struct tw_array_config *array = &config->array;

	*key = "array.drives";
	if (array->units * array->drives > TW_MAX_DRIVES)
		return "times array.units is more than 32";
	if (array->level == TW_LEVEL_SINGLE && array->drives != 1)
		return "must be 1 for level single";
	if (array->level == TW_LEVEL_RAID1 && array->drives != 2)
		return "must be 2 for raid1";
	if (array->level == TW_LEVEL_RAID5 && array->drives < 3)
		return "must be at least 3 for raid5";
	if (array->level == TW_LEVEL_RAID10 && (array->drives < 4 || array->drives % 2))
		return "must be even and at least 4 for raid10";
	if (array->level == TW_LEVEL_RAID0 && array->drives < 2)
		return "must be at least 2 for raid0";
	return NULL;
}

static const char *tw_check_array(const struct tw_config *config, const char **key)
{
	const struct tw_array_config *array = &config->array;
	const struct tw_background_config *background = &config->background;

	*key = "array.units";
	if (array->units > TW_MAX_UNITS_9500S && config->controller.device_id < 0x1004)
		return "is more than 16, which only controllers from 0x1004 on have";
	*key = "array.stripe_kib";
	if (array->stripe_kib & (array->stripe_kib - 1))
		return "must be a power of two";
	*key = "array.level";
	if ((background->initialize || background->verify) && !tw_is_redundant(config))
		return "has nothing to initialize or verify";
	*key = "array.verify";
	if (background->initialize && background->verify)
		return "comes after array.initialize, not with it";
	return NULL;
}

static const char *tw_check_drive(const struct tw_config *config, const char **key)
{
	const struct tw_drive_config *drive = &config->drive;

	*key = "drive.seek_average_us";
	if (drive->seek_track_us > drive->seek_average_us ||
	    drive->seek_average_us > drive->seek_full_us)
		return "must lie between drive.seek_track_us and drive.seek_full_us";
	*key = "drive.media_inner_kib_s";
	if (drive->media_inner_kib_s > drive->media_outer_kib_s)
		return "is more than drive.media_outer_kib_s";
	*key = "drive.slow_member";
	if (drive->slow_member > config->array.units * config->array.drives)
		return "there are not so many drives";
	return NULL;
}

static bool tw_is_triggered(const struct tw_config *config, enum tw_fault_kind kind)
{
	const struct tw_trigger *trigger = &config->fault.trigger[kind];

	return trigger->command || trigger->ms || trigger->lba;
}

/* A fault that has a place has a time, and the other way round. */
static const char *tw_check_members(const struct tw_config *config, const char **key)
{
	const struct tw_fault_config *fault = &config->fault;
	u32 drives = config->array.units * config->array.drives;

	*key = "fault.slow_member";
	if (fault->slow_member > drives)
		return "there are not so many drives";
	if (!fault->slow_member != !tw_is_triggered(config, TW_FAULT_SLOW))
		return "goes with fault.slow_command, slow_ms or slow_lba";
	*key = "fault.remove_member";
	if (fault->remove_member > drives)
		return "there are not so many drives";
	if (!fault->remove_member != !tw_is_triggered(config, TW_FAULT_REMOVE))
		return "goes with fault.remove_command, remove_ms or remove_lba";
	*key = "fault.second_member";
	if (fault->second_member > drives)
		return "there are not so many drives";
	if (!fault->second_member != !tw_is_triggered(config, TW_FAULT_SECOND))
		return "goes with fault.second_command, second_ms or second_lba";
	if (fault->second_member && fault->second_member == fault->remove_member)
		return "is fault.remove_member, which is removed already";
	*key = "fault.replace_ms";
	if (fault->replace_ms && !(fault->remove_member && tw_is_redundant(config)))
		return "needs fault.remove_member and a level with redundancy";
	return NULL;
}

static const char *tw_check_faults(const struct tw_config *config, const char **key)
{
	*key = "fault.unit";
	if (config->fault.unit >= config->array.units)
		return "there are not so many units";
	*key = "fault.controller";
	if (config->fault.controller >= config->controller.count)
		return "there are not so many controllers";
	return tw_check_members(config, key);
}

/**
 * tw_config_conflict() - whether values that are allowed each go together
 * @config: all keys are within their bounds
 * @key: filled in: the key to be changed
 *
 * Return: what is wrong with it, NULL if nothing is.
 */
static const char *tw_config_conflict(const struct tw_config *config, const char **key)
{
	static const char *(*const checks[])(const struct tw_config *, const char **) = {
		tw_check_drives, tw_check_array, tw_check_drive, tw_check_faults,
	};
	const char *why = NULL;
	size_t i;

	for (i = 0; i < TW_COUNT(checks) && !why; i++)
		why = checks[i](config, key);
	return why;
}

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
