/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A recording as text: the answer first, details if they are asked for. */

#ifndef REPORT_RECORDING_TEXT_H
#define REPORT_RECORDING_TEXT_H

#include <stdio.h>

#include "report/print.h"

/* text_recording - see struct print_ops */
void text_recording(FILE *to, const struct recording *recording,
		    const struct reading *reading);

#endif
