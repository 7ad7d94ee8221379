/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One recording from attaching to the summary. */

#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/args.h"
#include "disk/disk.h"
#include "phase/phase.h"
#include "raidtrace.h"
#include "store/store.h"

/**
 * struct record_run - what is to be recorded how
 * @client: connected and privileged
 * @info: the module
 * @path: of the recording, which does not exist or is to be replaced
 * @replace: it is
 * @phase: name of the first phase, NULL for the usual
 * @notes: that are kept with it
 * @streams: that are remembered, 0 for the module's default
 * @hwq: hardware queues are counted, too
 * @events: requests are kept one by one, too
 * @interval_ns: length of a sample
 * @steady: of all of them
 * @duration_ns: of the recording, 0 until something else ends it
 * @quiet: no summary
 * @command: ends with NULL; NULL for none
 * @cutter: set up for @command
 * @detached: notified when the recording begins, NULL for nobody
 */
struct record_run {
	struct rt_client *client;
	const struct rt_info *info;
	const char *path;
	bool replace;
	const char *phase;
	struct words notes;
	uint32_t streams;
	bool hwq;
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

/* What a recording says of itself: what was run where, by what. */

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

/* A recording that goes on without a terminal, and its end. */

/**
 * struct detached - of this process
 * @ready: tells the process that waits; -1 when none does
 * @log: file that takes what raidctl and the command print
 */
struct detached {
	int ready;
	char log[PATH_MAX];
};

/**
 * detached_fork - go on in another process
 * @detached: for detached_begun()
 * @path: of the recording; the log is that with ".log"
 *
 * The first process waits for detached_begun(), says how to end the recording
 * and exits; if the other fails before, it exits with its status.
 *
 * Return: 0 in the new process; -errno in the first, which then goes on.
 */
int detached_fork(struct detached *detached, const char *path);

/**
 * detached_begun - the recording runs: release the terminal
 * @detached: from detached_fork()
 *
 * Return: 0 or -errno; then nothing has changed.
 */
int detached_begun(struct detached *detached);

/**
 * detached_stop - end a recording and wait until it has ended
 * @id: its number, NULL for the only one that is detached
 *
 * Return: exit status; what happened has been printed.
 */
int detached_stop(const char *id);

#endif
