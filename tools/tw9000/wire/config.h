/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated array as one flat list of key=value pairs, parsed strictly. */
#ifndef TW_CONFIG_H
#define TW_CONFIG_H

#include "types.h"

#define TW_CONFIG_ERROR_BYTES	160

enum tw_level {
	TW_LEVEL_SINGLE,
	TW_LEVEL_RAID0,
	TW_LEVEL_RAID1,
	TW_LEVEL_RAID5,
	TW_LEVEL_RAID10,
};

#define TW_WAITS_FOR_ROW 2U

/**
 * struct tw_controller_config - the controller as profile table "controller" states it
 * @count: PCI functions, each a controller like this with an array of its own
 * @device_id: PCI device, 0x1002 (9500S) to 0x1005 (9690SA)
 * @ports: drive ports reported to the driver
 * @srl: highest firmware interface level; 28 and more makes Linux scan 16 LUNs
 * @write_cache_reported: 1 if MODE SENSE reports a volatile write cache, which
 *	makes Linux send SYNCHRONIZE CACHE
 * @command_us: serialised firmware time of every command
 * @latency_us: further time of every read; overlaps with other commands
 * @part_us: and this much for each stripe that it touches; overlaps as well
 * @read_kib_s: serialised path from the controller to the host
 * @write_kib_s: serialised path from the host into the controller's cache
 * @parity_kib_s: RAID 5's exclusive-or of what is in the cache; serialised as well
 * @gather_ms: part of a RAID 5 row waits this long in the cache for the rest
 * @gather_rows: so many rows of RAID 5 gather at a time; one more, and the oldest is written
 * @gather_reads: 1 if a read waits until all rows that are being gathered have been written
 * @parity_waits: 1 if the firmware waits for the old data that the parity of a row in parts needs,
 *	TW_WAITS_FOR_ROW if it waits until such a row has been written
 * @cache_mib: write-back cache; 0 writes through
 * @battery: 1 if it keeps the cache while there is no power
 * @firmware: version string, 16 characters
 * @bios: version string, 16 characters
 * @vendor: INQUIRY vendor
 * @product: INQUIRY product
 * @revision: INQUIRY revision
 */
struct tw_controller_config {
	u32 count;
	u32 device_id;
	u32 ports;
	u32 srl;
	u32 write_cache_reported;
	u32 command_us;
	u32 latency_us;
	u32 part_us;
	u32 read_kib_s;
	u32 write_kib_s;
	u32 parity_kib_s;
	u32 gather_ms;
	u32 gather_rows;
	u32 gather_reads;
	u32 parity_waits;
	u32 cache_mib;
	u32 battery;
	char firmware[17];
	char bios[17];
	char vendor[9];
	char product[17];
	char revision[5];
};

/**
 * struct tw_array_config - profile table "array"
 * @level: an enum tw_level
 * @drives: member drives of one unit
 * @stripe_kib: bytes on one drive before the next drive's turn
 * @units: equal units, each on drives of its own
 */
struct tw_array_config {
	u32 level;
	u32 drives;
	u32 stripe_kib;
	u32 units;
};

/**
 * struct tw_background_config - profile table "array", what the controller does of itself
 * @initialize: 1 if unit 0 is initialised in the background from power-on
 * @verify: 1 if unit 0 is verified in the background from power-on
 * @kib: of each member, in one step of background work
 * @pause_us: the drives are left alone between two steps
 */
struct tw_background_config {
	u32 initialize;
	u32 verify;
	u32 kib;
	u32 pause_us;
};

/**
 * struct tw_drive_config - profile table "drive"
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
struct tw_drive_config {
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

enum tw_fault_kind {
	TW_FAULT_LOSE,		/* a command is never answered */
	TW_FAULT_MEDIUM,	/* sectors that cannot be read */
	TW_FAULT_SLOW,		/* a drive becomes slow */
	TW_FAULT_REMOVE,	/* a drive is removed */
	TW_FAULT_RESET,		/* the controller resets itself */
	TW_FAULT_FULL,		/* the command queue is full */
	TW_FAULT_GONE,		/* a unit goes offline */
	TW_FAULT_SECOND,	/* another drive is removed */
	TW_FAULT_POWER,		/* the controller loses power for a moment */
	TW_FAULTS,
};

