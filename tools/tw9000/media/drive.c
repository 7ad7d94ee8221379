// SPDX-License-Identifier: GPL-2.0-or-later
/* One disk drive's timing: seek, rotation, zones, cache with read-ahead. */
#include "drive.h"

#define TW_MILLION 1000000LL

static u64 tw_square_root(u64 value)
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
static void tw_seek_curve(struct tw_geometry *geometry, const struct tw_drive_config *config)
{
	s64 track = config->seek_track_us;
	s64 average = (s64)config->seek_average_us - track;
	s64 full = (s64)config->seek_full_us - track;

	geometry->seek_track_ns = config->seek_track_us * TW_NS_PER_US;
	geometry->seek_root_ns = (average * 1000 - full * 1000 / 3) * TW_MILLION / 244017;
	geometry->seek_linear_ns = full * 1000 - geometry->seek_root_ns;
}

void tw_geometry_create(struct tw_geometry *geometry, const struct tw_drive_config *config)
{
	u64 media_ns = 0, lba = 0;
	u32 i, rate;

	geometry->sectors = config->sectors;
	geometry->rotation_ns = 60 * TW_NS_PER_SECOND / config->rpm;
	geometry->write_settle_ns = config->write_settle_us * TW_NS_PER_US;
	geometry->command_ns = config->command_us * TW_NS_PER_US;
	geometry->interface_kib_s = config->interface_kib_s;
	geometry->segments = config->segments;
	geometry->segment_sectors = config->cache_kib * 2 / config->segments;
	geometry->read_ahead = config->read_ahead;
	for (i = 0; i < TW_ZONES; i++) {
		struct tw_zone *zone = &geometry->zone[i];

		rate = config->media_outer_kib_s -
		       (config->media_outer_kib_s - config->media_inner_kib_s) * i / (TW_ZONES - 1);
		zone->lba = lba;
		zone->media_ns = media_ns;
		zone->sectors = config->sectors / TW_ZONES;
		if (i == TW_ZONES - 1)
			zone->sectors = config->sectors - lba;
		zone->length_ns = zone->sectors * (TW_NS_PER_SECOND / 2) / rate;
		lba += zone->sectors;
		media_ns += zone->length_ns;
	}
	geometry->stroke_ns = media_ns;
	tw_seek_curve(geometry, config);
}

void tw_drive_create(struct tw_drive *drive, const struct tw_geometry *geometry, u32 number)
{
	tw_fill(drive, 0, sizeof(*drive));
	drive->geometry = geometry;
	drive->slow = 1;
	drive->active = TW_MAX_SEGMENTS;
	/* Multiples of the golden ratio never bunch up. */
	drive->phase_ns = number * 618034ULL % 1000000 * geometry->rotation_ns / 1000000;
}

void tw_drive_power_on(struct tw_drive *drive)
{
	drive->writing = false;
	drive->active = TW_MAX_SEGMENTS;
	tw_fill(drive->segment, 0, sizeof(drive->segment));
}

/* @part / @whole of @length, without overflow for any drive that the configuration allows. */
static u64 tw_scale(u64 length, u64 part, u64 whole)
{
	u64 quotient = length / whole;

	return quotient * part + (length - quotient * whole) * part / whole;
}

u64 tw_media_ns(const struct tw_geometry *geometry, u64 lba)
{
	u64 i = lba / geometry->zone[0].sectors;
	const struct tw_zone *zone = &geometry->zone[tw_min(i, TW_ZONES - 1)];

	return zone->media_ns + tw_scale(zone->length_ns, lba - zone->lba, zone->sectors);
}

/* The inverse: the sector that is under the head at a media time. */
static u64 tw_media_lba(const struct tw_geometry *geometry, u64 media_ns)
{
	u32 i = 0;
	const struct tw_zone *zone;

	while (i < TW_ZONES - 1 && geometry->zone[i + 1].media_ns <= media_ns)
		i++;
	zone = &geometry->zone[i];
	return tw_min(zone->lba + (media_ns - zone->media_ns) /
		      (zone->length_ns / zone->sectors + 1), geometry->sectors);
}

