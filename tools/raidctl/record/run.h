/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One recording from attaching to the summary. */

#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/args.h"
#include "disk/disk.h"
#include "phase/phase.h"
#include "raidtrace.h"
#include "record/background.h"

/**
 * struct record_run - what is to be recorded how
 * @client: connected and privileged
 * @info: the module
 * @path: of the recording, which does not exist or is to be replaced
 * @replace: it is
 * @phase: name of the first phase, NULL for the usual
 * @notes: that are kept with it
 * @streams: that are remembered, 0 for the module's default
 * @events: requests are kept one by one, too
 * @interval_ns: length of a sample
 * @steady: of all of them
 * @duration_ns: of the recording, 0 until something else ends it
 * @quiet: no summary
 * @command: ends with NULL; NULL for none
 * @cutter: set up for @command
 * @detached: who is told that it has begun, NULL for nobody
 */
struct record_run {
	struct rt_client *client;
	const struct rt_info *info;
	const char *path;
	bool replace;
	const char *phase;
	struct words notes;
	uint32_t streams;
	bool events;
	uint64_t interval_ns;
	bool steady;
	uint64_t duration_ns;
	bool quiet;
	char **command;
	struct phase_cutter cutter;
	struct detached *detached;
};

/**
 * record_run - attach, record, detach, sum up
 * @run: filled in
 * @disks: what to record
 * @nr: how many
 *
 * Return: exit status; failures have been printed.
 */
int record_run(const struct record_run *run, const struct disk *disks,
	       size_t nr);

#endif
