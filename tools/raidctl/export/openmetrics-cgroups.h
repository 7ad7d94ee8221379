/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What is charged to each cgroup, as OpenMetrics text. */

#ifndef EXPORT_OPENMETRICS_CGROUPS_H
#define EXPORT_OPENMETRICS_CGROUPS_H

#include <stdio.h>

#include "store/load.h"

/**
 * openmetrics_cgroups - write each counter of each disk and cgroup
 * @to: where
 * @recording: as openmetrics_write() has it
 *
 * Rows whose cgroup is not known are left out; without any other nothing is written.
 *
 * Return: 0 or -ENOMEM.
 */
int openmetrics_cgroups(FILE *to, const struct recording *recording);

#endif
