/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Groups of counters. Pure. */

#ifndef NUMBERS_NUMBERS_H
#define NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "raidtrace.h"

/* groups.c: the counters of a source */

/* Room for the names of all groups. */
#define GROUPS_TEXT	160

/* Names of enum raidtrace_group flags, separated by blanks. @ret has room for GROUPS_TEXT bytes. */
char *groups_text(char *ret, uint32_t groups);

/* Is a kind of histogram not known, if the counters of @unknown and of rt_disk.unknown are not known? */
bool kind_is_unknown(unsigned int kind, uint64_t unknown, uint32_t disk_unknown);

/* Is the counter at @offset of struct rt_origin not known? A disk without requests has only counters of bios. */
bool origin_unknown(uint64_t unknown, size_t offset);

#endif
