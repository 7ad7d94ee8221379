/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Counters per cgroup that never shrink. The module has 64 rows a disk, one for each process and cgroup, and gives them
 * to others; what rows gained from scrape to scrape is added up here for each cgroup.
 */

#ifndef EXPORTER_CGROUPS_H
#define EXPORTER_CGROUPS_H

#include "raidtrace.h"

/**
 * cgroups_follow - put what is charged to each cgroup in the place of the processes
 * @counters: of a disk, now; one row for each cgroup on return
 *
 * Counts from the exporter's first scrape on, or from a later attach or reset. What a row gained between a scrape and
 * being given away is missing. Forgotten are cgroups that were removed and have no row, and of more than 256 those that
 * queued nothing for longest.
 *
 * Return: 0 or -ENOMEM.
 */
int cgroups_follow(struct rt_counters *counters);

/* cgroups_scraped - every disk was followed: forget those that were not */
void cgroups_scraped(void);

#endif
