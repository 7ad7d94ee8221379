// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of keys, and the strict parser that fills a tw_config from it. */
#include "config.h"

enum tw_key_type { TW_KEY_U32, TW_KEY_U64, TW_KEY_TEXT, TW_KEY_LEVEL };

struct tw_key {
	const char *name;
	size_t offset;
	enum tw_key_type type;
	u64 low;		/* numbers: smallest value; text: 0 */
	u64 high;		/* numbers: largest value; text: buffer size */
	u64 preset;
	const char *preset_text;
};

#define TW_AT(member)		offsetof(struct tw_config, member)
#define TW_NUMBER(key, member, low, high, preset) \
	{ key, TW_AT(member), TW_KEY_U32, low, high, preset, NULL }
#define TW_TEXT(key, member, preset) \
	{ key, TW_AT(member), TW_KEY_TEXT, 0, sizeof(((struct tw_config *)0)->member), 0, preset }

#define TW_WIDE(key, member, low, high, preset) \
	{ key, TW_AT(member), TW_KEY_U64, low, high, preset, NULL }
#define TW_AT_COMMAND(name, kind) \
	TW_NUMBER("fault." name "_command", fault.trigger[kind].command, 0, 0xffffffffU, 0)
#define TW_AT_MS(name, kind) \
	TW_NUMBER("fault." name "_ms", fault.trigger[kind].ms, 0, 0xffffffffU, 0)
#define TW_AT_LBA(name, kind) \
	TW_WIDE("fault." name "_lba", fault.trigger[kind].lba, 0, 1ULL << 40, 0)

