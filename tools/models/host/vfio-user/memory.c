// SPDX-License-Identifier: GPL-2.0-or-later
/* Mapped ranges are copied directly, others by messages. */
#include "server.h"

#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool overlap(const struct vu_map *map, uint64_t address, uint64_t size)
{
	return address < map->address + map->size && map->address < address + size;
}

/* Mapping beyond the end of the file would be a SIGBUS at the first access. */
static int map_file(struct vu_map *map, int fd, uint64_t offset)
{
	struct stat file;
	int protection = PROT_READ | (map->writable ? PROT_WRITE : 0);
	void *bytes;

	if (fstat(fd, &file))
		return errno;
	if (offset > (uint64_t)file.st_size || map->size > (uint64_t)file.st_size - offset)
		return EINVAL;
	bytes = mmap(NULL, map->size, protection, MAP_SHARED, fd, (off_t)offset);
	if (bytes == MAP_FAILED)
		return errno;
	map->bytes = bytes;
	return 0;
}

int vu_memory_map(struct vu_memory *memory, struct vu_message *message)
{
	struct vu_dma_map request;
	struct vu_map map;
	int err;

	if (message->length < sizeof(request))
		return EINVAL;
	memcpy(&request, message->payload, sizeof(request));
	if (!request.size || request.address + request.size < request.address ||
	    !(request.flags & VFIO_DMA_MAP_FLAG_READ))
		return EINVAL;
	for (size_t i = 0; i < memory->nr_maps; i++)
		if (overlap(&memory->map[i], request.address, request.size))
			return EEXIST;
	if (memory->nr_maps == VU_MAX_MAPS)
		return ENOSPC;
	map = (struct vu_map){ request.address, request.size, NULL, request.flags & VFIO_DMA_MAP_FLAG_WRITE };
	if (message->nr_fds) {
		err = map_file(&map, message->fds[0], request.offset);
		if (err)
			return err;
	}
	memory->map[memory->nr_maps++] = map;
	return 0;
}

int vu_memory_unmap(struct vu_memory *memory, const struct vu_message *message)
{
	struct vu_dma_unmap request;
	bool all;
	size_t kept = 0;

	if (message->length < sizeof(request))
		return EINVAL;
	memcpy(&request, message->payload, sizeof(request));
	all = request.flags & VFIO_DMA_UNMAP_FLAG_ALL;
	if (!all && request.address + request.size < request.address)
		return EINVAL;
	for (size_t i = 0; i < memory->nr_maps; i++) {
		struct vu_map *map = &memory->map[i];

		if (!all && (map->address < request.address ||
			     map->address + map->size > request.address + request.size))
			memory->map[kept++] = *map;
		else if (map->bytes)
			munmap(map->bytes, map->size);
	}
	memory->nr_maps = kept;
	return 0;
}

static const struct vu_map *find(const struct vu_memory *memory, uint64_t address)
{
	for (size_t i = 0; i < memory->nr_maps; i++)
		if (address >= memory->map[i].address && address - memory->map[i].address < memory->map[i].size)
			return &memory->map[i];
	return NULL;
}

static size_t within(const struct vu_map *map, uint64_t address, size_t length, size_t limit)
{
	uint64_t here = map->size - (address - map->address);

	if (here > length)
		here = length;
	return here > limit ? limit : (size_t)here;
}

static bool read_by_message(struct vu_channel *channel, uint64_t address, void *to, size_t length)
{
	struct vu_dma_access access = { address, length };
	struct vu_message *reply = vu_ask(channel, VU_DMA_READ, &access, sizeof(access), NULL, 0);
	bool good = reply && reply->length == sizeof(access) + length;

	if (good)
		memcpy(to, reply->payload + sizeof(access), length);
	vu_message_free(reply);
	return good;
}

static bool write_by_message(struct vu_channel *channel, uint64_t address, const void *from, size_t length)
{
	struct vu_dma_access access = { address, length };
	struct vu_message *reply = vu_ask(channel, VU_DMA_WRITE, &access, sizeof(access), from, length);
	bool good = reply;

	vu_message_free(reply);
	return good;
}

bool vu_memory_read(struct vu_memory *memory, uint64_t address, void *to, size_t length)
{
	uint8_t *at = to;

	while (length) {
		const struct vu_map *map = find(memory, address);
		size_t part = map ? within(map, address, length, VU_MAX_DATA) : 0;

		if (!map)
			return false;
		if (map->bytes)
			memcpy(at, map->bytes + (address - map->address), part);
		else if (!read_by_message(memory->channel, address, at, part))
			return false;
		at += part;
		address += part;
		length -= part;
	}
	return true;
}

bool vu_memory_write(struct vu_memory *memory, uint64_t address, const void *from, size_t length)
{
	const uint8_t *at = from;

	while (length) {
		const struct vu_map *map = find(memory, address);
		size_t part = map ? within(map, address, length, VU_MAX_DATA) : 0;

		if (!map || !map->writable)
			return false;
		if (map->bytes)
			memcpy(map->bytes + (address - map->address), at, part);
		else if (!write_by_message(memory->channel, address, at, part))
			return false;
		at += part;
		address += part;
		length -= part;
	}
	return true;
}