u64 tw_seek_ns(const struct tw_geometry *geometry, u64 distance_ns)
{
	s64 part;

	if (distance_ns < geometry->rotation_ns)
		return 0;
	/* Part of the stroke in millionths; its root in thousandths. */
	part = (s64)(distance_ns / (geometry->stroke_ns / TW_MILLION + 1));
	return geometry->seek_track_ns +
	       (u64)(geometry->seek_root_ns * (s64)tw_square_root((u64)part * TW_MILLION) / TW_MILLION +
		     geometry->seek_linear_ns * part / TW_MILLION);
}

/* Return: when @lba next passes under the head, not before @now. */
static u64 tw_rotate(const struct tw_drive *drive, u64 lba, u64 now)
{
	u64 turn = drive->geometry->rotation_ns;
	u64 angle = (now + drive->phase_ns) % turn;
	u64 wanted = tw_media_ns(drive->geometry, lba) % turn;

	return now + (wanted + turn - angle) % turn;
}

static u64 tw_between_ns(const struct tw_drive *drive, u64 from, u64 to)
{
	if (to <= from)
		return 0;
	return tw_media_ns(drive->geometry, to) - tw_media_ns(drive->geometry, from);
}

/* Stop reading on: the segment keeps what had been read by @now. */
static void tw_stop_ahead(struct tw_drive *drive, u64 now)
{
	struct tw_segment *segment;
	u64 reached = drive->ahead_from;

	if (drive->active == TW_MAX_SEGMENTS)
		return;
	segment = &drive->segment[drive->active];
	if (now > drive->ahead_from_ns)
		reached = tw_media_lba(drive->geometry,
				       tw_media_ns(drive->geometry, drive->ahead_from) +
				       (now - drive->ahead_from_ns));
	reached = tw_max(reached, drive->ahead_from);
	segment->end = tw_min(reached, drive->ahead_limit);
	drive->head = segment->end;
	drive->active = TW_MAX_SEGMENTS;
}

/* Return: segment that holds @lba or, if active, will come to it; else TW_MAX_SEGMENTS. */
static u32 tw_find_segment(const struct tw_drive *drive, u64 lba, u32 sectors)
{
	u32 i;

	for (i = 0; i < drive->geometry->segments; i++) {
		const struct tw_segment *segment = &drive->segment[i];

		if (lba < segment->start)
			continue;
		if (i == drive->active ? lba <= drive->ahead_limit : lba + sectors <= segment->end)
			return i;
	}
	return TW_MAX_SEGMENTS;
}

static u32 tw_oldest_segment(const struct tw_drive *drive)
{
	u32 i, oldest = 0;

	for (i = 1; i < drive->geometry->segments; i++)
		if (drive->segment[i].used < drive->segment[oldest].used)
			oldest = i;
	return oldest;
}

/* The active segment is to hold up to @end and what follows; it forgets its oldest part. */
static void tw_extend_ahead(struct tw_drive *drive, u64 end, u32 sectors)
{
	const struct tw_geometry *geometry = drive->geometry;
	struct tw_segment *segment = &drive->segment[drive->active];
	u64 ahead = geometry->segment_sectors > sectors ? geometry->segment_sectors - sectors : 0;
	u64 limit = geometry->read_ahead ? tw_min(end + ahead, geometry->sectors) : end;

	drive->ahead_limit = tw_max(limit, drive->ahead_limit);
	if (drive->ahead_limit > segment->start + geometry->segment_sectors)
		segment->start = tw_min(drive->ahead_limit - geometry->segment_sectors,
					end - sectors);
}

