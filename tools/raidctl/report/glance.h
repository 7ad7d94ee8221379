/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A recording at a glance: the end of raidctl record. */

#ifndef REPORT_GLANCE_H
#define REPORT_GLANCE_H

#include <stdio.h>

#include "store/load.h"

/**
 * glance_table - a row for each phase, disk and direction that moved data
 * @to: where to
 * @recording: loaded
 */
void glance_table(FILE *to, const struct recording *recording);

#endif
