/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters of disks as OpenMetrics text, for Prometheus. */

#ifndef EXPORT_OPENMETRICS_H
#define EXPORT_OPENMETRICS_H

#include <stdio.h>

#include "numbers/numbers.h"

/* Labels of the metric recording_info; "" for one that is not known. */
struct metric_info {
	const char *hostname;
	const char *kernel;
	const char *tool_version;
};

/*
 * Print every total, and the end mark. Spans of one disk are one total. There is a counter for each column of flow, in
 * base units, with the labels disk and direction, and histograms. A value that is not known is left out: it is not 0.
 * Errors of @to stay in ferror(). Return: 0 or -ENOMEM.
 */
int openmetrics_write(FILE *to, const struct metric_info *info, const struct span *spans, size_t nr);

/* openmetrics-text.c: parts of families; a name is without raidtrace_ */

/* A label's value in quotes; what a terminal would obey is escaped. */
void metric_quoted(FILE *to, const char *text);

/* The begin of a family of an OpenMetrics type. The unit is the end of the name, NULL for none. */
void metric_head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help);

/* The label of a disk, and one more unless @label is NULL; more labels or the brace follow. */
void metric_labels(FILE *to, const char *disk, const char *label,
		   const char *value);

/* Nanoseconds as seconds, digit by digit: no bit is lost. */
void metric_seconds(FILE *to, uint64_t ns);

/*
 * Classic histograms of D2C, size and depth at issue. Every bound is the largest value of a bin, so that each count
 * is exact. The bounds are always the same ones, about one for each power of two. Return: 0 or -ENOMEM.
 */
int openmetrics_histograms(FILE *to, const struct span *spans, size_t nr);

/* Counters of each disk and cgroup; rows without a known cgroup are left out. Return: 0 or -ENOMEM. */
int openmetrics_cgroups(FILE *to, const struct span *spans, size_t nr);

#endif
