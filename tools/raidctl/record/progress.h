/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The line that says how a recording goes. */

#ifndef RECORD_PROGRESS_H
#define RECORD_PROGRESS_H

#include <stdint.h>

#include "record/recorder.h"

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

#endif
