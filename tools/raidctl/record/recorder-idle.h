/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Disks that do nothing need no snapshot at each sample: a look at
 * /proc/diskstats, one for all disks, tells that nothing was begun or ended.
 * Their sample goes on until something does, or for a second.
 */

#ifndef RECORD_RECORDER_IDLE_H
#define RECORD_RECORDER_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/proc.h"

/* The numbers of a line of /proc/diskstats; newer kernels may have more. */
#define IDLE_LINE	256

/**
 * struct idle_line - of one disk, as it was at its last sample
 * @text: "" when that is not known
 */
struct idle_line {
	char text[IDLE_LINE];
};

/**
 * idle_since - did nothing happen to a disk since its last sample?
 * @text: of /proc/diskstats now, NULL when it cannot be read
 * @major: of the disk
 * @minor: of the disk
 * @last: its line at the last sample; takes the line now unless it is idle
 *
 * Return: whether no request ended or was begun, and none is in flight.
 */
bool idle_since(const char *text, unsigned int major, unsigned int minor,
		struct idle_line *last);

#endif
