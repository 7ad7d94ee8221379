/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Paths of the cgroups that bios are charged to. */

#ifndef MACHINE_CGROUP_H
#define MACHINE_CGROUP_H

#include <stddef.h>

#include "raidtrace.h"

/**
 * cgroup_mount - where the hierarchy that has the controller of disks is mounted
 * @ret: its directory
 * @size: of @ret
 *
 * Return: its version, 1 if there is one of that; 0: none is mounted.
 */
int cgroup_mount(char *ret, size_t size);

/**
 * cgroups_name - find out the paths of the cgroups of what was just sampled
 * @counters: whose submitters get their path: as seen from the root of the hierarchy that
 *	charges disks, "removed (ID)" of one that is no more, "(ID)" where nobody can tell
 *
 * Needs CAP_DAC_READ_SEARCH, as root has it.
 */
void cgroups_name(struct rt_counters *counters);

#endif
