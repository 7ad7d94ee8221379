/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a recording says of itself: what was run where, by what. */

#ifndef RECORD_META_H
#define RECORD_META_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/args.h"
#include "raidtrace.h"
#include "store/store.h"

/**
 * struct record_facts - about one recording
 * @info: the module
 * @tool_version: of raidctl
 * @start_ns: of the first sample
 * @interval_ns: of the first samples
 * @steady: of all
 * @command: ends with NULL; NULL for none
 * @notes: that the user wants to be kept
 */
struct record_facts {
	const struct rt_info *info;
	const char *tool_version;
	uint64_t start_ns;
	uint64_t interval_ns;
	bool steady;
	char **command;
	const struct words *notes;
};

/**
 * record_meta_put - store them, in a transaction of its own
 * @store: nobody else writes to it
 * @facts: what to store
 *
 * Return: 0 or -errno.
 */
int record_meta_put(struct store *store, const struct record_facts *facts);

#endif
