/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the bins of the module's histograms span, where kmod/histogram.h says which one a value falls in. */

#ifndef NUMBERS_BINS_H
#define NUMBERS_BINS_H

#include <stdint.h>

#include "account.h"

/**
 * bin_columns() - width of a histogram of two dimensions
 * @kind: what the histogram counts
 *
 * Bin of such a histogram is row * columns + column; bin_low() and
 * bin_high() are those of the column.
 *
 * Return: the number of columns, 0 for a histogram of one dimension.
 */
unsigned int bin_columns(enum raidtrace_histogram_kind kind);

/**
 * bin_low() - lowest value of a bin
 * @kind: what the histogram counts
 * @bin: index of the bin, below raidtrace_hist_bins()
 *
 * Return: the value, sectors, requests, nanoseconds, or the bin itself.
 */
int64_t bin_low(enum raidtrace_histogram_kind kind, unsigned int bin);

/**
 * bin_high() - end of a bin
 * @kind: what the histogram counts
 * @bin: index of the bin, below raidtrace_hist_bins()
 *
 * Return: the lowest value above the bin, INT64_MAX for one that has no end.
 */
int64_t bin_high(enum raidtrace_histogram_kind kind, unsigned int bin);

#endif
