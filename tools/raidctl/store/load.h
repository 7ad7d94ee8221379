/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A recording as read back: who, what, and one span per phase and disk. */

#ifndef STORE_LOAD_H
#define STORE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"
#include "store/machine.h"
#include "store/store.h"

/* Name of the phase before, between and after those that a program names. */
#define PHASE_OUTSIDE	"outside"

/**
 * struct pair - a row of two or three texts
 * @name: key of meta, name of a setting
 * @value: its value
 * @target: the disk of a setting
 * @time_ns: when a setting was found or changed
 */
struct pair {
	char *name;
	char *value;
	uint32_t target;
	uint64_t time_ns;
};

/**
 * struct span - one disk in one phase
 * @phase: name of the phase, NULL for counters that no recording holds
 * @disk: name of the disk
 * @number: of the phase in its recording
 * @counters: what happened, all samples together
 */
struct span {
	char *phase;
	char *disk;
	uint32_t number;
	struct rt_counters counters;
};

/**
 * struct recording - all that a report needs
 * @path: the file
 * @nr_meta: length of @meta
 * @meta: rows of the meta table
 * @nr_targets: length of @targets
 * @targets: disks, index is the number they have in the file
 * @nr_settings: length of @settings
 * @settings: in order of time
 * @nr_spans: length of @spans
 * @spans: in order of phase, then target; phases without a sample are left out
 * @besides: what is not about disks
 */
struct recording {
	const char *path;
	size_t nr_meta;
	struct pair *meta;
	size_t nr_targets;
	struct rt_target *targets;
	size_t nr_settings;
	struct pair *settings;
	size_t nr_spans;
	struct span *spans;
	struct besides besides;
};

/**
 * recording_load - read what a report needs
 * @store: open
 * @phase: read only phases of that name, NULL for all
 * @ret: to be given to recording_free(), also after a failure
 *
 * Return: 0 or -errno, store_error() has words.
 */
int recording_load(struct store *store, const char *phase,
		   struct recording *ret);
void recording_free(struct recording *recording);

/* recording_meta - value of a key, "" when there is none */
const char *recording_meta(const struct recording *recording, const char *key);

/**
 * recording_setting - what a setting was at a time
 * @recording: loaded
 * @target: number of the disk
 * @name: of the setting
 * @time_ns: the last value found at or before that time is taken
 *
 * Return: text, NULL when it was not found by then.
 */
const char *recording_setting(const struct recording *recording,
			      uint32_t target, const char *name,
			      uint64_t time_ns);

#endif
