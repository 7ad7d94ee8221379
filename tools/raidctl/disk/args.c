// SPDX-License-Identifier: GPL-2.0-or-later

/* Words of the command line for several verbs. */

#include "disk/disk.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <libmount/libmount.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/base.h"

error_t words_add(struct words *words, const char *word)
{
	const char **more = reallocarray(words->word, words->nr + 1,
					 sizeof(*more));

	if (!more)
		return ENOMEM;
	words->word = more;
	more[words->nr++] = word;
	return 0;
}

/* Write names that could be given instead, for a message. */
static void name_disks(const struct disk *disks, size_t nr, char *ret,
		       size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < nr && used < size; i++) {
		if (!strncmp(disks[i].name, "loop", 4) ||
		    !strncmp(disks[i].name, "zram", 4))
			continue;
		used += (size_t)snprintf(ret + used, size - used, " %s",
					 disks[i].name);
	}
	if (!used)
		snprintf(ret, size, " none");
}

static bool is_default(const struct disk *disk, bool simulated)
{
	return disk->above.unit_3ware || (simulated && disk->above.pci[0]);
}

bool args_has_default(void)
{
	bool simulated = lab_has_all_pci(), has = false;
	struct disk *disks;
	size_t nr;

	if (disk_list(&nr, &disks))
		return false;
	for (size_t i = 0; i < nr && !has; i++)
		has = is_default(&disks[i], simulated);
	disk_list_free(disks, nr);
	return has;
}

/*
 * Find the disks of a verb if none is named: all units of 3ware controllers; in a guest of the lab, all simulated
 * disks.
 */
static int default_disks(const char *verb, size_t *nr, struct disk **ret)
{
	bool simulated = lab_has_all_pci();
	char names[256];
	size_t kept = 0;
	int err = disk_list(nr, ret);

	if (err)
		return fail("%s: the disks cannot be listed: %s", verb,
			    strerror(-err));
	for (size_t i = 0; i < *nr; i++) {
		struct disk *disk = &(*ret)[i];

		if (!is_default(disk, simulated))
			continue;
		if (kept != i) {
			struct disk other = (*ret)[kept];

			(*ret)[kept] = *disk;
			*disk = other;
		}
		kept++;
	}
	if (kept) {
		for (size_t i = 0; i < *nr; i++) {
			mounts_free((*ret)[i].mounts, (*ret)[i].nr_mounts);
			(*ret)[i].nr_mounts = 0;
			(*ret)[i].mounts = NULL;
		}
		*nr = kept;
		return 0;
	}
	name_disks(*ret, *nr, names, sizeof(names));
	fail("%s: there is no 3ware unit here (no disk of driver %s); name a disk:%s",
	     verb, RT_DRIVER_3WARE, names);
	disk_list_free(*ret, *nr);
	return EXIT_FAILED;
}

/* Is disks[i] also before this index, under any name? */
static bool is_repeated(const struct disk *disks, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (disks[j].major == disks[i].major &&
		    disks[j].minor == disks[i].minor)
			return true;
	return false;
}

int args_disks(const struct words *words, const char *verb, size_t *nr,
	       struct disk **ret)
{
	struct disk *disks;
	char why[256];

	if (!words->nr)
		return default_disks(verb, nr, ret);
	disks = calloc(words->nr, sizeof(*disks));
	if (!disks)
		return fail("%s: %s", verb, strerror(ENOMEM));
	*nr = 0;
	for (size_t i = 0; i < words->nr; i++) {
		struct disk *disk = &disks[*nr];

		if (disk_resolve(words->word[i], disk, why, sizeof(why))) {
			free(disks);
			return fail("%s: %s", words->word[i], why);
		}
		if (is_repeated(disks, *nr)) {
			usage_error("%s: disk %s is named twice; name each disk once",
				    words->word[i], disk->name);
			free(disks);
			return EXIT_USAGE;
		}
		(*nr)++;
	}
	*ret = disks;
	return 0;
}

/* btrfs and others give files a device number that is not a disk's. The mount source has the disk's number. */
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

/* Find the whole disk of a path, which is a disk or a file. Return: false if there is none. */
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

static int add_disk_of(const char *path, bool quiet, size_t *nr, struct disk **ret)
{
	struct disk *more = reallocarray(*ret, *nr + 1, sizeof(*more));

	if (!more)
		return fail("record: %s", strerror(ENOMEM));
	*ret = more;
	if (!disk_of(path, &more[*nr]) || is_repeated(more, *nr))
		return 0;
	if (!quiet)
		note("recording disk %s, which contains %s; to record others: --disk DISK",
		     more[*nr].name, strcmp(path, ".") ? path : "the working directory");
	(*nr)++;
	return 0;
}

int args_command_disks(char *const *command, bool quiet, size_t *nr, struct disk **ret)
{
	int status = 0;

	*nr = 0;
	*ret = NULL;
	for (size_t i = 1; command[0] && command[i] && !status; i++) {
		const char *value = strchr(command[i], '=');

		status = add_disk_of(command[i], quiet, nr, ret);
		if (!status && value)
			status = add_disk_of(value + 1, quiet, nr, ret);
	}
	if (!status && !*nr)
		status = add_disk_of(".", quiet, nr, ret);
	if (!status && !*nr)
		status = fail("record: neither an argument of the command nor the working directory is on a disk; name a disk with --disk; to list the disks: raidctl list");
	if (status)
		free(*ret);
	return status;
}

/* Find a target by name; if two have it, the target with a disk that exists. */
static const struct rt_target *find_target(const struct rt_target *all,
					   size_t nr, const char *word)
{
	const struct rt_target *target = NULL;
	struct disk disk;
	char why[256];
	bool resolved = !disk_resolve(word, &disk, why, sizeof(why));

	if (!strncmp(word, "/dev/", 5))
		word += 5;
	for (size_t i = 0; i < nr; i++) {
		if (all[i].gone ? strcmp(all[i].disk, word) :
				  !resolved || all[i].major != disk.major ||
					  all[i].minor != disk.minor)
			continue;
		if (!target || target->gone)
			target = &all[i];
	}
	return target;
}

int args_targets(struct rt_client *client, const struct words *words,
		 size_t *nr, struct rt_target **ret)
{
	struct rt_target *all, *chosen;
	int err = rt_target_list(client, nr, &all);
	char why[256];
	size_t nr_all = *nr;

	if (err)
		return fail("the targets cannot be listed: %s",
			    rt_reason(client, err));
	if (!words->nr) {
		*ret = all;
		return 0;
	}
	chosen = calloc(words->nr, sizeof(*chosen));
	for (*nr = 0; chosen && *nr < words->nr; (*nr)++) {
		const char *word = words->word[*nr];
		const struct rt_target *target = find_target(all, nr_all, word);
		struct disk disk;

		if (!target) {
			if (disk_resolve(word, &disk, why, sizeof(why)))
				fail("%s: %s", word, why);
			else
				fail("%s: not attached; to attach it: raidctl attach %s",
				     word, word);
			free(chosen);
			free(all);
			return EXIT_FAILED;
		}
		chosen[*nr] = *target;
	}
	free(all);
	*ret = chosen;
	return chosen ? 0 : fail("%s", strerror(ENOMEM));
}
