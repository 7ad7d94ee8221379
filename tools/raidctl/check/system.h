/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reading what the rules of raidctl check look at; changes nothing. */

#ifndef CHECK_SYSTEM_H
#define CHECK_SYSTEM_H

#include <stddef.h>

#include "check/check.h"

/**
 * facts_read - look at this machine for a second
 * @disks: whose drivers are needed
 * @nr_disks: how many
 * @ret: all but data_bytes, to be given to facts_free(), also after a failure
 *
 * Needs no privilege; without it the I/O of other users' processes is not
 * known.  What cannot be read is marked as not known.
 *
 * Return: 0 or -errno.
 */
int facts_read(const struct disk *disks, size_t nr_disks, struct facts *ret);
void facts_free(struct facts *facts);

/* parse_memory - a line of /proc/meminfo into @facts; pure */
void parse_memory(const char *line, struct facts *facts);

#endif
