// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time when a command of the disk completes. The head does one thing at a time. It serves
 * commands in rounds. A round has the commands that wait when it begins; the head always takes the
 * command that it can finish first. Later commands wait for the next round, so that a reader whose
 * next request is always queued does not occupy the head. A write completes when it is in the write
 * cache. The head writes the cache in three cases: when no command waits for it, when the cache is
 * three quarters full, and for a flush.
 */
#include "ahci.h"

void ah_disk_create(struct ah_disk *disk, const struct ah_config *config)
{
	rl_geometry_create(&disk->geometry, &config->drive);
	rl_drive_create(&disk->drive, &disk->geometry, 0);
}

static u32 ah_cache_sectors(const struct ah_model *model)
{
	return model->write_cache ? model->config.write_cache_kib * 2 : 0;
}

/* @known_ns: when the disk learned of the command. Return: when the head has done it. */
static u64 ah_serve(struct rl_drive *drive, bool write, u64 lba, u32 sectors, u64 known_ns, u64 now)
{
	drive->known_ns = known_ns;
	return write ? rl_drive_write(drive, lba, sectors, now, 0) :
		       rl_drive_read(drive, lba, sectors, now);
}

/* Return: when the head would have done this, if it began now. */
static u64 ah_estimate(const struct ah_disk *disk, bool write, u64 lba, u32 sectors, u64 known_ns,
		       u64 now)
{
	struct rl_drive trial = disk->drive;

	return ah_serve(&trial, write, lba, sectors, known_ns, now);
}

/* The next work of the head: a command by its slot, or a dirty piece by its place. */
struct ah_choice {
	u32 slot;
	u32 dirty;
	u64 done_ns;
};

/* The next round has the commands that wait now, and the pieces that are in the write cache now. */
static void ah_begin_round(struct ah_model *model)
{
	u32 i;

	for (i = 0; i < AH_SLOTS; i++)
		model->command[i].in_round = model->command[i].state == AH_WAITING;
	model->disk.round_dirty = model->disk.nr_dirty;
}

static void ah_choose_command(const struct ah_model *model, u64 now, struct ah_choice *best)
{
	u32 i;

	for (i = 0; i < AH_SLOTS; i++) {
		const struct ah_command *command = &model->command[i];
		u64 done;

		if (command->state != AH_WAITING || !command->in_round)
			continue;
		done = ah_estimate(&model->disk, command->write, command->lba, command->sectors,
				   command->arrival_ns, now);
		if (done < best->done_ns) {
			best->slot = i;
			best->done_ns = done;
		}
	}
}

/* @number: pieces to choose from, the oldest first */
static void ah_choose_dirty(const struct ah_model *model, u32 number, u64 now, struct ah_choice *best)
{
	const struct ah_disk *disk = &model->disk;
	u32 i;

	for (i = 0; i < number; i++) {
		u64 done = ah_estimate(disk, true, disk->dirty[i].lba, disk->dirty[i].sectors, now,
				       now);

		if (done < best->done_ns) {
			best->slot = AH_SLOTS;
			best->dirty = i;
			best->done_ns = done;
		}
	}
}

static bool ah_is_any(const struct ah_model *model, enum ah_command_state state)
{
	u32 i;

	for (i = 0; i < AH_SLOTS; i++)
		if (model->command[i].state == state)
			return true;
	return false;
}

/* Return: whether the cache is to be written although commands wait for the head. */
static bool ah_must_drain(const struct ah_model *model)
{
	return model->disk.dirty_sectors > ah_cache_sectors(model) / 4 * 3 ||
	       ah_is_any(model, AH_CACHING) || ah_is_any(model, AH_FLUSHING);
}

static void ah_land(struct ah_disk *disk, u32 piece, u64 now)
{
	const struct ah_dirty landing = disk->dirty[piece];

	disk->nr_dirty--;
	if (piece < disk->round_dirty)
		disk->round_dirty--;
	for (; piece < disk->nr_dirty; piece++)
		disk->dirty[piece] = disk->dirty[piece + 1];
	disk->landing_sectors = landing.sectors;
	disk->free_ns = ah_serve(&disk->drive, true, landing.lba, landing.sectors, now, now);
}

