/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lines of OpenMetrics: what every family begins with, and labels. */

#ifndef EXPORT_OPENMETRICS_TEXT_H
#define EXPORT_OPENMETRICS_TEXT_H

#include <stdio.h>

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

#endif
