// SPDX-License-Identifier: GPL-2.0-or-later

/* The disks that a command is about to use, by its arguments. */

#include "disk/command.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <libmount/libmount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Btrfs and others give files a number that is no disk's: that of their mount's source is. */
static dev_t source_of(const char *path)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_fs *fs;
	struct stat st = { 0 };
	char *mount = NULL;
	const char *source;

	if (table)
		mount = mnt_get_mountpoint(path);
	fs = mount ? mnt_table_find_target(table, mount, MNT_ITER_BACKWARD) : NULL;
	source = fs ? mnt_fs_get_source(fs) : NULL;
	if (!source || source[0] != '/' || stat(source, &st) ||
	    !S_ISBLK(st.st_mode))
		st.st_rdev = 0;
	free(mount);
	mnt_unref_table(table);
	return st.st_rdev;
}

/* The whole disk that a path is, or lies on; false: none. */
static bool disk_of(const char *path, struct disk *ret)
{
	char whole[DISK_NAME], why[128];
	struct stat st;
	dev_t device;

	if (stat(path, &st))
		return false;
	if (S_ISBLK(st.st_mode))
		device = st.st_rdev;
	else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		device = major(st.st_dev) ? st.st_dev : source_of(path);
	else
		return false;
	return device &&
	       !blkid_devno_to_wholedisk(device, whole, sizeof(whole), NULL) &&
	       !disk_resolve(whole, ret, why, sizeof(why));
}

static int add(const char *path, size_t *nr, struct command_disk **ret)
{
	struct command_disk found = { 0 }, *more;

	if (!disk_of(path, &found.disk))
		return 0;
	for (size_t i = 0; i < *nr; i++)
		if ((*ret)[i].disk.major == found.disk.major &&
		    (*ret)[i].disk.minor == found.disk.minor)
			return 0;
	more = reallocarray(*ret, *nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	snprintf(found.path, sizeof(found.path), "%s", path);
	*ret = more;
	more[(*nr)++] = found;
	return 0;
}

int command_disks(char *const *command, size_t *nr, struct command_disk **ret)
{
	int err = 0;

	*nr = 0;
	*ret = NULL;
	for (size_t i = 1; command[0] && command[i] && !err; i++) {
		const char *value = strchr(command[i], '=');

		err = add(command[i], nr, ret);
		if (!err && value)
			err = add(value + 1, nr, ret);
	}
	if (!err && !*nr)
		err = add(".", nr, ret);
	if (err)
		free(*ret);
	return err;
}
