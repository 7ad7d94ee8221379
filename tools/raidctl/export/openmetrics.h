/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters of disks as OpenMetrics text, for Prometheus. */

#ifndef EXPORT_OPENMETRICS_H
#define EXPORT_OPENMETRICS_H

#include <stdio.h>

#include "store/load.h"

/**
 * openmetrics_write - write every total, and the end mark
 * @to: where; errors stay in ferror()
 * @recording: what the module counts now, a span for each disk
 *
 * One counter per column of flow, in base units, with the labels disk and
 * direction, and the histograms.  What is not known is left out: it is not 0.
 *
 * Return: 0 or -ENOMEM.
 */
int openmetrics_write(FILE *to, const struct recording *recording);

#endif
