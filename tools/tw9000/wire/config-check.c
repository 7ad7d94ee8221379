// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules that tie several keys together. */
#include "config-check.h"

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

const char *tw_config_conflict(const struct tw_config *config, const char **key)
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
