/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SCSI command set of a 3ware unit: what a CDB asks for, or why it is refused. */
#ifndef TW_SCSI_H
#define TW_SCSI_H

#include "config.h"
#include "wire.h"

#define TW_SCSI_DATA_BYTES	64

/* What the caller has to do for a command that was not refused. */
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
