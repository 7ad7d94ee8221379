/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Histograms of disks as classic histograms of OpenMetrics. */

#ifndef EXPORT_OPENMETRICS_HISTOGRAMS_H
#define EXPORT_OPENMETRICS_HISTOGRAMS_H

#include <stdio.h>

#include "store/load.h"

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

#endif
