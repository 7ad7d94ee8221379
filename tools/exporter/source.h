/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the exporter shows: the module's counters now. */

#ifndef EXPORTER_SOURCE_H
#define EXPORTER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * source_text - OpenMetrics text of what is counted now
 * @cgroups: what is charged to each cgroup too
 * @size: length of the text
 * @why: what went wrong, for a reader
 * @why_size: room for it
 *
 * A module that is not loaded is no failure: the text says so.
 *
 * Return: text to free(); NULL on failure.
 */
char *source_text(bool cgroups, size_t *size,
		  char *why, size_t why_size);

#endif