static const struct tw_key tw_keys[] = {
	TW_TEXT("name", name, "unnamed"),
	TW_NUMBER("store_mib", store_mib, 4, 1 << 20, 64),
	TW_NUMBER("log_entries", log_entries, 1, 1 << 30, 2000000),
	TW_NUMBER("controller.device_id", controller.device_id, 0x1002, 0x1005, 0x1002),
	TW_NUMBER("controller.ports", controller.ports, 1, 255, 12),
	TW_NUMBER("controller.srl", controller.srl, 24, 35, 24),
	TW_NUMBER("controller.write_cache_reported", controller.write_cache_reported, 0, 1, 0),
	TW_NUMBER("controller.command_us", controller.command_us, 0, 1000000, 20),
	TW_NUMBER("controller.latency_us", controller.latency_us, 0, 1000000, 1000),
	TW_NUMBER("controller.read_kib_s", controller.read_kib_s, 1024, 100000000, 500000),
	TW_NUMBER("controller.write_kib_s", controller.write_kib_s, 1024, 100000000, 250000),
	TW_NUMBER("controller.parity_kib_s", controller.parity_kib_s, 1024, 100000000, 400000),
	TW_NUMBER("controller.gather_ms", controller.gather_ms, 0, 60000, 100),
	TW_NUMBER("controller.cache_mib", controller.cache_mib, 0, 4096, 64),
	TW_TEXT("controller.firmware", controller.firmware, "FE9X 0.00.00.000"),
	TW_TEXT("controller.bios", controller.bios, "BE9X 0.00.00.000"),
	TW_TEXT("controller.vendor", controller.vendor, "3ware"),
	TW_TEXT("controller.product", controller.product, "Logical Disk"),
	TW_TEXT("controller.revision", controller.revision, "1.00"),
	{ "array.level", TW_AT(array.level), TW_KEY_LEVEL, 0, 0, TW_LEVEL_RAID0, NULL },
	TW_NUMBER("array.drives", array.drives, 1, TW_MAX_DRIVES, 12),
	TW_NUMBER("array.stripe_kib", array.stripe_kib, 4, 1024, 64),
	TW_NUMBER("array.units", array.units, 1, TW_MAX_UNITS, 1),
	TW_NUMBER("array.initialize", background.initialize, 0, 1, 0),
	TW_NUMBER("array.verify", background.verify, 0, 1, 0),
	TW_NUMBER("array.background_kib", background.kib, 4, 65536, 256),
	TW_NUMBER("array.background_pause_us", background.pause_us, 0, 10000000, 10000),
	TW_WIDE("drive.sectors", drive.sectors, 1 << 16, 1ULL << 36, 145226112),
	TW_NUMBER("drive.rpm", drive.rpm, 1000, 30000, 10000),
	TW_NUMBER("drive.seek_track_us", drive.seek_track_us, 0, 50000, 600),
	TW_NUMBER("drive.seek_average_us", drive.seek_average_us, 0, 100000, 4500),
	TW_NUMBER("drive.seek_full_us", drive.seek_full_us, 0, 200000, 10200),
	TW_NUMBER("drive.write_settle_us", drive.write_settle_us, 0, 50000, 1400),
	TW_NUMBER("drive.media_outer_kib_s", drive.media_outer_kib_s, 1024, 10000000, 70312),
	TW_NUMBER("drive.media_inner_kib_s", drive.media_inner_kib_s, 1024, 10000000, 52734),
	TW_NUMBER("drive.interface_kib_s", drive.interface_kib_s, 1024, 10000000, 146484),
	TW_NUMBER("drive.command_us", drive.command_us, 0, 100000, 100),
	TW_NUMBER("drive.cache_kib", drive.cache_kib, 64, 1 << 20, 8192),
	TW_NUMBER("drive.segments", drive.segments, 1, 16, 16),
	TW_NUMBER("drive.read_ahead", drive.read_ahead, 0, 1, 1),
	TW_NUMBER("drive.slow_member", drive.slow_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("drive.slow_factor", drive.slow_factor, 1, 1000, 10),
	TW_NUMBER("fault.unit", fault.unit, 0, TW_MAX_UNITS - 1, 0),
	TW_AT_COMMAND("lose", TW_FAULT_LOSE),
	TW_AT_MS("lose", TW_FAULT_LOSE),
	TW_AT_LBA("lose", TW_FAULT_LOSE),
	TW_AT_COMMAND("medium", TW_FAULT_MEDIUM),
	TW_AT_MS("medium", TW_FAULT_MEDIUM),
	TW_WIDE("fault.medium_lba", fault.medium_lba, 0, 1ULL << 40, 0),
	TW_NUMBER("fault.medium_sectors", fault.medium_sectors, 1, 1 << 30, 1),
	TW_AT_COMMAND("slow", TW_FAULT_SLOW),
	TW_AT_MS("slow", TW_FAULT_SLOW),
	TW_AT_LBA("slow", TW_FAULT_SLOW),
	TW_NUMBER("fault.slow_member", fault.slow_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("fault.slow_factor", fault.slow_factor, 1, 1000, 10),
	TW_AT_COMMAND("remove", TW_FAULT_REMOVE),
	TW_AT_MS("remove", TW_FAULT_REMOVE),
	TW_AT_LBA("remove", TW_FAULT_REMOVE),
	TW_NUMBER("fault.remove_member", fault.remove_member, 0, TW_MAX_DRIVES, 0),
	TW_NUMBER("fault.replace_ms", fault.replace_ms, 0, 0xffffffffU, 0),
	TW_AT_COMMAND("reset", TW_FAULT_RESET),
	TW_AT_MS("reset", TW_FAULT_RESET),
	TW_AT_LBA("reset", TW_FAULT_RESET),
	TW_AT_COMMAND("full", TW_FAULT_FULL),
	TW_AT_MS("full", TW_FAULT_FULL),
	TW_AT_LBA("full", TW_FAULT_FULL),
	TW_NUMBER("fault.full_for_ms", fault.full_for_ms, 1, 1000000, 100),
	TW_AT_COMMAND("gone", TW_FAULT_GONE),
	TW_AT_MS("gone", TW_FAULT_GONE),
	TW_AT_LBA("gone", TW_FAULT_GONE),
};

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
	for (i = 0; i < TW_COUNT(tw_keys); i++)
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

static bool tw_is_triggered(const struct tw_config *config, enum tw_fault_kind kind)
{
	const struct tw_trigger *trigger = &config->fault.trigger[kind];

	return trigger->command || trigger->ms || trigger->lba;
}

/* A fault that has a place has a time, and the other way round. */
static bool tw_check_faults(const struct tw_config *config, char *error)
{
	const struct tw_fault_config *fault = &config->fault;
	u32 drives = config->array.units * config->array.drives;
	bool redundant = config->array.level != TW_LEVEL_SINGLE &&
			 config->array.level != TW_LEVEL_RAID0;

	if (config->drive.slow_member > drives)
		return tw_refuse_key(error, "drive.slow_member", "there are not so many drives");
	if (fault->slow_member > drives)
		return tw_refuse_key(error, "fault.slow_member", "there are not so many drives");
	if (fault->remove_member > drives)
		return tw_refuse_key(error, "fault.remove_member", "there are not so many drives");
	if (!fault->slow_member != !tw_is_triggered(config, TW_FAULT_SLOW))
		return tw_refuse_key(error, "fault.slow_member",
				     "goes with fault.slow_command, slow_ms or slow_lba");
	if (!fault->remove_member != !tw_is_triggered(config, TW_FAULT_REMOVE))
		return tw_refuse_key(error, "fault.remove_member",
				     "goes with fault.remove_command, remove_ms or remove_lba");
	if (fault->replace_ms && !(fault->remove_member && redundant))
		return tw_refuse_key(error, "fault.replace_ms",
				     "needs fault.remove_member and a level with redundancy");
	if (fault->unit >= config->array.units)
		return tw_refuse_key(error, "fault.unit", "there are not so many units");
	if ((config->background.initialize || config->background.verify) && !redundant)
		return tw_refuse_key(error, "array.level",
				     "has nothing to initialize or verify");
	if (config->background.initialize && config->background.verify)
		return tw_refuse_key(error, "array.verify",
				     "comes after array.initialize, not with it");
	return true;
}

/* Rules that tie several keys together. */
static bool tw_check(const struct tw_config *config, char *error)
{
	static const char name[] = "array.drives";
	static const char seek[] = "drive.seek_average_us";
	static const char media[] = "drive.media_inner_kib_s";
	static const char stripe[] = "array.stripe_kib";
	const struct tw_slice drives = { name, sizeof(name) - 1 };
	const struct tw_array_config *array = &config->array;
	const struct tw_drive_config *drive = &config->drive;

	if (array->units * array->drives > TW_MAX_DRIVES)
		return tw_refuse(error, &drives, "times array.units is more than 32");
	if (array->level == TW_LEVEL_SINGLE && array->drives != 1)
		return tw_refuse(error, &drives, "must be 1 for level single");
	if (array->level == TW_LEVEL_RAID1 && array->drives != 2)
		return tw_refuse(error, &drives, "must be 2 for raid1");
	if (array->level == TW_LEVEL_RAID5 && array->drives < 3)
		return tw_refuse(error, &drives, "must be at least 3 for raid5");
	if (array->level == TW_LEVEL_RAID10 && (array->drives < 4 || array->drives % 2))
		return tw_refuse(error, &drives, "must be even and at least 4 for raid10");
	if (array->level == TW_LEVEL_RAID0 && array->drives < 2)
		return tw_refuse(error, &drives, "must be at least 2 for raid0");
	if (array->stripe_kib & (array->stripe_kib - 1))
		return tw_refuse(error, &(struct tw_slice){ stripe, sizeof(stripe) - 1 },
				 "must be a power of two");
	if (drive->seek_track_us > drive->seek_average_us ||
	    drive->seek_average_us > drive->seek_full_us)
		return tw_refuse(error, &(struct tw_slice){ seek, sizeof(seek) - 1 },
				 "must lie between drive.seek_track_us and drive.seek_full_us");
	if (drive->media_inner_kib_s > drive->media_outer_kib_s)
		return tw_refuse(error, &(struct tw_slice){ media, sizeof(media) - 1 },
				 "is more than drive.media_outer_kib_s");
	return tw_check_faults(config, error);
}

static void tw_preset(struct tw_config *config)
{
	size_t i, length;

	tw_fill(config, 0, sizeof(*config));
	for (i = 0; i < TW_COUNT(tw_keys); i++) {
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
	return tw_check(config, error);
}