/**
 * struct tw_trigger - when a fault strikes; what is 0 does not trigger it
 * @command: with the READ or WRITE of this number, from 1
 * @ms: this long after power-on
 * @lba: with the first READ or WRITE of this sector
 */
struct tw_trigger {
	u32 command;
	u32 ms;
	u64 lba;
};

/**
 * struct tw_fault_config - profile table "fault"
 * @trigger: by an enum tw_fault_kind; no @lba for TW_FAULT_MEDIUM
 * @controller: where all of this happens, from 0
 * @unit: that has bad sectors, that goes offline, whose sectors trigger
 * @medium_lba: first bad sector; 0: where the triggering command began
 * @medium_sectors: how many
 * @slow_member: drive, from 1 over all units
 * @slow_factor: takes this many times as long from then on
 * @remove_member: drive, from 1 over all units
 * @replace_ms: a new one is put in this long after that; 0: never
 * @second_member: another drive, from 1 over all units, which is not replaced
 * @full_for_ms: how long the command queue stays full
 */
struct tw_fault_config {
	struct tw_trigger trigger[TW_FAULTS];
	u32 controller;
	u32 unit;
	u64 medium_lba;
	u32 medium_sectors;
	u32 slow_member;
	u32 slow_factor;
	u32 remove_member;
	u32 replace_ms;
	u32 second_member;
	u32 full_for_ms;
};

/**
 * struct tw_config - everything that distinguishes one simulated controller from another
 * @name: the profile's name, shown in the status
 * @number: of controllers that are alike, which one this is, from 0; no key sets it
 * @store_mib: memory for the sectors' contents, of each controller
 * @log_entries: capacity of the ground-truth log, of each controller
 * @controller: see there
 * @array: see there
 * @background: see there
 * @drive: see there
 * @fault: see there
 */
struct tw_config {
	char name[32];
	u32 number;
	u32 store_mib;
	u32 log_entries;
	struct tw_controller_config controller;
	struct tw_array_config array;
	struct tw_background_config background;
	struct tw_drive_config drive;
	struct tw_fault_config fault;
};

/**
 * tw_config_parse() - read "key=value,key=value,..." over the defaults
 * @config: filled in
 * @text: the pairs; an underscore in a text value stands for a space
 * @error: says which key was refused and why
 *
 * Return: whether all of @text was accepted.
 */
bool tw_config_parse(struct tw_config *config, const char *text,
		     char error[TW_CONFIG_ERROR_BYTES]);

/**
 * tw_config_select() - one of several controllers that are alike
 * @config: what they have in common; becomes what controller @number is
 * @number: from 0
 *
 * Faults, and a drive that is slow from the start, belong to controller fault.controller.
 */
void tw_config_select(struct tw_config *config, u32 number);

const char *tw_level_name(u32 level);

/* The keys that a profile may set: the one list of them. */

enum tw_key_type { TW_KEY_U32, TW_KEY_U64, TW_KEY_TEXT, TW_KEY_LEVEL };

/**
 * struct tw_key - one key
 * @name: with its table in front
 * @offset: of the value in struct tw_config
 * @type: of the value
 * @low: numbers: smallest value; text: 0
 * @high: numbers: largest value; text: buffer size
 * @preset: numbers and levels: the value if nothing is said
 * @preset_text: the same for a text, else NULL
 */
struct tw_key {
	const char *name;
	size_t offset;
	enum tw_key_type type;
	u64 low;
	u64 high;
	u64 preset;
	const char *preset_text;
};

extern const struct tw_key tw_keys[];
extern const u32 tw_nr_keys;

#endif
