/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's memory, as far as the client lets us see it. */
#ifndef VFIO_USER_MEMORY_H
#define VFIO_USER_MEMORY_H

#include "channel.h"

/**
 * struct vu_map - a range of bus addresses
 * @address: first address
 * @size: bytes, not 0; the end does not wrap
 * @bytes: where we have it mapped; NULL: only messages reach it
 * @writable: the device may write it
 */
struct vu_map {
	uint64_t address;
	uint64_t size;
	uint8_t *bytes;
	bool writable;
};

#define VU_MAX_MAPS	256	/* QEMU's pc machine has about ten at a time */

/**
 * struct vu_memory - all ranges
 * @channel: for ranges that messages reach
 * @map: in no order, not overlapping
 * @nr_maps: how many
 */
struct vu_memory {
	struct vu_channel *channel;
	struct vu_map map[VU_MAX_MAPS];
	size_t nr_maps;
};

/* Both return: 0 or an errno. vu_memory_map() takes the descriptor of @message if there is one. */
int vu_memory_map(struct vu_memory *memory, struct vu_message *message);
int vu_memory_unmap(struct vu_memory *memory, const struct vu_message *message);

/* Both return: false if any of the range is not memory that the device may so use. */
bool vu_memory_read(struct vu_memory *memory, uint64_t address, void *to, size_t length);
bool vu_memory_write(struct vu_memory *memory, uint64_t address, const void *from, size_t length);

#endif
