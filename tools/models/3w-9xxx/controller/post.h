/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One command packet in the controller. */
#ifndef TW_POST_H
#define TW_POST_H

#include "controller.h"
#include "fault.h"
#include "3w-9xxx/wire/scsi.h"

/* Why a command failed, in the firmware's terms and in SCSI's; @bad_lba with a READ ERROR. */
struct tw_failure {
	u16 error;
	u8 key;
	u8 asc;
	u64 bad_lba;
};

/**
 * struct tw_post - one packet in the controller
 * @address: of the packet
 * @packet: its first bytes
 * @now: when it was posted
 * @due: when its response is due
 * @entry: its log entry in the making
 * @failure: with error TW_ERROR_NONE if it did not fail
 * @fate: of a READ or WRITE that a fault has struck
 */
struct tw_post {
	u64 address;
	union {
		struct tw_init_connection init;
		struct tw_param_command param;
		u8 byte[TW_EXECUTE_SCSI_BYTES];
	} packet;
	u64 now;
	u64 due;
	struct rl_log_entry entry;
	struct tw_failure failure;
	enum tw_fate fate;
};

static inline void tw_fail(struct tw_post *post, u16 error, u8 key, u8 asc)
{
	post->failure.error = error;
	post->failure.key = key;
	post->failure.asc = asc;
}

static inline void tw_fail_memory(struct tw_post *post)
{
	tw_fail(post, TW_ERROR_PCI_ABORT, TW_SENSE_HARDWARE, 0);
}

/* EXECUTE_SCSI: what a CDB asks of a unit is done. */

/* Return: false if the command vanishes, and its fate says how. */
bool tw_execute_scsi(struct tw_model *model, struct tw_post *post);

/* Command packets: checked, carried out, answered. */

/**
 * tw_command_post() - the driver wrote a packet's address
 * @model: the controller
 * @address: of the packet; its header lies in front of it
 *
 * Data moves and errors are written now; only the response waits for its time,
 * so that nothing touches the host's memory after a reset.
 */
void tw_command_post(struct tw_model *model, u64 address);

#endif
