// SPDX-License-Identifier: GPL-2.0-or-later
/* One disk drive's timing: seek, rotation, zones, cache with read-ahead. */
#include "media.h"

#define RL_MILLION 1000000LL

static u64 rl_square_root(u64 value)
{
	u64 root = 0, bit = 1ULL << 31;

	for (; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= value)
			root |= bit;
	return root;
}

/*
 * seek(x) = track + root * sqrt(x) + linear * x, x being the part of the stroke,
 * through the three published points: next track, one third, whole stroke.
 * sqrt(1/3) = 0.577350; sqrt(1/3) - 1/3 = 0.244017.
 */
static void rl_seek_curve(struct rl_geometry *geometry, const struct rl_drive_config *config)
{
	s64 track = config->seek_track_us;
	s64 average = (s64)config->seek_average_us - track;
	s64 full = (s64)config->seek_full_us - track;

	geometry->seek_track_ns = config->seek_track_us * RL_NS_PER_US;
	geometry->seek_root_ns = (average * 1000 - full * 1000 / 3) * RL_MILLION / 244017;
	geometry->seek_linear_ns = full * 1000 - geometry->seek_root_ns;
}

const char *rl_drive_conflict(const struct rl_drive_config *config, const char **key)
{
	*key = "drive.seek_average_us";
	if (config->seek_track_us > config->seek_average_us ||
	    config->seek_average_us > config->seek_full_us)
		return "must lie between drive.seek_track_us and drive.seek_full_us";
	*key = "drive.media_inner_kib_s";
	if (config->media_inner_kib_s > config->media_outer_kib_s)
		return "is more than drive.media_outer_kib_s";
	return NULL;
}

void rl_geometry_create(struct rl_geometry *geometry, const struct rl_drive_config *config)
{
	u64 media_ns = 0, lba = 0;
	u32 i, rate;

	geometry->sectors = config->sectors;
	geometry->rotation_ns = 60 * RL_NS_PER_SECOND / config->rpm;
	geometry->write_settle_ns = config->write_settle_us * RL_NS_PER_US;
	geometry->command_ns = config->command_us * RL_NS_PER_US;
	geometry->interface_kib_s = config->interface_kib_s;
	geometry->segments = config->segments;
	geometry->segment_sectors = config->cache_kib * 2 / config->segments;
	geometry->read_ahead = config->read_ahead;
	for (i = 0; i < RL_ZONES; i++) {
		struct rl_zone *zone = &geometry->zone[i];

		rate = config->media_outer_kib_s -
		       (config->media_outer_kib_s - config->media_inner_kib_s) * i / (RL_ZONES - 1);
		zone->lba = lba;
		zone->media_ns = media_ns;
		zone->sectors = config->sectors / RL_ZONES;
		if (i == RL_ZONES - 1)
			zone->sectors = config->sectors - lba;
		zone->length_ns = zone->sectors * (RL_NS_PER_SECOND / 2) / rate;
		lba += zone->sectors;
		media_ns += zone->length_ns;
	}
	geometry->stroke_ns = media_ns;
	rl_seek_curve(geometry, config);
}

void rl_drive_create(struct rl_drive *drive, const struct rl_geometry *geometry, u32 number)
{
	rl_fill(drive, 0, sizeof(*drive));
	drive->geometry = geometry;
	drive->slow = 1;
	drive->known_ns = RL_NEVER;
	drive->active = RL_MAX_SEGMENTS;
	/* Multiples of the golden ratio never bunch up. */
	drive->phase_ns = number * 618034ULL % 1000000 * geometry->rotation_ns / 1000000;
}

void rl_drive_power_on(struct rl_drive *drive)
{
	drive->writing = false;
	drive->active = RL_MAX_SEGMENTS;
	rl_fill(drive->segment, 0, sizeof(drive->segment));
}

/* @part / @whole of @length, without overflow for any drive that the configuration allows. */
static u64 rl_scale(u64 length, u64 part, u64 whole)
{
	u64 quotient = length / whole;

	return quotient * part + (length - quotient * whole) * part / whole;
}

u64 rl_media_ns(const struct rl_geometry *geometry, u64 lba)
{
	u64 i = lba / geometry->zone[0].sectors;
	const struct rl_zone *zone = &geometry->zone[rl_min(i, RL_ZONES - 1)];

	return zone->media_ns + rl_scale(zone->length_ns, lba - zone->lba, zone->sectors);
}

