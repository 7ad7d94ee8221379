/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Groups of counters: which a source counts, and what belongs to which; pure. */

#ifndef NUMBERS_GROUPS_H
#define NUMBERS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raidtrace.h"

/* Room for the names of all groups. */
#define GROUPS_TEXT	160

/**
 * groups_text - names of groups, separated by blanks
 * @ret: room for GROUPS_TEXT bytes
 * @groups: enum raidtrace_group flags
 */
char *groups_text(char *ret, uint32_t groups);

/**
 * counts_group - does a span tell what belongs to a group?
 * @counters: the span; one that does not say has what ABI 1 had
 * @group: one flag of enum raidtrace_group
 */
bool counts_group(const struct rt_counters *counters, uint32_t group);

/**
 * counts_kind - does a span tell what a kind of histogram holds?
 * @counters: the span
 * @kind: enum raidtrace_histogram_kind; an empty histogram of a kind that is
 *	counted says that nothing happened, of another nothing at all
 */
bool counts_kind(const struct rt_counters *counters, unsigned int kind);

/**
 * origin_unknown - can the source not tell a counter of a class of bios?
 * @unknown: of struct rt_counters
 * @offset: of the counter in struct rt_origin
 *
 * A disk without requests has bios alone.
 */
bool origin_unknown(uint64_t unknown, size_t offset);

/* kind_needs - RT_COUNTER_BIT() of what a kind of histogram has the events of */
uint64_t kind_needs(unsigned int kind);

/* kind_needs_disk - RT_DISK_BIT() likewise */
uint32_t kind_needs_disk(unsigned int kind);

#endif
