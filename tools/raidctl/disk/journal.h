/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where the journals of file systems lie.
 *
 * The kernel module cannot tell the journal from other metadata by itself:
 * it is told sectors.  They are read from the file system, which need not be
 * mounted; nothing is written.
 */

#ifndef DISK_JOURNAL_H
#define DISK_JOURNAL_H

#include <stddef.h>

#include "raidtrace.h"

#define JOURNAL_PATH	256
#define JOURNAL_TEXT	512

/**
 * struct journal - of one file system
 * @nr: length of @extents, 0 for a file system without one
 * @extents: sectors of @device
 * @device: path of a device of its own, "" when it lies in the file system
 */
struct journal {
	size_t nr;
	struct rt_extent *extents;
	char device[JOURNAL_PATH];
};

/**
 * journal_read - of one file system
 * @path: of the device or image that it lies on
 * @fstype: as mount(8) calls it; ext2, ext3, ext4 and xfs are known
 * @options: mount options, where xfs names a log device; NULL for none
 * @ret: to be given to journal_free()
 *
 * Return: 0; -ENOTSUP for a type with an unknown journal; -EINVAL when it
 * is no such file system; another -errno.
 */
int journal_read(const char *path, const char *fstype, const char *options,
		 struct journal *ret);
void journal_free(struct journal *journal);

/**
 * struct journals - of the mounted file systems that lie on a disk
 * @nr: length of @extents
 * @extents: sectors of the disk
 * @text: what was found, for people: a line for each mount
 */
struct journals {
	size_t nr;
	struct rt_extent *extents;
	char text[JOURNAL_TEXT];
};

/**
 * journals_of_disk - look for all of them
 * @name: of the whole disk
 * @ret: to be given to journals_free(), also after a failure
 *
 * File systems on the disk and its partitions are found, and those on an md
 * RAID 1 of it; of others that lie on it @text says that they are not known.
 *
 * Return: 0 or -ENOMEM.
 */
int journals_of_disk(const char *name, struct journals *ret);
void journals_free(struct journals *journals);

#endif
