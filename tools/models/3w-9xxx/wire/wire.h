/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers, packets, SCSI, and the keys of a profile. */
#ifndef TW_WIRE_H
#define TW_WIRE_H

#include "base/base.h"
#include "media/media.h"

/* A simulated array as one flat list of key=value pairs, parsed strictly. */

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

/*
 * Registers and packets of a 3ware 9000 controller as the Linux driver
 * 3w-9xxx uses them. Multi-byte fields are little-endian byte arrays, so that
 * no field can be read in the wrong order or through a misaligned pointer.
 */

struct tw_le16 { u8 byte[2]; };
struct tw_le32 { u8 byte[4]; };
struct tw_le64 { u8 byte[8]; };

static inline u16 tw_get16(struct tw_le16 v)
{
	return (u16)(v.byte[0] | v.byte[1] << 8);
}

static inline u32 tw_get32(struct tw_le32 v)
{
	return v.byte[0] | (u32)v.byte[1] << 8 | (u32)v.byte[2] << 16 | (u32)v.byte[3] << 24;
}

static inline u64 tw_get64(struct tw_le64 v)
{
	u64 value = 0;
	int i;

	for (i = 7; i >= 0; i--)
		value = value << 8 | v.byte[i];
	return value;
}

static inline struct tw_le16 tw_put16(u16 v)
{
	return (struct tw_le16){ { (u8)v, (u8)(v >> 8) } };
}

static inline struct tw_le32 tw_put32(u32 v)
{
	return (struct tw_le32){ { (u8)v, (u8)(v >> 8), (u8)(v >> 16), (u8)(v >> 24) } };
}

/* PCI identity. */
#define TW_PCI_VENDOR		0x13c1
#define TW_PCI_DEVICE_9500S	0x1002	/* registers behind BAR 1; the others: BAR 2 */
#define TW_PCI_DEVICE_9550SX	0x1003
#define TW_PCI_DEVICE_9650SE	0x1004
#define TW_PCI_DEVICE_9690SA	0x1005
#define TW_PCI_CLASS_RAID	0x0104
#define TW_REGISTER_BYTES	0x100

/* Register offsets. */
enum tw_register {
	TW_REG_CONTROL		= 0x00,	/* write */
	TW_REG_STATUS		= 0x04,	/* read */
	TW_REG_COMMAND		= 0x08,	/* write: packet address below 4 GiB */
	TW_REG_RESPONSE		= 0x0c,	/* read: one finished request id */
	TW_REG_COMMAND_LOW	= 0x20,	/* write: low half of a packet address ... */
	TW_REG_COMMAND_HIGH	= 0x24,	/* ... and the high half, which posts it */
	TW_REG_DRAIN		= 0x30,	/* read: TW_DRAINED after a reset (9550SX on) */
};

#define TW_DRAINED		0xffffU

/* Control register bits. */
#define TW_CONTROL_CLEAR_PARITY_ERROR	0x00800000U
#define TW_CONTROL_CLEAR_QUEUE_ERROR	0x00400000U
#define TW_CONTROL_CLEAR_PCI_ABORT	0x00100000U
#define TW_CONTROL_CLEAR_HOST		0x00080000U
#define TW_CONTROL_CLEAR_ATTENTION	0x00040000U
#define TW_CONTROL_MASK_COMMAND		0x00020000U
#define TW_CONTROL_MASK_RESPONSE	0x00010000U
#define TW_CONTROL_UNMASK_COMMAND	0x00008000U
#define TW_CONTROL_UNMASK_RESPONSE	0x00004000U
#define TW_CONTROL_CLEAR_ERROR		0x00000200U
#define TW_CONTROL_SOFT_RESET		0x00000100U
#define TW_CONTROL_ENABLE_INTERRUPTS	0x00000080U
#define TW_CONTROL_DISABLE_INTERRUPTS	0x00000040U
#define TW_CONTROL_HOST_INTERRUPT	0x00000020U

/* Status register bits. */
#define TW_STATUS_QUEUE_ERROR		0x00400000U
#define TW_STATUS_PCI_ABORT		0x00100000U
#define TW_STATUS_HOST			0x00080000U
#define TW_STATUS_ATTENTION		0x00040000U
#define TW_STATUS_COMMAND		0x00020000U
#define TW_STATUS_RESPONSE		0x00010000U
#define TW_STATUS_COMMAND_FULL		0x00008000U
#define TW_STATUS_RESPONSE_EMPTY	0x00004000U
#define TW_STATUS_READY			0x00002000U
#define TW_STATUS_COMMAND_EMPTY		0x00001000U

