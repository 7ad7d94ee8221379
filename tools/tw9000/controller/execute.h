/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXECUTE_SCSI: what a CDB asks of a unit is done. */
#ifndef TW_EXECUTE_H
#define TW_EXECUTE_H

#include "post.h"

/* Return: false if the command vanishes, and its fate says how. */
bool tw_execute_scsi(struct tw_model *model, struct tw_post *post);

#endif
