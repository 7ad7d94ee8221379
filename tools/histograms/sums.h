/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What bin-sums adds up, and where it keeps it. */

#ifndef SUMS_H
#define SUMS_H

#include <stddef.h>
#include <stdint.h>

#define MOST_HISTOGRAMS 128
#define MOST_SUMS (1 << 25) /* of all histograms: 256 MiB */

/* Fields of a row of samples. */
enum { SAMPLE, READ, WRITE = READ + 3, IDLE = WRITE + 3, SEEKS, FIELDS };

struct group {
	int64_t target, phase;
};

struct rows {
	int64_t *at;
	size_t nr, room; /* numbers */
};

extern struct rows samples, places;
extern size_t nr_histograms;

/* Say why and end. */
void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...);

/* The memory, if there was any. */
void *must(void *memory);

/* sums_begin - before anything is counted; @nr groups of samples */
void sums_begin(size_t nr);

/* The number of a histogram, a new one if need be; "direction kind" of a number. */
size_t histogram_of(const char *direction, const char *kind);
const char *histogram_name(size_t histogram);

/* Add one bin of one sample, which is of that group. */
void sums_add(size_t histogram, size_t group, int64_t sample, int64_t bin, int64_t n);

/* A row for each sum that is not 0. */
void sums_list(const struct group *groups, size_t nr, struct rows *to);

#endif
