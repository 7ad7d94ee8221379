/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One disk drive: where its head is, how far its platter has turned, what its
 * cache holds, and hence when a command will be done. No data passes here.
 *
 * The model is in Documentation/3w-9xxx.rst. Its one idea: the place of a sector
 * is the time that reading from sector 0 up to it would take at the media rate
 * ("media time"). Media time modulo one rotation is the sector's angle, media
 * time differences are transfer times, and large ones are seek distances.
 */
#ifndef RL_DRIVE_H
#define RL_DRIVE_H

#include "base/types.h"

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

#endif
