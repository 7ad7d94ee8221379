/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One command packet on its way through the controller. */
#ifndef TW_POST_H
#define TW_POST_H

#include "controller.h"
#include "fault.h"
#include "wire/scsi.h"

/* Why a command failed, in the firmware's terms and in SCSI's; @bad_lba with a READ ERROR. */
struct tw_failure {
	u16 error;
	u8 key;
	u8 asc;
	u64 bad_lba;
};

/**
 * struct tw_post - one packet on its way through
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
	struct tw_log_entry entry;
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

#endif