/* The inverse: the sector that is under the head at a media time. */
static u64 rl_media_lba(const struct rl_geometry *geometry, u64 media_ns)
{
	u32 i = 0;
	const struct rl_zone *zone;

	while (i < RL_ZONES - 1 && geometry->zone[i + 1].media_ns <= media_ns)
		i++;
	zone = &geometry->zone[i];
	return rl_min(zone->lba + (media_ns - zone->media_ns) /
		      (zone->length_ns / zone->sectors + 1), geometry->sectors);
}

u64 rl_seek_ns(const struct rl_geometry *geometry, u64 distance_ns)
{
	s64 part;

	if (distance_ns < geometry->rotation_ns)
		return 0;
	/* Part of the stroke in millionths; its root in thousandths. */
	part = (s64)(distance_ns / (geometry->stroke_ns / RL_MILLION + 1));
	return geometry->seek_track_ns +
	       (u64)(geometry->seek_root_ns * (s64)rl_square_root((u64)part * RL_MILLION) / RL_MILLION +
		     geometry->seek_linear_ns * part / RL_MILLION);
}

/* Return: when @lba next passes under the head, not before @now. */
static u64 rl_rotate(const struct rl_drive *drive, u64 lba, u64 now)
{
	u64 turn = drive->geometry->rotation_ns;
	u64 angle = (now + drive->phase_ns) % turn;
	u64 target = rl_media_ns(drive->geometry, lba) % turn;

	return now + (target + turn - angle) % turn;
}

static u64 rl_between_ns(const struct rl_drive *drive, u64 from, u64 to)
{
	if (to <= from)
		return 0;
	return rl_media_ns(drive->geometry, to) - rl_media_ns(drive->geometry, from);
}

/* Stop reading on: the segment keeps what had been read by @now. */
static void rl_stop_ahead(struct rl_drive *drive, u64 now)
{
	struct rl_segment *segment;
	u64 reached = drive->ahead_from;

	if (drive->active == RL_MAX_SEGMENTS)
		return;
	segment = &drive->segment[drive->active];
	if (now > drive->ahead_from_ns)
		reached = rl_media_lba(drive->geometry,
				       rl_media_ns(drive->geometry, drive->ahead_from) +
				       (now - drive->ahead_from_ns));
	reached = rl_max(reached, drive->ahead_from);
	segment->end = rl_min(reached, drive->ahead_limit);
	drive->head = segment->end;
	drive->active = RL_MAX_SEGMENTS;
}

/* Return: segment that holds @lba or, if active, will come to it; else RL_MAX_SEGMENTS. */
static u32 rl_find_segment(const struct rl_drive *drive, u64 lba, u32 sectors)
{
	u32 i;

	for (i = 0; i < drive->geometry->segments; i++) {
		const struct rl_segment *segment = &drive->segment[i];

		if (lba < segment->start)
			continue;
		if (i == drive->active ? lba <= drive->ahead_limit : lba + sectors <= segment->end)
			return i;
	}
	return RL_MAX_SEGMENTS;
}

static u32 rl_oldest_segment(const struct rl_drive *drive)
{
	u32 i, oldest = 0;

	for (i = 1; i < drive->geometry->segments; i++)
		if (drive->segment[i].used < drive->segment[oldest].used)
			oldest = i;
	return oldest;
}

/* The active segment is to hold up to @end and what follows; it forgets its oldest part. */
static void rl_extend_ahead(struct rl_drive *drive, u64 end, u32 sectors)
{
	const struct rl_geometry *geometry = drive->geometry;
	struct rl_segment *segment = &drive->segment[drive->active];
	u64 ahead = geometry->segment_sectors > sectors ? geometry->segment_sectors - sectors : 0;
	u64 limit = geometry->read_ahead ? rl_min(end + ahead, geometry->sectors) : end;

	drive->ahead_limit = rl_max(limit, drive->ahead_limit);
	if (drive->ahead_limit > segment->start + geometry->segment_sectors)
		segment->start = rl_min(drive->ahead_limit - geometry->segment_sectors,
					end - sectors);
}

