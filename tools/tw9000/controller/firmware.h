/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands to the controller itself: connection, parameters. Each notes in @post if it failed. */
#ifndef TW_FIRMWARE_H
#define TW_FIRMWARE_H

#include "post.h"

void tw_firmware_init_connection(struct tw_model *model, struct tw_post *post);
void tw_firmware_get_param(struct tw_model *model, struct tw_post *post);
void tw_firmware_set_param(struct tw_model *model, struct tw_post *post);

#endif