/* A read that the running or halted read-ahead leads to. */
static u64 tw_read_on(struct tw_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 end = lba + sectors;
	u64 halt_ns = drive->ahead_from_ns +
		      tw_between_ns(drive, drive->ahead_from, drive->ahead_limit);
	u64 ready;

	if (halt_ns < now && (drive->geometry->read_ahead || end > drive->ahead_limit)) {
		/* The cache was full and the head waits: it must catch the place again. */
		drive->ahead_from = drive->ahead_limit;
		drive->ahead_from_ns = tw_rotate(drive, drive->ahead_limit, now);
	}
	tw_extend_ahead(drive, end, sectors);
	ready = now;
	if (end > drive->ahead_from)
		ready = drive->ahead_from_ns + tw_between_ns(drive, drive->ahead_from, end);
	return tw_max(now + tw_transfer_ns(sectors * (u64)TW_SECTOR_BYTES,
					   drive->geometry->interface_kib_s),
		      ready + tw_transfer_ns(TW_SECTOR_BYTES, drive->geometry->interface_kib_s));
}

/* Move the arm and wait for the platter. Return: when @lba is under the head. */
static u64 tw_position(struct tw_drive *drive, u64 lba, u64 now, u64 settle_ns)
{
	u64 from, to, distance, seek;

	tw_stop_ahead(drive, now);
	from = tw_media_ns(drive->geometry, drive->head);
	to = tw_media_ns(drive->geometry, lba);
	distance = from > to ? from - to : to - from;
	seek = tw_seek_ns(drive->geometry, distance);
	return tw_rotate(drive, lba, now + seek + (seek ? settle_ns : 0));
}

static u64 tw_read_anew(struct tw_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 done = tw_position(drive, lba, now, 0) + tw_between_ns(drive, lba, lba + sectors);
	struct tw_segment *segment;

	drive->active = tw_oldest_segment(drive);
	segment = &drive->segment[drive->active];
	segment->start = lba;
	segment->end = lba + sectors;
	drive->ahead_from = lba + sectors;
	drive->ahead_from_ns = done;
	drive->ahead_limit = lba + sectors;
	tw_extend_ahead(drive, lba + sectors, sectors);
	return done + tw_transfer_ns(TW_SECTOR_BYTES, drive->geometry->interface_kib_s);
}

/* A command that a sound drive would have done by free_ns. */
static u64 tw_drag(struct tw_drive *drive, u64 start)
{
	drive->free_ns = start + (drive->free_ns - start) * drive->slow;
	return drive->free_ns;
}

u64 tw_drive_read(struct tw_drive *drive, u64 lba, u32 sectors, u64 now)
{
	u64 start = tw_max(now, drive->free_ns) + drive->geometry->command_ns;
	u32 found = tw_find_segment(drive, lba, sectors);

	if (found == TW_MAX_SEGMENTS) {
		drive->free_ns = tw_read_anew(drive, lba, sectors, start);
		found = drive->active;
	} else if (found == drive->active) {
		drive->free_ns = tw_read_on(drive, lba, sectors, start);
	} else {
		drive->free_ns = start + tw_transfer_ns(sectors * (u64)TW_SECTOR_BYTES,
							drive->geometry->interface_kib_s);
	}
	drive->segment[found].used = ++drive->uses;
	drive->writing = false;
	return tw_drag(drive, start - drive->geometry->command_ns);
}

/* What is written is not in any segment afterwards. */
static void tw_drop_segments(struct tw_drive *drive, u64 lba, u32 sectors)
{
	u32 i;

	for (i = 0; i < drive->geometry->segments; i++) {
		struct tw_segment *segment = &drive->segment[i];

		if (segment->start < lba + sectors && lba < segment->end) {
			segment->start = 0;
			segment->end = 0;
			segment->used = 0;
		}
	}
}

u64 tw_drive_write(struct tw_drive *drive, u64 lba, u32 sectors, u64 now, u32 turns)
{
	u64 arrival = tw_max(now, drive->free_ns), start = arrival;

	/* The drive's own buffer lets a write that follows on the last one miss no turn. */
	if (!drive->writing || drive->head != lba || turns)
		start = tw_position(drive, lba, start + drive->geometry->command_ns,
				    drive->geometry->write_settle_ns);
	start += turns * drive->geometry->rotation_ns;
	drive->free_ns = start + tw_between_ns(drive, lba, lba + sectors);
	drive->head = lba + sectors;
	drive->writing = true;
	tw_drop_segments(drive, lba, sectors);
	return tw_drag(drive, arrival);
}
