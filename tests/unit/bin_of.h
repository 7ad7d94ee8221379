/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The bin that a value falls in, of each kind of histogram, as the module's engine finds it. */

#ifndef BIN_OF_H
#define BIN_OF_H

#include "numbers/numbers.h"

/* @value: in the unit of the kind; where the kind has no negative values one counts as 0. */
static inline unsigned int bin_of(enum raidtrace_histogram_kind kind, int64_t value)
{
	uint64_t positive = value > 0 ? (uint64_t)value : 0;

	switch (raidtrace_hist_bins(kind)) {
	case RAIDTRACE_SIZE_BINS:
		return raidtrace_size_bin(positive);
	case RAIDTRACE_SEEK_BINS:
		return raidtrace_seek_bin(value);
	case RAIDTRACE_DEPTH_BINS:
		return raidtrace_depth_bin(positive);
	default:
		return raidtrace_d2c_bin(positive);
	}
}

#endif
