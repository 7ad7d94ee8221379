/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contents of sectors, bad sectors, limits of volumes, mechanics of a drive, flash. */
#ifndef RL_MEDIA_H
#define RL_MEDIA_H

#include "base/base.h"

/* Sectors that cannot be read until they are written. */

/**
 * struct rl_bad - a run of them
 * @lba: the first
 * @sectors: how many; 0 is none
 */
struct rl_bad {
	u64 lba;
	u32 sectors;
};

/* Return: whether any of these sectors is bad. */
static inline bool rl_bad_meets(const struct rl_bad *bad, u64 lba, u64 sectors)
{
	return bad->sectors && lba < bad->lba + bad->sectors && bad->lba < lba + sectors;
}

/* These sectors are written: the drive puts the data elsewhere, so that they can be read again. */
static inline void rl_bad_mend(struct rl_bad *bad, u64 lba, u64 sectors)
{
	u64 end = bad->lba + bad->sectors;

	if (!rl_bad_meets(bad, lba, sectors))
		return;
	/* A write into the middle leaves the part behind it: the larger truth would be a list. */
	if (lba <= bad->lba) {
		bad->lba = rl_min(lba + sectors, end);
		bad->sectors = (u32)(end - bad->lba);
	} else if (lba + sectors >= end) {
		bad->sectors = (u32)(lba - bad->lba);
	}
}

/*
 * Rates that are exact to the nanosecond however many commands share them: the
 * part of a nanosecond that a division leaves is kept.
 *
 * A leaky bucket: each command pours its cost in, the bucket leaks at a steady
 * rate, and a command waits until the bucket holds no more than the burst. A link
 * is a bucket without burst; data has passed the link when its bucket is empty.
 */

/* The largest values for which nothing overflows within a century of waiting commands. */
#define RL_MAX_RATE		0x10000000000ULL
#define RL_MAX_BURST		0x200000000ULL

/**
 * struct rl_bucket - see above
 * @rate: units that leak in a second; 0: there is no limit
 * @burst: units
 * @empty_ns: when it is empty if nothing more comes, rounded down
 * @rest: the fraction of a nanosecond beyond @empty_ns, in units of 1/@rate
 */
struct rl_bucket {
	u64 rate;
	u64 burst;
	u64 empty_ns;
	u64 rest;
};

void rl_bucket_create(struct rl_bucket *bucket, u64 rate, u64 burst);

/* Return: the first nanosecond from @now on at which a command may start. */
u64 rl_bucket_open_ns(const struct rl_bucket *bucket, u64 now);

/* A command that moves @bytes passes two buckets, of commands and of bytes. Return: when it may start. */
u64 rl_bucket_admit(struct rl_bucket *commands, struct rl_bucket *moved, u64 bytes, u64 now);

/* Pour @units, up to 2^32, in at @now. Return: the first nanosecond at which the bucket is empty. */
u64 rl_bucket_pour(struct rl_bucket *bucket, u64 now, u64 units);

/*
 * The contents of all sectors of a device, held sparsely.
 *
 * A sector of zeros takes nothing. A sector of the kind that benchmarks write -
 * one byte value up to some place, at most one odd byte there, one byte value
 * after it - is held in its four-byte index entry. Any other sector takes 512
 * bytes. All of it comes from one pool whose size is fixed at creation.
 */

/**
 * struct rl_store - see above
 * @pool: pages of 4 KiB: the top table, then index pages and pages of eight sectors
 * @sectors: capacity
 * @top_pages: pages of the top table
 * @nr_pages: pages in the pool
 * @next_page: pages from here on were never used
 * @free_page: head of the list of freed pages, 0 is none
 * @free_slot: head of the list of freed sector slots, 0 is none
 * @index_pages: index pages in use
 * @slots: sector slots in use
 * @exhausted: a write found no memory; stays set
 */
struct rl_store {
	struct rl_arena pool;
	u64 sectors;
	u32 top_pages;
	u32 nr_pages;
	u32 next_page;
	u32 free_page;
	u32 free_slot;
	u32 index_pages;
	u32 slots;
	bool exhausted;
};

bool rl_store_create(struct rl_store *store, u64 sectors, u32 mib, rl_alloc_chunk_fn alloc,
		     void *host);

/**
 * rl_store_zero_run() - how many sectors from @lba on are zero
 * @store: the store
 * @lba: first sector, within the capacity
 * @max: look no further than this
 *
 * Return: 0 to @max; cheap where nothing was ever written.
 */
u32 rl_store_zero_run(const struct rl_store *store, u64 lba, u32 max);

/* Context for both: @lba + @sectors is within the capacity; @data is aligned to 8 bytes. */
void rl_store_read(const struct rl_store *store, u64 lba, u32 sectors, void *data);

/* Return: false when the pool is exhausted; sectors before the one that did not fit are written. */
bool rl_store_write(struct rl_store *store, u64 lba, u32 sectors, const void *data);

/* Zeros for a range within the capacity. They take no memory, so that this cannot fail. */
void rl_store_zero(struct rl_store *store, u64 lba, u64 sectors);

u64 rl_store_used_bytes(const struct rl_store *store);
u64 rl_store_limit_bytes(const struct rl_store *store);

/*
 * One disk drive: where its head is, how far its platter has turned, what its
 * cache holds, and hence when a command will be done. No data passes here.
 *
 * The model is in Documentation/devices.rst. Its one idea: the place of a sector
 * is the time that reading from sector 0 up to it would take at the media rate
 * ("media time"). Media time modulo one rotation is the sector's angle, media
 * time differences are transfer times, and large ones are seek distances.
 */

