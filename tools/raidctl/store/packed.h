/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The histograms of a sample as one text; for store*.c alone. */

#ifndef STORE_PACKED_H
#define STORE_PACKED_H

#include <stdint.h>

#include "raidtrace.h"

/* The text that holds the histograms of a sample, taken apart. */

/* No name is as long. */
#define PACKED_NAME	32

/* No histogram has as many bins: one from a damaged file must not become an allocation. */
#define PACKED_BINS	65536

/**
 * struct packed_reader - receives the parts of a text
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
 * @reader: receives the parts
 *
 * Return: 0; what @reader returned; -EINVAL when it is not such a text.
 */
int packed_read(const char *text, const struct packed_reader *reader);

/* Directions in the order of the alphabet, which is that of all rows and members of a sample. */
extern const uint8_t packed_directions[RT_DIRECTIONS];

/**
 * struct packed - a text that is made again and again
 * @text: not terminated, NULL at first
 * @len: of @text
 * @room: that there is for it
 */
struct packed {
	char *text;
	size_t len;
	size_t room;
};

/**
 * packed_put - make the text of a sample
 * @packed: what it is made in
 * @span: its bins that are not zero are written
 *
 * Return: 0 or -ENOMEM.
 */
int packed_put(struct packed *packed, const struct rt_counters *span);
void packed_free(struct packed *packed);

/**
 * packed_add - add what a text has
 * @text: as packed_put() makes it
 * @sum: the bins are added to its histograms
 *
 * Return: 0; -ENOMEM; -EINVAL when it is not such a text.
 */
int packed_add(const char *text, struct rt_counters *sum);

#endif
