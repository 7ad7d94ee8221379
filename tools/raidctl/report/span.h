/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counters of one span as text: a line per direction, and pictures. */

#ifndef REPORT_SPAN_H
#define REPORT_SPAN_H

#include <stdbool.h>
#include <stdio.h>

#include "raidtrace.h"

/* span_is_idle - true when nothing happened in any direction */
bool span_is_idle(const struct rt_counters *counters);

/* span_flows - a line for each direction in which something happened */
void span_flows(FILE *to, const struct rt_counters *counters);

/* span_details - latency, merges, and histograms of sizes and depths */
void span_details(FILE *to, const struct rt_counters *counters);

#endif
