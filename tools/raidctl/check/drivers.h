/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Modules that nothing uses and whose devices interrupt all the same. */

#ifndef CHECK_DRIVERS_H
#define CHECK_DRIVERS_H

#include <stddef.h>

#include "check/activity.h"
#include "check/check.h"

/**
 * drivers_read - modules with use count 0, and interrupts of their devices
 * @before: a look
 * @after: a later one
 * @disks: whose drivers are needed
 * @nr_disks: how many
 * @facts: gets modules
 *
 * Only PCI devices are looked at: of these sysfs tells the interrupt lines.
 * A driver that is not a module cannot be unloaded and is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int drivers_read(const struct activity *before, const struct activity *after,
		 const struct disk *disks, size_t nr_disks,
		 struct facts *facts);

#endif
