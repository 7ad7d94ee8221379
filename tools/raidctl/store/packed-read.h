/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The text that holds the histograms of a sample, taken apart. */

#ifndef STORE_PACKED_READ_H
#define STORE_PACKED_READ_H

#include <stdint.h>

/* No name is as long. */
#define PACKED_NAME	32

/* No histogram has as many bins: one from a damaged file must not become an allocation. */
#define PACKED_BINS	65536

/**
 * struct packed_reader - what is told of a text
 * @histogram: that the bins that follow are of this one
 * @bin: one bin, below PACKED_BINS; at most INT64_MAX in it
 * @data: for both; what they return other than 0 ends reading
 */
struct packed_reader {
	int (*histogram)(void *data, const char *direction, const char *kind);
	int (*bin)(void *data, unsigned int bin, uint64_t count);
	void *data;
};

/**
 * packed_read - tell what a text has, in its order
 * @text: as packed_put() makes it
 * @reader: is told
 *
 * Return: 0; what @reader returned; -EINVAL when it is not such a text.
 */
int packed_read(const char *text, const struct packed_reader *reader);

#endif
