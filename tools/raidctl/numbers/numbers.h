/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Numbers of exact counts: bounds of bins, groups of counters. Pure. */

#ifndef NUMBERS_NUMBERS_H
#define NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "raidtrace.h"

/* bins.c: the values of a bin; kmod/histogram.h has the bin of a value */

/*
 * The number of columns of a histogram with two dimensions, 0 for one dimension. Such a histogram has the bin row *
 * columns + column; bin_low() and bin_high() are those of the column.
 */
unsigned int bin_columns(enum raidtrace_histogram_kind kind);

/* The lowest value of a bin: sectors, requests, nanoseconds, or the bin itself. */
int64_t bin_low(enum raidtrace_histogram_kind kind, unsigned int bin);

/* The lowest value above a bin, INT64_MAX if the bin has no end. */
int64_t bin_high(enum raidtrace_histogram_kind kind, unsigned int bin);

/* groups.c: the counters of a source */

/* Room for the names of all groups. */
#define GROUPS_TEXT	160

/* Names of enum raidtrace_group flags, separated by blanks. @ret has room for GROUPS_TEXT bytes. */
char *groups_text(char *ret, uint32_t groups);

/* Does the source of a span count this kind of histogram? If not, an empty histogram is not 0, but not known. */
bool counts_kind(const struct rt_counters *counters, unsigned int kind);

/* Is a kind of histogram not known, if the counters of @unknown and of rt_disk.unknown are not known? */
bool kind_is_unknown(unsigned int kind, uint64_t unknown, uint32_t disk_unknown);

/* Is the counter at @offset of struct rt_origin not known? A disk without requests has only counters of bios. */
bool origin_unknown(uint64_t unknown, size_t offset);

/* Counters of one disk and, in a recording, of one phase; otherwise the phase is "". */
struct span {
	char phase[RT_NAME_MAX];
	const char *disk;
	bool bio_based;		/* md or dm: only bios are counted */
	struct rt_counters counters;
};

#endif