/* Opcode: the low five bits of a packet's first byte. */
enum tw_opcode {
	TW_OP_INIT_CONNECTION	= 0x01,
	TW_OP_EXECUTE_SCSI	= 0x10,
	TW_OP_GET_PARAM		= 0x12,
	TW_OP_SET_PARAM		= 0x13,
};

#define TW_OPCODE_MASK		0x1f
#define TW_SG_MAX		72
#define TW_SG_COUNT_MASK	0x0fff	/* the upper four bits belong to the LUN */
#define TW_PACKET_ALIGNMENT	16
#define TW_SG_ALIGNMENT		4

/* Firmware error numbers that the model reports. */
enum tw_error {
	TW_ERROR_NONE			= 0x000,
	TW_ERROR_SG_ZERO		= 0x100,
	TW_ERROR_OPCODE			= 0x101,
	TW_ERROR_SG_UNALIGNED		= 0x102,
	TW_ERROR_SG_SIZE		= 0x103,
	TW_ERROR_REQUEST_ID		= 0x106,
	TW_ERROR_LBA_RANGE		= 0x109,
	TW_ERROR_UNIT			= 0x10a,
	TW_ERROR_PARAM_TABLE		= 0x10b,
	TW_ERROR_PARAM_INDEX		= 0x10c,
	TW_ERROR_CDB_FIELD		= 0x10d,
	TW_ERROR_PARAM_SIZE		= 0x10f,
	TW_ERROR_TOO_LARGE		= 0x111,
	TW_ERROR_UNIT_OFFLINE		= 0x128,
	TW_ERROR_SG_COUNT		= 0x162,
	TW_ERROR_MEDIUM			= 0x202,
	TW_ERROR_PORT			= 0x209,
	TW_ERROR_PCI_ABORT		= 0x211,
};

/* INIT_CONNECTION. */
#define TW_INIT_64BIT		0x1
#define TW_INIT_EXTENDED	0x2
#define TW_INIT_COMPATIBLE	0x2
#define TW_ARCH_9000		5
#define TW_SRL_BASE		24

/* Parameter tables; the driver sets bit 15 of the table's number. */
#define TW_TABLE_VERSION	0x402
#define TW_TABLE_INFORMATION	0x403
#define TW_TABLE_TIMEKEEP	0x40a
#define TW_TABLE_MASK		0x7fff
#define TW_PARAM_FIRMWARE	3
#define TW_PARAM_BIOS		4
#define TW_PARAM_PORTS		3

/* Asynchronous event numbers. */
#define TW_AEN_EMPTY		0x0000
#define TW_AEN_RESET		0x0001
#define TW_AEN_DEGRADED_UNIT	0x0002
#define TW_AEN_REBUILD_FAILED	0x0004
#define TW_AEN_REBUILD_DONE	0x0005
#define TW_AEN_INCOMPLETE_UNIT	0x0006
#define TW_AEN_INITIALIZE_DONE	0x0007
#define TW_AEN_REBUILD_STARTED	0x000b
#define TW_AEN_INITIALIZE_STARTED	0x000c
#define TW_AEN_UNIT_DELETED	0x000d
#define TW_AEN_INITIALIZE_FAILED	0x000e
#define TW_AEN_DRIVE_REMOVED	0x0019
#define TW_AEN_DRIVE_INSERTED	0x001a
#define TW_AEN_SECTOR_REPAIRED	0x0023
#define TW_AEN_DRIVE_ECC_ERROR	0x0026
#define TW_AEN_VERIFY_STARTED	0x0029
#define TW_AEN_VERIFY_FAILED	0x002a
#define TW_AEN_VERIFY_DONE	0x002b
#define TW_AEN_CACHE_KEPT	0x005e	/* cache synchronized after power fail */
#define TW_AEN_CACHE_LOST	0x005f	/* cache synchronization failed, some data lost */
#define TW_SEVERITY_ERROR	1
#define TW_SEVERITY_INFO	3

struct tw_sg_entry {
	struct tw_le64 address;
	struct tw_le32 length;
};

/* In front of every packet, at the packet's address minus its own size. */
struct tw_header {
	u8 sense[18];
	u8 reserved[4];
	struct tw_le16 error;
	u8 padding;
	u8 severity;
	u8 description[98];
	u8 size_header;
	u8 reserved_2[2];
	u8 size_sense;
};

struct tw_execute_scsi {
	u8 opcode;
	u8 unit;
	struct tw_le16 request_id_lun;
	u8 status;
	u8 sg_offset;
	struct tw_le16 sg_count_lun;
	u8 cdb[16];
	struct tw_sg_entry sg[TW_SG_MAX];
};

