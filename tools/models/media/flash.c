// SPDX-License-Identifier: GPL-2.0-or-later
/* Flash: channels and a write cache. */
#include "media.h"

void rl_flash_create(struct rl_flash *flash, const struct rl_flash_config *config)
{
	flash->config = *config;
	flash->cache_pages = config->cache_kib / config->page_kib;
	flash->slow = 1;
	flash->room_ns = 0;
	flash->cached.moment = flash->moment;
	flash->cached.count = 0;
	rl_fill(flash->channel, 0, sizeof(flash->channel));
}

static struct rl_channel *rl_channel_of(struct rl_flash *flash, u64 page)
{
	return &flash->channel[page % flash->config.channels];
}

u64 rl_flash_read(struct rl_flash *flash, u64 page, u64 now)
{
	struct rl_channel *channel = rl_channel_of(flash, page);
	u64 takes = (u64)flash->config.read_ns * flash->slow, start = rl_max(channel->read_ns, now);

	channel->read_ns = start + takes;
	if (channel->program_ns > start)
		channel->program_ns += takes;
	return channel->read_ns;
}

/* Return: when there is room for a page in the cache. */
static u64 rl_make_room(struct rl_flash *flash, u64 now)
{
	while (flash->cached.count && rl_heap_first_ns(&flash->cached) <= now)
		rl_heap_take(&flash->cached);
	if (flash->cached.count == flash->cache_pages)
		now = rl_heap_take(&flash->cached).ns;
	flash->room_ns = now;
	return now;
}

u64 rl_flash_write(struct rl_flash *flash, u64 page, u64 now, bool through)
{
	struct rl_channel *channel = rl_channel_of(flash, page);
	u64 takes = (u64)flash->config.program_ns * flash->slow;

	through |= !flash->cache_pages;
	now = rl_max(now, flash->room_ns);
	if (channel->page != page + 1 || channel->program_ns <= now + takes) {
		if (flash->cache_pages)
			now = rl_make_room(flash, now);
		channel->page = page + 1;
		channel->program_ns = rl_max(rl_max(channel->program_ns, channel->read_ns), now) + takes;
		if (flash->cache_pages)
			rl_heap_add(&flash->cached, channel->program_ns, 0);
	}
	return through ? channel->program_ns : now;
}

u64 rl_flash_transfer(struct rl_flash *flash, struct rl_bucket *link, bool write, u64 lba,
		      u32 sectors, bool through, u64 start)
{
	u32 page_sectors = flash->config.page_kib * 2, part;
	u64 end = start, ready, done;

	for (; sectors; sectors -= part, lba += part) {
		part = (u32)rl_min(sectors, page_sectors - lba % page_sectors);
		ready = rl_bucket_pour(link, start, (u64)part * RL_SECTOR_BYTES);
		if (write)
			done = rl_flash_write(flash, lba / page_sectors, ready, through);
		else
			done = rl_flash_read(flash, lba / page_sectors, ready);
		end = rl_max(end, done);
	}
	return end;
}

const char *rl_flash_conflict(const struct rl_flash_config *config, const char **key)
{
	if (config->page_kib & (config->page_kib - 1)) {
		*key = "flash.page_kib";
		return "must be a power of two";
	}
	if (config->cache_kib % config->page_kib)
		return "must be a multiple of flash.page_kib";
	if (config->cache_kib / config->page_kib > RL_MAX_CACHE_PAGES)
		return "is more than 65536 pages of flash.page_kib";
	return NULL;
}

u64 rl_flash_drained_ns(const struct rl_flash *flash, u64 now)
{
	u32 i;

	for (i = 0; i < flash->config.channels; i++)
		now = rl_max(now, flash->channel[i].program_ns);
	return now;
}

u32 rl_flash_cached(const struct rl_flash *flash, u64 now)
{
	u32 i, pages = 0;

	for (i = 0; i < flash->cached.count; i++)
		pages += flash->cached.moment[i].ns > now;
	return pages;
}
