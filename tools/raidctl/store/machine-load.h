/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a recording holds beside the disks, as read back. */

#ifndef STORE_MACHINE_LOAD_H
#define STORE_MACHINE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "store/machine.h"

/**
 * struct host_sum - rows of the table host that lie in one phase, together
 * @phase: its number
 * @source: cpu or command
 * @name: of the number
 * @value: in the unit that the table has for @name
 */
struct host_sum {
	uint32_t phase;
	char source[HOST_NAME];
	char name[HOST_NAME];
	int64_t value;
};

/**
 * struct besides - of one recording
 * @nr_disturbances: length of @disturbances
 * @disturbances: in order of time
 * @nr_stacked: length of @stacked
 * @stacked: which disk is part of which
 * @nr_notes: length of @notes
 * @notes: in order of time
 * @nr_sums: length of @sums
 * @sums: of the sources cpu and command
 */
struct besides {
	size_t nr_disturbances;
	struct disturbance *disturbances;
	size_t nr_stacked;
	struct stacked *stacked;
	size_t nr_notes;
	struct note_row *notes;
	size_t nr_sums;
	struct host_sum *sums;
};

/**
 * besides_load - read all of it
 * @store: open
 * @ret: to be given to besides_free(), also after a failure
 *
 * Return: 0 or -errno.
 */
int besides_load(struct store *store, struct besides *ret);
void besides_free(struct besides *besides);

/* besides_sum - a sum of one phase, 0 when there is no row */
int64_t besides_sum(const struct besides *besides, uint32_t phase,
		    const char *source, const char *name);

#endif