/* GET_PARAM and SET_PARAM. */
struct tw_param_command {
	u8 opcode;
	u8 size;
	u8 request_id;
	u8 unit;
	u8 status;
	u8 flags;
	struct tw_le16 parameter_count;
	struct tw_sg_entry sg;
};

/* The buffer of the SG entry of a tw_param_command. */
struct tw_param {
	struct tw_le16 table;
	struct tw_le16 index;
	struct tw_le16 size_bytes;
	struct tw_le16 actual_size_bytes;
	u8 data[16];
};

struct tw_init_connection {
	u8 opcode;
	u8 size;
	u8 request_id;
	u8 reserved;
	u8 status;
	u8 flags;
	struct tw_le16 credits;
	struct tw_le32 features;
	struct tw_le16 srl;
	struct tw_le16 arch;
	struct tw_le16 branch;
	struct tw_le16 build;
	struct tw_le32 result;
};

#define TW_EXECUTE_SCSI_BYTES	24	/* without the SG list */

/* As the driver lays them out with 64-bit DMA addresses. A size that differs divides by zero. */
enum tw_wire_checks {
	TW_CHECK_SG_ENTRY = 1 / (sizeof(struct tw_sg_entry) == 12),
	TW_CHECK_HEADER = 1 / (sizeof(struct tw_header) == 128),
	TW_CHECK_HEADER_ERROR = 1 / (offsetof(struct tw_header, error) == 22),
	TW_CHECK_EXECUTE_SCSI_SG = 1 / (offsetof(struct tw_execute_scsi, sg) == TW_EXECUTE_SCSI_BYTES),
	TW_CHECK_EXECUTE_SCSI = 1 / (sizeof(struct tw_execute_scsi) == 888),
	TW_CHECK_GET_PARAM = 1 / (offsetof(struct tw_param_command, sg) == 8),
	TW_CHECK_PARAM = 1 / (offsetof(struct tw_param, data) == 8),
	TW_CHECK_INIT = 1 / (sizeof(struct tw_init_connection) == 24),
};

/* The SCSI command set of a 3ware unit: what a CDB asks for, or why it is refused. */

#define TW_SCSI_DATA_BYTES	64

/* The action that the caller takes for a command that was not refused. */
enum tw_scsi_action {
	TW_SCSI_DONE,		/* nothing */
	TW_SCSI_DATA,		/* send @data to the host */
	TW_SCSI_READ,
	TW_SCSI_WRITE,
	TW_SCSI_FLUSH,
	TW_SCSI_EVENT,		/* REQUEST SENSE: the driver fetches the next event with it */
};

/**
 * struct tw_scsi_unit - what commands need to know of a unit
 * @config: the profile
 * @number: unit number, the SCSI target id
 * @sectors: capacity
 */
struct tw_scsi_unit {
	const struct tw_config *config;
	u32 number;
	u64 sectors;
};

/**
 * struct tw_scsi_result - the meaning of one CDB
 * @action: what to do, if @error is TW_ERROR_NONE
 * @error: firmware error number, an enum tw_error
 * @key: sense key of a refusal
 * @asc: additional sense code of a refusal
 * @lba: first sector of TW_SCSI_READ and TW_SCSI_WRITE
 * @sectors: their length, may be 0
 * @length: bytes of @data
 * @data: what TW_SCSI_DATA sends
 */
struct tw_scsi_result {
	enum tw_scsi_action action;
	u16 error;
	u8 key;
	u8 asc;
	u64 lba;
	u32 sectors;
	u32 length;
	u8 data[TW_SCSI_DATA_BYTES];
};

#define TW_SENSE_NOT_READY	0x2
#define TW_SENSE_MEDIUM		0x3
#define TW_SENSE_HARDWARE	0x4
#define TW_SENSE_ILLEGAL	0x5

#define TW_ASC_NOT_READY	0x04
#define TW_ASC_WRITE_ERROR	0x0c
#define TW_ASC_READ_ERROR	0x11
#define TW_ASC_OPCODE		0x20
#define TW_ASC_LBA		0x21
#define TW_ASC_FIELD		0x24
#define TW_ASC_LUN		0x25

/**
 * tw_scsi_decode() - understand one CDB
 * @unit: the unit addressed, NULL if there is none
 * @lun: logical unit within the target; only 0 exists
 * @cdb: 16 bytes
 * @result: filled in
 */
void tw_scsi_decode(const struct tw_scsi_unit *unit, u32 lun, const u8 cdb[16],
		    struct tw_scsi_result *result);

/* Return: the command's name as the log prints it, without its length: READ, WRITE, INQUIRY ... */
const char *tw_scsi_name(u8 opcode);

#endif
