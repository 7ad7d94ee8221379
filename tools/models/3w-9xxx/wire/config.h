/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated array as one flat list of key=value pairs, parsed strictly. */
#ifndef TW_CONFIG_H
#define TW_CONFIG_H

#include "base/trigger.h"
#include "media/drive.h"

#define TW_MAX_CONTROLLERS	4

/* Sizes of the tables that exist once per controller. */
#define TW_MAX_UNITS		32
#define TW_MAX_DRIVES		32
#define TW_MAX_REQUESTS		256
#define TW_ROWS			128	/* rows of RAID 5 that the cache gathers at a time, at most */

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
	struct rl_trigger trigger[TW_FAULTS];
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
 * @base: name, number, count (key controller.count), memory
 * @controller: see there
 * @array: see there
 * @background: see there
 * @drive: see there
 * @fault: see there
 */
struct tw_config {
	struct rl_config base;
	struct tw_controller_config controller;
	struct tw_array_config array;
	struct tw_background_config background;
	struct rl_drive_config drive;
	struct tw_fault_config fault;
};

/* The keys of a profile of this device, their rules, and what differs between controllers of one profile. */
extern const struct rl_keys tw_keys;

const char *tw_level_name(u32 level);

#endif
