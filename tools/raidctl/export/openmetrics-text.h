/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines of OpenMetrics: what every family begins with, and labels. */

#ifndef EXPORT_OPENMETRICS_TEXT_H
#define EXPORT_OPENMETRICS_TEXT_H

#include <stdio.h>

#include "store/load.h"

/* metric_quoted - a label's value in quotes, as harmless to a terminal as it can be */
void metric_quoted(FILE *to, const char *text);

/**
 * metric_head - what a family begins with
 * @to: where
 * @name: of the family, without raidtrace_
 * @type: of OpenMetrics
 * @unit: the end of the name, NULL for none
 * @help: what it is
 */
void metric_head(FILE *to, const char *name, const char *type,
		 const char *unit, const char *help);

/**
 * metric_labels - of a disk; more labels or the brace follow
 * @to: where
 * @disk: its name
 * @each: of what else there is one for each, NULL for nothing
 * @which: this one
 */
void metric_labels(FILE *to, const char *disk, const char *each,
		   const char *which);

/* Histograms of disks as classic histograms of OpenMetrics. */

/**
 * openmetrics_histograms - write D2C, size and depth at issue
 * @to: where; errors stay in ferror()
 * @recording: loaded with all its phases
 *
 * Every bound is the largest value of a bin, so that each count is exact. The
 * bounds are always the same ones, about one for each power of two.
 *
 * Return: 0 or -ENOMEM.
 */
int openmetrics_histograms(FILE *to, const struct recording *recording);

/* What is charged to each cgroup, as OpenMetrics text. */

/**
 * openmetrics_cgroups - write each counter of each disk and cgroup
 * @to: where
 * @recording: as openmetrics_write() has it
 *
 * Rows without a known cgroup are left out; without any other row nothing is written.
 *
 * Return: 0 or -ENOMEM.
 */
int openmetrics_cgroups(FILE *to, const struct recording *recording);

#endif
