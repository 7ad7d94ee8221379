// SPDX-License-Identifier: GPL-2.0-or-later

/* Paths of the cgroups that bios are charged to. An id is a file handle of the directory. */

#include "machine/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOT_ID		1
#define KERNFS_HANDLE	0xfe	/* FILEID_KERNFS; its 8 bytes are the id */

int cgroup_mount(char *ret, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	int version = 0;

	while (mounts && (entry = getmntent(mounts))) {
		bool old = !strcmp(entry->mnt_type, "cgroup") && hasmntopt(entry, "blkio");

		if (!old && (version || strcmp(entry->mnt_type, "cgroup2")))
			continue;
		version = (size_t)snprintf(ret, size, "%s", entry->mnt_dir) >= size ? 0 : old ? 1 : 2;
		if (old)
			break;
	}
	if (mounts)
		endmntent(mounts);
	return version;
}

/* The end of a path is more important than its start. */
static void put_path(char *to, const char *path)
{
	size_t len = strlen(path);

	if (len < RT_CGROUP_MAX)
		memcpy(to, path, len + 1);
	else
		snprintf(to, RT_CGROUP_MAX, "...%s", path + len - (RT_CGROUP_MAX - 4));
}

static void name_one(struct rt_submitter *one, int mount, const char *where)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(one->cgroup)];
	} to = { .handle = { .handle_bytes = sizeof(one->cgroup), .handle_type = KERNFS_HANDLE } };
	char link[64], path[PATH_MAX];
	size_t prefix = strlen(where);
	ssize_t len = -1;
	int fd;

	memcpy(to.handle.f_handle, &one->cgroup, sizeof(one->cgroup));
	fd = mount < 0 ? -1 : open_by_handle_at(mount, &to.handle, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	if (len >= (ssize_t)prefix && !strncmp(path, where, prefix)) {
		path[len] = '\0';
		put_path(one->path, path[prefix] ? path + prefix : "/");
	} else {
		snprintf(one->path, sizeof(one->path), "%s(%" PRIu64 ")",
			 mount >= 0 && errno == ESTALE ? "removed " : "", one->cgroup);
	}
}

/* The mount is kept, because a recorder samples many times per second. Only one thread samples. */
void cgroups_name(struct rt_counters *counters)
{
	static char where[PATH_MAX];
	static int mount = -1;

	for (size_t i = 0; i < counters->nr_submitters; i++) {
		struct rt_submitter *one = &counters->submitters[i];

		if (one->cgroup == ROOT_ID)
			put_path(one->path, "/");
		if (one->cgroup <= ROOT_ID)
			continue;
		if (mount < 0 && cgroup_mount(where, sizeof(where)))
			mount = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		errno = 0;
		name_one(one, mount, where);
	}
}
