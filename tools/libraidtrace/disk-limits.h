/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Limits of a target's disk, as sysfs has them now. */

#ifndef DISK_LIMITS_H
#define DISK_LIMITS_H

#include "raidtrace.h"

/*
 * Fill in @target's limits by files below @disk, a descriptor of its directory in
 * sysfs. What is not there is 0, as all of a disk that is gone (-1).
 */
void rt_limits_read(int disk, struct rt_target *target);

#endif
