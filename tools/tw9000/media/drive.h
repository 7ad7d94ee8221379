/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One disk drive: where its head is, how far its platter has turned, what its
 * cache holds, and hence when a command will be done. No data passes here.
 *
 * The model is in Documentation/tw9000.rst. Its one idea: the place of a sector
 * is the time that reading from sector 0 up to it would take at the media rate
 * ("media time"). Media time modulo one rotation is the sector's angle, media
 * time differences are transfer times, and large ones are seek distances.
 */
#ifndef TW_DRIVE_H
#define TW_DRIVE_H

#include "wire/config.h"

#define TW_ZONES		16
#define TW_MAX_SEGMENTS		16

struct tw_zone {
	u64 lba;		/* first sector */
	u64 media_ns;		/* media time of the first sector */
	u64 sectors;
	u64 length_ns;
};

/**
 * struct tw_geometry - what all drives of one array share, worked out once
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
struct tw_geometry {
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
	struct tw_zone zone[TW_ZONES];
};

/* Sectors [start, end) are in the drive's cache. */
struct tw_segment {
	u64 start;
	u64 end;
	u64 used;		/* larger is more recent */
};

/**
 * struct tw_drive - one drive's state
 * @geometry: shared
 * @slow: every command takes this many times as long; 1 unless the drive is a bad one
 * @phase_ns: how far its platter is turned at time 0
 * @free_ns: when the last command will be done
 * @head: sector behind the last one read or written by a command
 * @writing: the last command was a write that ended at @head
 * @active: segment that is being read on into, or TW_MAX_SEGMENTS
 * @ahead_from: the head passes this sector ...
 * @ahead_from_ns: ... at this time, reading on up to ...
 * @ahead_limit: ... this one
 * @uses: counter for @used of the segments
 * @segment: the cache
 */
struct tw_drive {
	const struct tw_geometry *geometry;
	u32 slow;
	u64 phase_ns;
	u64 free_ns;
	u64 head;
	bool writing;
	u32 active;
	u64 ahead_from;
	u64 ahead_from_ns;
	u64 ahead_limit;
	u64 uses;
	struct tw_segment segment[TW_MAX_SEGMENTS];
};

void tw_geometry_create(struct tw_geometry *geometry, const struct tw_drive_config *config);

/* @number spreads the drives' platters evenly over one turn. */
void tw_drive_create(struct tw_drive *drive, const struct tw_geometry *geometry, u32 number);

/* Nothing is in its cache any more. */
void tw_drive_power_on(struct tw_drive *drive);

/* Return: nanoseconds between sector 0 and @lba at the media rate. */
u64 tw_media_ns(const struct tw_geometry *geometry, u64 lba);

/* Return: how long the arm takes over @distance_ns of media time. */
u64 tw_seek_ns(const struct tw_geometry *geometry, u64 distance_ns);

/**
 * tw_drive_read() - a read
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
u64 tw_drive_read(struct tw_drive *drive, u64 lba, u32 sectors, u64 now);

/* The same for a write. @turns: whole rotations in between, 1 to read before writing. */
u64 tw_drive_write(struct tw_drive *drive, u64 lba, u32 sectors, u64 now, u32 turns);

#endif
