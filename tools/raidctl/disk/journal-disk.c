// SPDX-License-Identifier: GPL-2.0-or-later

/* Sectors of the journals of the file systems on a disk. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "disk/disk.h"

/* The kernel accepts no more for a target. */
#define MOST_EXTENTS	64

static bool read_number(const char *path, uint64_t *ret)
{
	FILE *file = fopen(path, "re");
	bool good = file && fscanf(file, "%" SCNu64, ret) == 1;

	if (file)
		fclose(file);
	return good;
}

/* First sector of a block device on its disk; 0 except for partitions. */
static uint64_t begin_of(const char *device)
{
	char path[PATH_MAX];
	uint64_t start = 0;

	snprintf(path, sizeof(path), "/sys/class/block/%s/start", device);
	read_number(path, &start);
	return start;
}

/* Get the data offset of a member of an md RAID 1, which contains all of it. */
static bool member_offset(const char *upper, const char *lower, uint64_t *ret)
{
	char level[32], path[PATH_MAX];
	uint64_t offset;

	if (disk_attribute(upper, "md/level", level, sizeof(level)) <= 0 ||
	    strcmp(level, "raid1"))
		return false;
	/* The member is the disk itself or its first to fifteenth partition. */
	for (int part = 0; part < 16; part++) {
		char name[DISK_NAME + 8];

		snprintf(name, sizeof(name), part ? "%s%d" : "%s", lower, part);
		snprintf(path, sizeof(path), "/sys/block/%s/md/dev-%s/offset",
			 upper, name);
		if (!read_number(path, &offset))
			continue;
		*ret = offset + begin_of(name);
		return true;
	}
	return false;
}

/* Get the sector of a disk that is sector 0 of a device. Return: false if the mapping is not linear. */
static bool map(const char *device, const char *disk, uint64_t *ret)
{
	char whole[DISK_NAME];
	uint64_t offset;

	if (!stack_whole(device, whole))
		return false;
	*ret = begin_of(device);
	if (!strcmp(whole, disk))
		return true;
	if (!member_offset(whole, disk, &offset))
		return false;
	*ret += offset;
	return true;
}

static void add_text(struct journals *journals, const struct mount *mount,
		     const char *what)
{
	size_t used = strlen(journals->text);

	snprintf(journals->text + used, sizeof(journals->text) - used,
		 "%s%s %s: %s", used ? "\n" : "", mount->dir, mount->fstype,
		 what);
}

static int add_extents(struct journals *journals,
		       const struct journal *journal, uint64_t offset)
{
	struct rt_extent *more = reallocarray(journals->extents,
					      journals->nr + journal->nr,
					      sizeof(*more));

	if (!more)
		return -ENOMEM;
	journals->extents = more;
	for (size_t i = 0; i < journal->nr; i++)
		more[journals->nr++] = (struct rt_extent){
			journal->extents[i].sector + offset,
			journal->extents[i].nr_sectors,
		};
	return 0;
}

/* Get the name in /sys/class/block of a device given by path. */
static bool device_name(dev_t number, char *ret)
{
	char path[PATH_MAX], *real;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(number),
		 minor(number));
	real = realpath(path, NULL);
	if (!real)
		return false;
	snprintf(ret, DISK_NAME, "%s", strrchr(real, '/') + 1);
	free(real);
	return true;
}

static int take_journal(struct journals *journals, const struct mount *mount,
			const struct journal *journal, const char *device,
			const char *disk)
{
	char text[128], own[DISK_NAME];
	uint64_t offset, sectors = 0;
	struct stat st;

	if (!journal->nr) {
		add_text(journals, mount, "has no journal");
		return 0;
	}
	snprintf(own, sizeof(own), "%s", device);
	if (journal->device[0] && (stat(journal->device, &st) ||
				   !device_name(st.st_rdev, own)))
		own[0] = '\0';
	if (!own[0] || !map(own, disk, &offset)) {
		add_text(journals, mount, journal->device[0] ?
		    "journal on another disk" :
		    "journal not known: the file system is on more than this disk");
		return 0;
	}
	if (journals->nr + journal->nr > MOST_EXTENTS) {
		add_text(journals, mount, "journal not known: it has too many pieces");
		return 0;
	}
	for (size_t i = 0; i < journal->nr; i++)
		sectors += journal->extents[i].nr_sectors;
	snprintf(text, sizeof(text), "journal of %" PRIu64 " sectors in %zu piece%s, the first at %" PRIu64,
		 sectors, journal->nr, journal->nr == 1 ? "" : "s",
		 journal->extents[0].sector + offset);
	add_text(journals, mount, text);
	return add_extents(journals, journal, offset);
}

static int take_mount(struct journals *journals, const struct mount *mount,
		      const char *disk)
{
	char device[DISK_NAME], path[DISK_NAME + 8];
	struct journal journal;
	int err;

	if (!device_name(mount->devno, device)) {
		add_text(journals, mount, "journal not known: it has no device of its own");
		return 0;
	}
	snprintf(path, sizeof(path), "/dev/%s", device);
	err = journal_read(path, mount->fstype, mount->options, &journal);
	if (err == -ENOMEM)
		return err;
	if (err) {
		add_text(journals, mount, err == -ENOTSUP ?
		    "journal not known: not of this type" :
		    "journal not known: it cannot be read");
		return 0;
	}
	err = take_journal(journals, mount, &journal, device, disk);
	journal_free(&journal);
	return err;
}

/* A file system that is mounted in several places has one journal. */
static bool is_first(const struct mount *mounts, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (mounts[j].devno == mounts[i].devno)
			return false;
	return true;
}

int journals_of_disk(const char *name, struct journals *ret)
{
	struct mount *mounts;
	int err = 0;
	size_t nr;

	memset(ret, 0, sizeof(*ret));
	if (disk_mounts(name, &nr, &mounts))
		return 0;
	for (size_t i = 0; i < nr && !err; i++)
		if (is_first(mounts, i))
			err = take_mount(ret, &mounts[i], name);
	mounts_free(mounts, nr);
	return err;
}

void journals_free(struct journals *journals)
{
	free(journals->extents);
	journals->extents = NULL;
	journals->nr = 0;
}
