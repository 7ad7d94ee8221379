/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and packets of a 3ware 9000 controller as the Linux driver
 * 3w-9xxx uses them. Multi-byte fields are little-endian byte arrays, so that
 * no field can be read in the wrong order or through a misaligned pointer.
 */
#ifndef TW_WIRE_H
#define TW_WIRE_H

#include "base/types.h"

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

/* What the SG entry of a tw_param_command points to. */
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

#endif