#define RL_ZONES		16
#define RL_MAX_SEGMENTS		16

/**
 * struct rl_drive_config - profile table "drive"
 * @sectors: capacity in 512-byte sectors
 * @rpm: rotations per minute
 * @seek_track_us: seek to the next track
 * @seek_average_us: seek over a third of the stroke
 * @seek_full_us: seek over the whole stroke
 * @write_settle_us: a write's seek takes this much longer
 * @media_outer_kib_s: sustained rate of the outermost zone
 * @media_inner_kib_s: sustained rate of the innermost zone
 * @interface_kib_s: rate between the drive's cache and the controller
 * @command_us: the drive's own time for each command
 * @cache_kib: the drive's cache
 * @segments: read streams that the cache follows
 * @read_ahead: 1 if the drive reads on after a read
 * @slow_member: the drive with this number (from 1, over all units of fault.controller) is a
 *	bad one; 0 is none
 * @slow_factor: and takes this many times as long for every command
 */
struct rl_drive_config {
	u64 sectors;
	u32 rpm;
	u32 seek_track_us;
	u32 seek_average_us;
	u32 seek_full_us;
	u32 write_settle_us;
	u32 media_outer_kib_s;
	u32 media_inner_kib_s;
	u32 interface_kib_s;
	u32 command_us;
	u32 cache_kib;
	u32 segments;
	u32 read_ahead;
	u32 slow_member;
	u32 slow_factor;
};

struct rl_zone {
	u64 lba;		/* first sector */
	u64 media_ns;		/* media time of the first sector */
	u64 sectors;
	u64 length_ns;
};

/**
 * struct rl_geometry - what all drives of one array share, worked out once
 * @sectors: capacity
 * @rotation_ns: one turn
 * @stroke_ns: media time of the capacity, the longest seek distance
 * @seek_track_ns: constant part of the seek curve
 * @seek_root_ns: part that grows with the square root of the distance
 * @seek_linear_ns: part that grows with the distance
 * @write_settle_ns: added to a write's seek
 * @command_ns: the drive's own time for each command
 * @interface_kib_s: rate between the drive's cache and the controller
 * @segment_sectors: length of one cache segment
 * @segments: how many
 * @read_ahead: whether the drive reads on after a read
 * @zone: from the outer edge inwards
 */
struct rl_geometry {
	u64 sectors;
	u64 rotation_ns;
	u64 stroke_ns;
	u64 seek_track_ns;
	s64 seek_root_ns;
	s64 seek_linear_ns;
	u64 write_settle_ns;
	u64 command_ns;
	u32 interface_kib_s;
	u32 segment_sectors;
	u32 segments;
	bool read_ahead;
	struct rl_zone zone[RL_ZONES];
};

/* Sectors [start, end) are in the drive's cache. */
struct rl_segment {
	u64 start;
	u64 end;
	u64 used;		/* larger is more recent */
};

/**
 * struct rl_drive - one drive's state
 * @geometry: shared
 * @slow: every command takes this many times as long; 1 unless the drive is a bad one
 * @phase_ns: how far its platter is turned at time 0
 * @free_ns: when the last command will be done
 * @known_ns: when it learned of the next read; RL_NEVER if it learns of a read when that begins
 * @head: sector behind the last one read or written by a command
 * @writing: the last command was a write that ended at @head
 * @active: segment that is being read on into, or RL_MAX_SEGMENTS
 * @ahead_from: the head passes this sector ...
 * @ahead_from_ns: ... at this time, reading on up to ...
 * @ahead_limit: ... this one
 * @uses: counter for @used of the segments
 * @segment: the cache
 */
struct rl_drive {
	const struct rl_geometry *geometry;
	u32 slow;
	u64 phase_ns;
	u64 free_ns;
	u64 known_ns;
	u64 head;
	bool writing;
	u32 active;
	u64 ahead_from;
	u64 ahead_from_ns;
	u64 ahead_limit;
	u64 uses;
	struct rl_segment segment[RL_MAX_SEGMENTS];
};

/* Return: the error of keys of table "drive" that are each in range, or NULL; @key: the wrong key. */
const char *rl_drive_conflict(const struct rl_drive_config *config, const char **key);

void rl_geometry_create(struct rl_geometry *geometry, const struct rl_drive_config *config);

/* @number spreads the drives' platters evenly over one turn. */
void rl_drive_create(struct rl_drive *drive, const struct rl_geometry *geometry, u32 number);

/* Nothing is in its cache any more. */
void rl_drive_power_on(struct rl_drive *drive);

/* Return: nanoseconds between sector 0 and @lba at the media rate. */
u64 rl_media_ns(const struct rl_geometry *geometry, u64 lba);

/* Return: how long the arm takes over @distance_ns of media time. */
u64 rl_seek_ns(const struct rl_geometry *geometry, u64 distance_ns);

/**
 * rl_drive_read() - a read
 * @drive: the drive
 * @lba: first sector
 * @sectors: how many
 * @now: when the command is sent
 *
 * Commands are served in the order of the calls; @now never goes back by more
 * than the drive is busy anyway.
 *
 * Return: when the last sector is with the controller.
 */
u64 rl_drive_read(struct rl_drive *drive, u64 lba, u32 sectors, u64 now);

/* The same for a write. @turns: whole rotations in between, 1 to read before writing. */
u64 rl_drive_write(struct rl_drive *drive, u64 lba, u32 sectors, u64 now, u32 turns);

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
