/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Totals of a recording as OpenMetrics text, for the textfile directory of a
 * Prometheus node exporter; of disks that are counted now, for Prometheus.
 */

#ifndef EXPORT_OPENMETRICS_H
#define EXPORT_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "store/load.h"

/**
 * openmetrics_write - write every total, and the end mark
 * @to: where; errors stay in ferror()
 * @recording: loaded with all its phases; or what a module counts now
 * @live: write histograms too, of which a node exporter's directory knows none,
 *	and whether a disk is gone
 *
 * One counter per column of flow, in base units, summed over all phases, with
 * the labels disk and direction.  What the recording does not know is left
 * out: it is not 0.
 *
 * Return: 0 or -ENOMEM.
 */
int openmetrics_write(FILE *to, const struct recording *recording, bool live);

#endif
