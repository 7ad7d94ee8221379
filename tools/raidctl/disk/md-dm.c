// SPDX-License-Identifier: GPL-2.0-or-later

/* Disks that consist of other disks: md and dm, and the disks below them. */

#include "disk/disk.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A partition is in the directory of its disk. */
bool stack_whole(const char *device, char *ret)
{
	char path[PATH_MAX], *real;
	bool partition;

	snprintf(path, sizeof(path), "/sys/class/block/%s", device);
	real = realpath(path, NULL);
	if (!real)
		return false;
	snprintf(path, sizeof(path), "%s/partition", real);
	partition = !access(path, F_OK);
	snprintf(ret, DISK_NAME, "%s",
		 basename(partition ? dirname(real) : real));
	free(real);
	return true;
}

/* Call @take with each whole disk in a directory of links until it returns non-zero. */
static int each_link(const char *name, const char *directory,
		     int (*take)(void *data, const char *disk), void *data)
{
	char path[PATH_MAX], whole[DISK_NAME];
	struct dirent *entry;
	int result = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, directory);
	dir = opendir(path);
	while (dir && !result && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    stack_whole(entry->d_name, whole))
			result = take(data, whole);
	if (dir)
		closedir(dir);
	return result;
}

static int is_name(void *data, const char *disk)
{
	return !strcmp(data, disk);
}

bool stack_lies_on(const char *upper, const char *lower)
{
	char name[DISK_NAME];

	snprintf(name, sizeof(name), "%s", lower);
	return each_link(upper, "slaves", is_name, name);
}

/* A list of disks that grows. */
struct list {
	size_t *nr;
	struct disk **disks;
};

static bool is_listed(const struct list *list, const char *name)
{
	for (size_t i = 0; i < *list->nr; i++)
		if (!strcmp((*list->disks)[i].name, name))
			return true;
	return false;
}

static int append(void *data, const char *name)
{
	struct list *list = data;
	struct disk *more;
	char why[256];

	if (is_listed(list, name))
		return 0;
	more = reallocarray(*list->disks, *list->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list->disks = more;
	/* Skip a disk that was removed meanwhile. */
	if (!disk_resolve(name, &more[*list->nr], why, sizeof(why)))
		(*list->nr)++;
	return 0;
}

int stack_each_member(const char *name, int (*take)(void *data, const char *disk), void *data)
{
	return each_link(name, "slaves", take, data);
}

int stack_add_members(size_t *nr, struct disk **disks)
{
	struct list list = { nr, disks };
	int err = 0;

	/* The list grows in the loop, so that members of members are added, too. */
	for (size_t i = 0; i < *nr && !err; i++)
		err = stack_each_member((*disks)[i].name, append, &list);
	return err;
}

static int is_not_listed(void *data, const char *name)
{
	return !is_listed(data, name);
}

static int append_if_whole(void *data, const char *name)
{
	if (each_link(name, "slaves", is_not_listed, data))
		return 0;
	return append(data, name);
}

/* Call @take with each holder of a disk and of its partitions until it returns non-zero. */
static int each_holder(const char *name,
		       int (*take)(void *data, const char *disk), void *data)
{
	char path[PATH_MAX];
	int result = each_link(name, "holders", take, data);
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/block/%s", name);
	dir = opendir(path);
	while (dir && !result && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, strlen(name)))
			continue;
		snprintf(path, sizeof(path), "%s/%.128s", name, entry->d_name);
		result = each_link(path, "holders", take, data);
	}
	if (dir)
		closedir(dir);
	return result;
}

static int is_any(void *data, const char *name)
{
	(void)data;
	(void)name;
	return 1;
}

bool stack_has_layers(const char *name)
{
	return each_link(name, "slaves", is_any, NULL) ||
	       each_holder(name, is_any, NULL);
}

int stack_add_holders(size_t *nr, struct disk **disks)
{
	struct list list = { nr, disks };
	size_t before;
	int err = 0;

	/* A holder of two disks is complete only after both are listed. */
	do {
		before = *nr;
		for (size_t i = 0; i < *nr && !err; i++) {
			char name[DISK_NAME];

			snprintf(name, sizeof(name), "%s", (*disks)[i].name);
			err = each_holder(name, append_if_whole, &list);
		}
	} while (!err && *nr != before);
	return err;
}
