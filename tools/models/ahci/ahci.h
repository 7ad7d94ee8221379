/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated AHCI controller with one SATA disk behind its port. Knows neither
 * kernel nor clock; a host gives it both through rl_host_ops.
 */
#ifndef AH_AHCI_H
#define AH_AHCI_H

#include "base/base.h"
#include "media/media.h"
#include "wire.h"

enum ah_fault_kind {
	AH_FAULT_LOSE,		/* a command is never answered */
	AH_FAULT_MEDIUM,	/* sectors that cannot be read */
	AH_FAULT_SLOW,		/* the disk becomes slow */
	AH_FAULT_RESET,		/* the link goes down for a moment; all commands are lost */
	AH_FAULT_GONE,		/* the disk is unplugged */
	AH_FAULTS,
};

/**
 * struct ah_fault_config - profile table "fault"
 * @trigger: by an enum ah_fault_kind; no @lba for AH_FAULT_MEDIUM
 * @medium_lba: first bad sector; 0: where the triggering command began
 * @medium_sectors: how many
 * @slow_factor: every command takes this many times as long
 */
struct ah_fault_config {
	struct rl_trigger trigger[AH_FAULTS];
	u64 medium_lba;
	u32 medium_sectors;
	u32 slow_factor;
};

enum ah_media { AH_PLATTERS, AH_FLASH };

/**
 * struct ah_config - a profile of this device
 * @base: see there
 * @media: an enum ah_media
 * @drive: the mechanics; of flash only the capacity, the drive's own time and the rate of the link count
 * @flash: the flash; its cache is @write_cache_kib
 * @latency_ns: of flash: added to every read and write; overlaps with others
 * @io_opt_kib: 0: an ATA disk reports no optimal size
 * @rotational: the disk reports that it rotates
 * @queue_depth: commands that the disk queues (NCQ), 1: it queues none
 * @physical_bytes: of a physical sector, which the disk reports; logical ones have 512
 * @write_cache_kib: writes complete when they are in it; 0: on the platter
 * @model: name of the disk
 * @fault: see there
 */
struct ah_config {
	struct rl_config base;
	u32 media;
	struct rl_drive_config drive;
	struct rl_flash_config flash;
	u32 latency_ns;
	u32 io_opt_kib;
	u32 rotational;
	u32 queue_depth;
	u32 physical_bytes;
	u32 write_cache_kib;
	char model[41];
	struct ah_fault_config fault;
};

extern const struct rl_keys ah_keys;

enum ah_command_state {
	AH_FREE,
	AH_WAITING,		/* for the head */
	AH_CACHING,		/* a write that waits for room in the cache */
	AH_FLUSHING,		/* waits for the cache to be empty */
	AH_RUNNING,		/* @due_ns is known */
	AH_LOST,		/* never answered */
};

/* How the end of a command is reported. */
enum ah_answer {
	AH_ANSWER_D2H,		/* a register frame */
	AH_ANSWER_PIO,		/* the setup frame of the data that it sent */
	AH_ANSWER_SDB,		/* a set-device-bits frame: it was queued */
};

/**
 * struct ah_command - the command in one slot
 * @state: an enum ah_command_state
 * @answer: an enum ah_answer
 * @write: it writes
 * @in_round: the head takes it before those that came later
 * @error: of the error register, 0 is good
 * @lba: first sector
 * @sectors: how many
 * @log: entry, or RL_LOG_NONE
 * @arrival_ns: when it came
 * @due_ns: when it is answered
 */
struct ah_command {
	u8 state;
	u8 answer;
	bool write;
	bool in_round;
	u8 error;
	u64 lba;
	u32 sectors;
	u32 log;
	u64 arrival_ns;
	u64 due_ns;
};

/**
 * struct ah_flash - timing of flash (flash.c)
 * @flash: channels and write cache
 * @link: one for both directions
 * @command_ns: the drive's own time for each command
 * @free_ns: when the drive's own time for the command before is over
 */
struct ah_flash {
	struct rl_flash flash;
	struct rl_bucket link;
	u64 command_ns;
	u64 free_ns;
};

#define AH_DIRTY		64U

/* Sectors in the write cache that are to be written, in one piece. */
struct ah_dirty {
	u64 lba;
	u32 sectors;
};

/**
 * struct ah_disk - timing of the disk: one movement of the head at a time
 * @geometry: of the platters
 * @drive: the mechanics
 * @free_ns: when the head has done what it does
 * @link_ns: when the link has done what it does for the write cache
 * @dirty: pieces in the write cache, oldest first
 * @nr_dirty: how many
 * @round_dirty: of these, the first are in the round
 * @dirty_sectors: in the cache, with those that are being written
 * @landing_sectors: that are being written until @free_ns
 */
