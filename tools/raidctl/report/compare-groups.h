/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two spans side by side: what has no direction. */

#ifndef REPORT_COMPARE_GROUPS_H
#define REPORT_COMPARE_GROUPS_H

#include <stdio.h>

#include "format/json.h"
#include "numbers/quantity.h"
#include "report/compare.h"

/* compare-print.c: one number of both, NAN for not available */
void compare_text_quantity(FILE *to, const struct comparison *c,
			   const struct quantity *q, double a, double b);
struct json_object *compare_quantity(const struct comparison *c,
				     const struct quantity *q, double a,
				     double b);

/* Plugs, windows, classes, who is to blame, processes and places. */
void compare_text_groups(FILE *to, const struct comparison *c,
			 const struct rt_counters *a,
			 const struct rt_counters *b);
void compare_groups(struct json_object *to, const struct comparison *c,
		    const struct rt_counters *a, const struct rt_counters *b);

#endif