/* The next work of the round: a command, or a piece of the cache while it must be written. */
static void ah_choose(const struct ah_model *model, u64 now, struct ah_choice *best)
{
	ah_choose_command(model, now, best);
	if (ah_must_drain(model))
		ah_choose_dirty(model, model->disk.round_dirty, now, best);
}

/* Give the idle head something to do. Return: false if there is nothing. */
static bool ah_move(struct ah_model *model, u64 now)
{
	struct ah_choice best = { AH_SLOTS, AH_DIRTY, RL_NEVER };
	struct ah_disk *disk = &model->disk;
	struct ah_command *command;

	ah_choose(model, now, &best);
	if (best.done_ns == RL_NEVER) {
		ah_begin_round(model);
		ah_choose(model, now, &best);
	}
	if (best.done_ns == RL_NEVER)	/* nobody waits for the head */
		ah_choose_dirty(model, disk->nr_dirty, now, &best);
	if (best.done_ns == RL_NEVER)
		return false;
	if (best.slot == AH_SLOTS) {
		ah_land(disk, best.dirty, now);
		return true;
	}
	command = &model->command[best.slot];
	command->state = AH_RUNNING;
	command->due_ns = ah_serve(&disk->drive, command->write, command->lba, command->sectors,
				   command->arrival_ns, now);
	disk->free_ns = command->due_ns;
	return true;
}

/* Return: whether the cache has taken the write. */
static bool ah_cache(struct ah_model *model, struct ah_command *command, u64 now)
{
	struct ah_disk *disk = &model->disk;
	struct ah_dirty *last = &disk->dirty[disk->nr_dirty ? disk->nr_dirty - 1 : 0];
	bool follows = disk->nr_dirty && last->lba + last->sectors == command->lba &&
		       last->sectors + command->sectors <= 0xffff;

	if (disk->dirty_sectors + command->sectors > ah_cache_sectors(model) ||
	    (!follows && disk->nr_dirty == AH_DIRTY))
		return false;
	if (follows)
		last->sectors += command->sectors;
	else
		disk->dirty[disk->nr_dirty++] = (struct ah_dirty){ command->lba, command->sectors };
	disk->dirty_sectors += command->sectors;
	disk->link_ns = rl_max(disk->link_ns, now) + disk->geometry.command_ns * disk->drive.slow +
			rl_transfer_ns(command->sectors * (u64)RL_SECTOR_BYTES,
				       disk->geometry.interface_kib_s);
	command->state = AH_RUNNING;
	command->due_ns = disk->link_ns;
	return true;
}

void ah_disk_add(struct ah_model *model, struct ah_command *command, bool through, u64 now)
{
	bool cached = command->write && !through &&
		      command->sectors <= ah_cache_sectors(model);

	command->state = cached ? AH_CACHING : AH_WAITING;
	ah_disk_advance(model, now);
}

void ah_disk_advance(struct ah_model *model, u64 now)
{
	struct ah_disk *disk = &model->disk;
	bool moved = true;
	u32 i;

	while (moved) {
		moved = false;
		if (disk->free_ns <= now) {
			disk->dirty_sectors -= disk->landing_sectors;
			disk->landing_sectors = 0;
			moved = ah_move(model, now);
		}
		for (i = 0; i < AH_SLOTS; i++)
			if (model->command[i].state == AH_CACHING)
				moved |= ah_cache(model, &model->command[i], now);
	}
	if (disk->dirty_sectors)
		return;
	for (i = 0; i < AH_SLOTS; i++)
		if (model->command[i].state == AH_FLUSHING) {
			model->command[i].state = AH_RUNNING;
			model->command[i].due_ns = now + disk->geometry.command_ns;
		}
}

u64 ah_disk_wake_ns(const struct ah_model *model)
{
	const struct ah_disk *disk = &model->disk;

	if (disk->dirty_sectors || ah_is_any(model, AH_WAITING) || ah_is_any(model, AH_CACHING) ||
	    ah_is_any(model, AH_FLUSHING))
		return disk->free_ns;
	return RL_NEVER;
}