struct ah_disk {
	struct rl_geometry geometry;
	struct rl_drive drive;
	u64 free_ns;
	u64 link_ns;
	struct ah_dirty dirty[AH_DIRTY];
	u32 nr_dirty;
	u32 round_dirty;
	u32 dirty_sectors;
	u32 landing_sectors;
};

#define AH_BOUNCE_SECTORS	8U

/**
 * struct ah_model - the controller and its disk
 * @device: what every device has
 * @config: the profile
 * @ghc: register of the controller
 * @is: register of the controller
 * @list: the port's address of the command list
 * @frames: the port's address of received frames
 * @port_is: register of the port
 * @port_ie: register of the port
 * @cmd: register of the port
 * @tfd: register of the port
 * @sig: register of the port
 * @ssts: register of the port
 * @sctl: register of the port
 * @serr: register of the port
 * @sact: register of the port: queued commands that have not ended
 * @ci: register of the port: commands that the disk has not accepted or, if not queued, not ended
 * @write_cache: the driver left it on
 * @command: by slot; that of a queued command is its tag
 * @stopped: the controller begins no command until the driver stops and starts it
 * @failed: the disk has ended commands because of an error, and waits for the log to be read or a reset
 * @failed_tag: of the queued command that failed
 * @failed_error: its error register
 * @failed_lba: its first bad sector
 * @disk: timing of platters
 * @flash: timing of flash; NULL: the disk has platters
 * @store: contents
 * @armed: faults
 * @nr_transfers: reads and writes so far
 * @lose_next: the next read or write is lost
 * @gone: the disk was unplugged
 * @bad: sectors that cannot be read
 * @bounce: data in transfer
 */
struct ah_model {
	struct rl_device device;
	struct ah_config config;
	u32 ghc;
	u32 is;
	u64 list;
	u64 frames;
	u32 port_is;
	u32 port_ie;
	u32 cmd;
	u32 tfd;
	u32 sig;
	u32 ssts;
	u32 sctl;
	u32 serr;
	u32 sact;
	u32 ci;
	bool write_cache;
	struct ah_command command[AH_SLOTS];
	bool stopped;
	bool failed;
	u8 failed_tag;
	u8 failed_error;
	u64 failed_lba;
	struct ah_disk disk;
	struct ah_flash *flash;
	struct rl_store store;
	struct rl_armed armed[AH_FAULTS];
	u64 nr_transfers;
	bool lose_next;
	bool gone;
	struct rl_bad bad;
	u64 bounce[AH_BOUNCE_SECTORS * RL_SECTOR_BYTES / sizeof(u64)];
};

extern const struct rl_kind ah_kind;

/* Registers and frames (hba.c). */

/* A command has ended: tell the driver as the command's answer says. */
void ah_answer(struct ah_model *model, u32 slot, u64 now);

/* The controller could not reach the host's memory: it stops. */
void ah_bus_failed(struct ah_model *model);

/* All commands are forgotten: the log says that a reset ended them. */
void ah_forget(struct ah_model *model, u64 now);

/* The link to the disk goes down; @comes_back: and up again. */
void ah_link_down(struct ah_model *model, bool comes_back);

/* Commands (ata.c). */

/* Begin the command whose header is in @slot of the list. */
void ah_begin(struct ah_model *model, u32 slot, u64 now);

const char *ah_command_name(const struct rl_log_entry *entry);

/* Timing (disk.c). */
void ah_disk_create(struct ah_disk *disk, const struct ah_config *config);

/* A read or write begins to wait, or runs; its slot has lba, sectors and write. @through: past the write cache. */
void ah_disk_add(struct ah_model *model, struct ah_command *command, bool through, u64 now);

/* The head is given what comes next, writes are taken into the cache, flushes end. */
void ah_disk_advance(struct ah_model *model, u64 now);

/* Return: when something of the disk is to be looked at, RL_NEVER if nothing waits. */
u64 ah_disk_wake_ns(const struct ah_model *model);

/* Timing of flash (flash.c). */

/*
 * Return: false when there is no memory. Flash has a chunk of its own, so that a disk with platters
 * takes no more than before.
 */
bool ah_flash_create(struct ah_model *model, rl_alloc_chunk_fn alloc, void *host);

/* A read or write runs. @through: not only into the write cache. */
void ah_flash_add(struct ah_model *model, struct ah_command *command, bool through, u64 now);

/* A command without data runs; @drain: until the write cache is empty. */
void ah_flash_run(struct ah_model *model, struct ah_command *command, bool drain, u64 now);

/* Faults (fault.c). */
void ah_fault_create(struct ah_model *model);
void ah_fault_advance(struct ah_model *model, u64 now);
void ah_fault_transfer(struct ah_model *model, u64 lba, u32 sectors, u64 now);
u64 ah_fault_wake_ns(const struct ah_model *model);

#endif
