/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Counters per cgroup that never shrink. The module has 64 rows a disk, one for each process and cgroup, and reassigns
 * them; so the gain of each row from scrape to scrape is added up for its cgroup.
 */

#ifndef EXPORTER_CGROUPS_H
#define EXPORTER_CGROUPS_H

#include "raidtrace.h"

/*
 * Replace the processes of a disk's counters by a row for each cgroup, counted from the exporter's first scrape on, or
 * from a later attach or reset. The gain of a row between a scrape and its reassignment is missing. Cgroups that were
 * removed and have no row are forgotten, and of more than 256 those that have been idle longest.
 * Return: 0 or -ENOMEM.
 */
int cgroups_follow(struct rt_counters *counters);

/* The scrape is complete: forget disks that had no call. */
void cgroups_scraped(void);

#endif