/* A read that the running or halted read-ahead leads to. */
static u64 rl_read_on(struct rl_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 end = lba + sectors;
	u64 halt_ns = drive->ahead_from_ns +
		      rl_between_ns(drive, drive->ahead_from, drive->ahead_limit);
	u64 ready;

	if (halt_ns < rl_min(now, drive->known_ns) &&
	    (drive->geometry->read_ahead || end > drive->ahead_limit)) {
		/* The cache was full and the head waits: it must catch the place again. */
		drive->ahead_from = drive->ahead_limit;
		drive->ahead_from_ns = rl_rotate(drive, drive->ahead_limit, now);
	}
	rl_extend_ahead(drive, end, sectors);
	ready = now;
	if (end > drive->ahead_from)
		ready = drive->ahead_from_ns + rl_between_ns(drive, drive->ahead_from, end);
	return rl_max(now + rl_transfer_ns(sectors * (u64)RL_SECTOR_BYTES,
					   drive->geometry->interface_kib_s),
		      ready + rl_transfer_ns(RL_SECTOR_BYTES, drive->geometry->interface_kib_s));
}

/* Move the arm and wait for the platter. Return: when @lba is under the head. */
static u64 rl_position(struct rl_drive *drive, u64 lba, u64 now, u64 settle_ns)
{
	u64 from, to, distance, seek;

	rl_stop_ahead(drive, now);
	from = rl_media_ns(drive->geometry, drive->head);
	to = rl_media_ns(drive->geometry, lba);
	distance = from > to ? from - to : to - from;
	seek = rl_seek_ns(drive->geometry, distance);
	return rl_rotate(drive, lba, now + seek + (seek ? settle_ns : 0));
}

static u64 rl_read_anew(struct rl_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 done = rl_position(drive, lba, now, 0) + rl_between_ns(drive, lba, lba + sectors);
	struct rl_segment *segment;

	drive->active = rl_oldest_segment(drive);
	segment = &drive->segment[drive->active];
	segment->start = lba;
	segment->end = lba + sectors;
	drive->ahead_from = lba + sectors;
	drive->ahead_from_ns = done;
	drive->ahead_limit = lba + sectors;
	rl_extend_ahead(drive, lba + sectors, sectors);
	return done + rl_transfer_ns(RL_SECTOR_BYTES, drive->geometry->interface_kib_s);
}

/* A command that a sound drive would have done by free_ns. */
static u64 rl_drag(struct rl_drive *drive, u64 start)
{
	drive->free_ns = start + (drive->free_ns - start) * drive->slow;
	return drive->free_ns;
}

u64 rl_drive_read(struct rl_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 start = rl_max(now, drive->free_ns) + drive->geometry->command_ns;
	u32 index = rl_find_segment(drive, lba, sectors);

	if (index == RL_MAX_SEGMENTS) {
		drive->free_ns = rl_read_anew(drive, lba, sectors, start);
		index = drive->active;
	} else if (index == drive->active) {
		drive->free_ns = rl_read_on(drive, lba, sectors, start);
	} else {
		drive->free_ns = start + rl_transfer_ns(sectors * (u64)RL_SECTOR_BYTES,
							drive->geometry->interface_kib_s);
	}
	drive->segment[index].used = ++drive->uses;
	drive->writing = false;
	return rl_drag(drive, start - drive->geometry->command_ns);
}

/* Written sectors are removed from all segments. */
static void rl_drop_segments(struct rl_drive *drive, u64 lba, u32 sectors)
{
	u32 i;

	for (i = 0; i < drive->geometry->segments; i++) {
		struct rl_segment *segment = &drive->segment[i];

		if (segment->start < lba + sectors && lba < segment->end) {
			segment->start = 0;
			segment->end = 0;
			segment->used = 0;
		}
	}
}

u64 rl_drive_write(struct rl_drive *drive, u64 lba, u32 sectors, u64 now, u32 turns)
{
	u64 arrival = rl_max(now, drive->free_ns), start = arrival;

	/* The drive's own buffer lets a write that follows on the last one miss no turn. */
	if (!drive->writing || drive->head != lba || turns)
		start = rl_position(drive, lba, start + drive->geometry->command_ns,
				    drive->geometry->write_settle_ns);
	start += turns * drive->geometry->rotation_ns;
	drive->free_ns = start + rl_between_ns(drive, lba, lba + sectors);
	drive->head = lba + sectors;
	drive->writing = true;
	rl_drop_segments(drive, lba, sectors);
	return rl_drag(drive, arrival);
}
