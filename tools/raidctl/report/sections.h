/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The sections of a report, for its back ends: what each file of this room writes. */

#ifndef REPORT_SECTIONS_H
#define REPORT_SECTIONS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "check/check.h"
#include "raidtrace.h"
#include "report/explained.h"
#include "report/print.h"
#include "store/load.h"

/* recording-text.c: A recording as text: the answer first, details if they are asked for. */

/* text_recording - see struct print_ops */
void text_recording(FILE *to, const struct recording *recording,
		    const struct reading *reading);

/* glance.c: A recording at a glance: what it comes to, and a row a phase. */

/**
 * glance_verdict - what holds it down and what to do
 * @to: where to
 * @explained: what explain says; NULL when it was not asked
 */
void glance_verdict(FILE *to, const struct explained *explained);

/**
 * glance_table - a row for each phase, disk and direction that moved data
 * @to: where to
 * @recording: loaded
 * @explained: for the last column; NULL leaves it out
 */
void glance_table(FILE *to, const struct recording *recording,
		  const struct explained *explained);

/* span.c: Counters of one span as text: a line per direction, and pictures. */

/* span_is_idle - true when nothing happened in any direction */
bool span_is_idle(const struct rt_counters *counters);

/* span_flows - a line for each direction in which something happened */
void span_flows(FILE *to, const struct rt_counters *counters);

/* span_details - latency, merges, and histograms of sizes and depths */
void span_details(FILE *to, const struct rt_counters *counters);

/* groups.c: Streams, latencies, classes, processes, plugs and places of one span. */

/* What is said of a direction or a group begins here, behind its name. */
#define DETAIL_WIDTH	14

/* Text for people; what is not counted or did not happen is left out. */
void text_groups(FILE *to, const struct rt_counters *counters);

/* Members groups, not_counted, disk, origin and submitters of a span. */
void json_groups(struct json_object *to, const struct rt_counters *counters);

/* machine.c: What a recording holds beside the disks, as text and as JSON. */

/* besides_text - notes, stack, what disturbed; if @verbose, that nothing did */
void besides_text(FILE *to, const struct recording *recording, bool verbose);

/* besides_phase_text - processors and what the command did in a phase */
void besides_phase_text(FILE *to, const struct recording *recording,
			uint32_t phase);

/* besides_json - members "notes", "stack", "disturbances" and "host" */
void besides_json(struct json_object *to, const struct recording *recording);

/* md-dm.c: What a disk that is made of others gave to them, as text and as JSON. */

/* print_stack_text - below the spans of a phase, nothing without a stack */
void print_stack_text(FILE *to, const struct recording *recording,
		      uint32_t phase);

/* print_stack_json - member "members" of the object of a span that has any */
void print_stack_json(struct json_object *to, const struct recording *recording,
		      const struct span *span);

/* check.c: Findings of raidctl check, for the back ends of print.h. */

/* Members of print_text and print_json. */
void text_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr);
void json_check(FILE *to, const struct facts *facts,
		const struct finding *findings, size_t nr);

#endif
