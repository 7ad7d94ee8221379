/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What each file of this room writes, for its back ends. */

#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "raidtrace.h"
#include "report/print.h"
#include "store/load.h"

/* span.c: Counters of one span as text: a line per direction, and pictures. */

/* span_is_idle - true when nothing happened in any direction */
bool span_is_idle(const struct rt_counters *counters);

/* span_flows - a line for each direction in which something happened */
void span_flows(FILE *to, const struct rt_counters *counters);

/* span_details - latency, merges, and histograms of sizes and depths */
void span_details(FILE *to, const struct rt_counters *counters);

/* groups.c: Streams, latencies, classes, processes, plugs and places of one span. */

/* The values of a direction or a group begin in this column, after its name. */
#define DETAIL_WIDTH	15

/* Text for people; what is not counted or did not happen is left out. */
void text_groups(FILE *to, const struct rt_counters *counters);

/* Members groups, not_counted, disk, origin and submitters of a span. */
void json_groups(struct json_object *to, const struct rt_counters *counters);

#endif
