/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a disk that is made of others gave to them, as text and as JSON. */

#ifndef REPORT_MD_DM_H
#define REPORT_MD_DM_H

#include <json-c/json.h>
#include <stdio.h>

#include "store/load.h"

/* print_stack_text - below the spans of a phase, nothing without a stack */
void print_stack_text(FILE *to, const struct recording *recording,
		      uint32_t phase);

/* print_stack_json - member "members" of the object of a span that has any */
void print_stack_json(struct json_object *to, const struct recording *recording,
		      const struct span *span);

#endif
