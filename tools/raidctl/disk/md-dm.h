/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Disks made of disks: md and dm, and what they lie on. */

#ifndef DISK_MD_DM_H
#define DISK_MD_DM_H

#include <stdbool.h>
#include <stddef.h>

#include "disk/disk.h"

/**
 * stack_whole - the whole disk that a block device is, or is a partition of
 * @device: name below /sys/class/block, as "sda1" or "md0"
 * @ret: name of the disk, of DISK_NAME bytes
 *
 * Return: false when there is no such device.
 */
bool stack_whole(const char *device, char *ret);

/**
 * stack_lies_on - is a disk made of another, directly?
 * @upper: name of the disk
 * @lower: name of the other; a partition of it suffices
 */
bool stack_lies_on(const char *upper, const char *lower);

/* stack_has_layers - is a disk made of others, or others of it or its partitions? */
bool stack_has_layers(const char *name);

/**
 * stack_add_members - add to a list of disks all that they are made of
 * @nr: how many
 * @disks: in the order named; members are appended, each once, without mounts
 *
 * Return: 0 or -ENOMEM.
 */
int stack_add_members(size_t *nr, struct disk **disks);

/**
 * stack_add_holders - add the disks that are made of listed ones alone
 * @nr: how many
 * @disks: as for stack_add_members()
 *
 * Return: 0 or -ENOMEM.
 */
int stack_add_holders(size_t *nr, struct disk **disks);

#endif
