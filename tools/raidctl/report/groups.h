/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Streams, latencies, classes, processes, plugs and places of one span. */

#ifndef REPORT_GROUPS_H
#define REPORT_GROUPS_H

#include <stdio.h>

#include "raidtrace.h"

/* What is said of a direction or a group begins here, behind its name. */
#define DETAIL_WIDTH	14

struct json_object;

/* Text for people; what is not counted or did not happen is left out. */
void text_groups(FILE *to, const struct rt_counters *counters);

/* Members groups, not_counted, disk, origin and submitters of a span. */
void json_groups(struct json_object *to, const struct rt_counters *counters);

#endif
