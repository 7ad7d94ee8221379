/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums of what was stored: one span per phase and disk. */

#ifndef STORE_LOAD_H
#define STORE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"
#include "store/store.h"

/* Name of the phase before, between and after those that a program names. */
#define PHASE_OUTSIDE	"outside"

/**
 * struct pair - a fact
 * @name: key of meta
 * @value: its value
 */
struct pair {
	char *name;
	char *value;
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
 * struct recording - what is shown when a recording ends, or of disks that are counted now
 * @nr_meta: length of @meta
 * @meta: facts about the whole
 * @nr_spans: length of @spans
 * @spans: in order of phase, then target; phases without a sample are left out
 */
struct recording {
	size_t nr_meta;
	struct pair *meta;
	size_t nr_spans;
	struct span *spans;
};

/**
 * recording_load - sum what was written
 * @store: of store_create()
 * @ret: to be given to recording_free(), also after a failure
 *
 * Of the counters of spans those of directions, and histograms.
 *
 * Return: 0 or -errno, store_error() has words.
 */
int recording_load(struct store *store, struct recording *ret);
void recording_free(struct recording *recording);

/* recording_meta - value of a key, "" when there is none */
const char *recording_meta(const struct recording *recording, const char *key);

#endif
