/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command packets: checked, carried out, answered. */
#ifndef TW_COMMAND_H
#define TW_COMMAND_H

#include "controller.h"

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
