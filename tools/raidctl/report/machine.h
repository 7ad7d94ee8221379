/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a recording holds beside the disks, as text and as JSON. */

#ifndef REPORT_MACHINE_H
#define REPORT_MACHINE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "store/load.h"

/* besides_text - notes, stack, what disturbed; if @verbose, that nothing did */
void besides_text(FILE *to, const struct recording *recording, bool verbose);

/* besides_phase_text - processors and what the command did in a phase */
void besides_phase_text(FILE *to, const struct recording *recording,
			uint32_t phase);

/* besides_json - members "notes", "stack", "disturbances" and "host" */
void besides_json(struct json_object *to, const struct recording *recording);

#endif
