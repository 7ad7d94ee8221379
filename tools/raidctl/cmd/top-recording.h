/* SPDX-License-Identifier: GPL-2.0-or-later */

/* raidctl top of a recording. */

#ifndef CMD_TOP_RECORDING_H
#define CMD_TOP_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/* is_recording - does a word name a file, and no disk? */
bool is_recording(const char *word);

/**
 * top_recording - step through a recording, from its begin
 * @path: the file
 * @interval_ns: how long an interval is
 *
 * Return: an exit status; the failure has been printed.
 */
int top_recording(const char *path, uint64_t interval_ns);

#endif
