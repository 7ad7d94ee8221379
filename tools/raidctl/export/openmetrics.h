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
 * Print every total, and the end mark. All spans of a disk are added up. Each column of flow becomes a counter in base
 * units with the labels disk and direction; histograms follow. A value that is not known is left out, because it is not
 * 0. Errors of @to remain in ferror(). Return: 0 or -ENOMEM.
 */
int openmetrics_write(FILE *to, const struct metric_info *info, const struct span *spans, size_t nr);

/* openmetrics-text.c: parts of families; names are without the prefix raidtrace_ */

/* Print the value of a label in quotes. Control characters are escaped. */
void metric_quoted(FILE *to, const char *text);

/*
 * Print the head of a family of an OpenMetrics type. @unit is the end of the name, NULL for none; seconds for "ns".
 */
void metric_head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help);

/* Print the label of a disk, and one more unless @label is NULL. More labels or the closing brace follow. */
void metric_labels(FILE *to, const char *disk, const char *label,
		   const char *value);

/* Print nanoseconds as seconds, digit by digit, so that no bit is lost. */
void metric_seconds(FILE *to, uint64_t ns);

/* Print the total of a counter of this unit; nanoseconds ("ns") as seconds. */
void metric_total(FILE *to, const char *unit, uint64_t total);

/*
 * Print classic histograms of D2C, size and depth at issue. Each bound is the largest value of a bin, so that counts
 * are exact. The bounds are fixed, about one for each power of two. Return: 0 or -ENOMEM.
 */
int openmetrics_histograms(FILE *to, const struct span *spans, size_t nr);

/* Print the counters of each disk and cgroup. Rows without a known cgroup are left out. Return: 0 or -ENOMEM. */
int openmetrics_cgroups(FILE *to, const struct span *spans, size_t nr);

#endif
