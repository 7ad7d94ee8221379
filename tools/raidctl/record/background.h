/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A recording that goes on without a terminal, and its end. */

#ifndef RECORD_BACKGROUND_H
#define RECORD_BACKGROUND_H

#include <limits.h>
#include <stddef.h>

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
 * detached_begun - the recording is under way: let go of the terminal
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
