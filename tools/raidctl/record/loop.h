/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The time of a recording: wait, sample, cut, until there is a reason to stop. */

#ifndef RECORD_LOOP_H
#define RECORD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "phase/phase.h"
#include "record/child.h"
#include "record/machine.h"
#include "record/recorder.h"

/* The line that says how a recording goes. */

/**
 * struct record_progress - sums when the line was shown last
 * @shown_ns: when
 * @bytes: completed, of all disks
 * @issued: requests
 * @sequential: of them
 * @depth_ns: in flight times time, summed over disks
 */
struct record_progress {
	uint64_t shown_ns;
	double bytes;
	double issued;
	double sequential;
	double depth_ns;
};

/**
 * record_progress_show - replace the line, at most twice a second
 * @progress: zeroed before the first call
 * @recorder: begun
 * @phase: what the command does now, NULL for nothing that it names
 * @left_ns: time left, 0 when it is not known
 */
void record_progress_show(struct record_progress *progress,
			  const struct recorder *recorder, const char *phase,
			  uint64_t left_ns);

/* Name of the phase of a command that names none, or of no command. */
#define PHASE_RUN "run"

/* Ten minutes of the shortest; a day then has less than 45,000. */
#define FOLLOW_SAMPLES	6000

/**
 * struct follow - one recording while it runs
 * @recorder: begun
 * @surroundings: begun, or zeroed for none
 * @store: that it writes to, for the words of a failure
 * @cutter: set up for the command
 * @command: ends with NULL; NULL to record until a signal or @duration_ns
 * @interval_ns: length of a sample now
 * @steady: it does not change; else it doubles after FOLLOW_SAMPLES of one
 *	length
 * @nr_samples: taken of that length
 * @duration_ns: stop then, 0 for never; a command gets SIGINT
 * @phase: first phase, NULL for the one that fits the command
 * @socket: path where marks are taken, "" for none
 * @progress: of the line on a terminal
 * @child: the command once it has been started
 * @signal: the first signal that stops the recording, 0: none yet
 * @over: it was none, but @duration_ns
 * @nr_signals: how many did
 * @exec_error: -errno when the command could not be executed
 * @store_error: -errno when a sample could not be taken or stored
 */
struct follow {
	struct recorder *recorder;
	struct store *store;
	struct phase_cutter cutter;
	char **command;
	uint64_t interval_ns;
	bool steady;
	unsigned int nr_samples;
	uint64_t duration_ns;
	const char *phase;
	char socket[108];
	struct surroundings surroundings;
	struct record_progress progress;
	struct child child;
	int signal;
	bool over;
	unsigned int nr_signals;
	int exec_error;
	int store_error;
};

/**
 * follow_prepare - from here on signals end a recording in order
 *
 * Return: file descriptor that follow_run() reads signals from, or -errno.
 */
int follow_prepare(void);

/**
 * follow_run - sample until the command ends, a signal comes, the duration is
 *	over or no disk is left
 * @follow: filled in up to duration_ns
 * @signals: from follow_prepare()
 *
 * When it returns the last sample is still to be taken: recorder_end().
 */
void follow_run(struct follow *follow, int signals);

#endif
