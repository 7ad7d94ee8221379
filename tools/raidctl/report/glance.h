/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A recording at a glance: what it comes to, and a row a phase. */

#ifndef REPORT_GLANCE_H
#define REPORT_GLANCE_H

#include <stdio.h>

#include "report/explained.h"
#include "store/load.h"

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

#endif
