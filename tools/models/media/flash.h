/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flash behind a write cache: when a page has been read, when it is in the cache
 * and when it has been programmed.
 *
 * Page N is on channel N modulo the number of channels. A channel does one thing
 * at a time. Reads come in their order of arrival; a read interrupts programming,
 * which takes that much longer. A page that is written waits for room in the cache,
 * then for its channel; it leaves the cache when it has been programmed. A write to
 * the page that its channel programs last, and has not begun to, joins that page.
 */
#ifndef RL_FLASH_H
#define RL_FLASH_H

#include "base/heap.h"
#include "limit.h"

#define RL_MAX_CHANNELS		1024
#define RL_MAX_CACHE_PAGES	65536

/**
 * struct rl_flash_config - profile tables "flash" and "cache"
 * @channels: pages that can be read or programmed at once, one on each
 * @page_kib: size of a page, the unit of a channel
 * @read_ns: to read a page
 * @program_ns: to program a page
 * @cache_kib: write cache; 0: a write is done when it has been programmed
 */
struct rl_flash_config {
	u32 channels;
	u32 page_kib;
	u32 read_ns;
	u32 program_ns;
	u32 cache_kib;
};

/**
 * struct rl_channel - one channel
 * @read_ns: when the last read is done
 * @program_ns: when the last page has been programmed
 * @page: that one, plus 1; 0 is none
 */
struct rl_channel {
	u64 read_ns;
	u64 program_ns;
	u64 page;
};

/**
 * struct rl_flash - all of it
 * @config: see there
 * @cache_pages: capacity of the cache
 * @slow: everything takes this many times as long; 1 unless a fault struck
 * @room_ns: when the last page found room in the cache; pages come in by order of arrival
 * @cached: when the pages in the cache have been programmed
 * @moment: memory of @cached
 * @channel: the channels
 */
struct rl_flash {
	struct rl_flash_config config;
	u32 cache_pages;
	u32 slow;
	u64 room_ns;
	struct rl_heap cached;
	struct rl_moment moment[RL_MAX_CACHE_PAGES];
	struct rl_channel channel[RL_MAX_CHANNELS];
};

void rl_flash_create(struct rl_flash *flash, const struct rl_flash_config *config);

/* Return: time at which a read of page @page ends that begins at @now. */
u64 rl_flash_read(struct rl_flash *flash, u64 page, u64 now);

/**
 * rl_flash_write() - write a page or a part of it
 * @flash: the flash
 * @page: number of the page
 * @now: when the data is there
 * @through: wait until the page has been programmed, not only until it is in the cache
 *
 * Return: when the write is done.
 */
u64 rl_flash_write(struct rl_flash *flash, u64 page, u64 now, bool through);

/**
 * rl_flash_transfer() - move sectors page by page, over the link to the flash
 * @flash: the flash
 * @link: the link of this direction. A read is charged for it first: no command waits on the link
 *	for a page with a busy channel, and the sum is the same.
 * @write: direction
 * @lba: first sector
 * @sectors: how many
 * @through: as in rl_flash_write()
 * @start: when the command comes to the link
 *
 * Return: when all pages are done.
 */
u64 rl_flash_transfer(struct rl_flash *flash, struct rl_bucket *link, bool write, u64 lba,
		      u32 sectors, bool through, u64 start);

/* Return: the error of keys that are each in range, or NULL; @key: the wrong key. */
const char *rl_flash_conflict(const struct rl_flash_config *config, const char **key);

/* Return: when all that has been written by @now has been programmed. */
u64 rl_flash_drained_ns(const struct rl_flash *flash, u64 now);

/* Return: pages in the cache at @now. */
u32 rl_flash_cached(const struct rl_flash *flash, u64 now);

#endif
