/* SPDX-License-Identifier: GPL-2.0-or-later */

/* io.max: how much of a disk each cgroup may have. */

#ifndef MACHINE_CGROUP_LIMITS_H
#define MACHINE_CGROUP_LIMITS_H

#include <stddef.h>

/**
 * struct cgroup_limit - of one cgroup that has any
 * @path: of the cgroup, from the root of its hierarchy: "/a/b"
 * @lines: its file io.max, a line for each disk
 */
struct cgroup_limit {
	char *path;
	char *lines;
};

/**
 * struct cgroup_limits - of all cgroups, sorted by path
 * @nr: how many have any
 * @known: they
 */
struct cgroup_limits {
	size_t nr;
	struct cgroup_limit *known;
};

/**
 * cgroup_limits_read - read all files io.max of a hierarchy
 * @where: the directory it is mounted on, of version 2
 * @ret: to be given to cgroup_limits_free(), whatever is returned
 *
 * Below a cgroup without the file none has it: the controller of disks is
 * given from above.
 *
 * Return: 0; -ENOMEM; another -errno when @where cannot be read.
 */
int cgroup_limits_read(const char *where, struct cgroup_limits *ret);

/**
 * cgroup_limits_of - those of one disk
 * @limits: of all
 * @device: its number, "8:0"
 *
 * Return: "PATH rbps=1048576 wbps=max riops=max wiops=max", a line for each
 * cgroup that has a limit, "" when none has, to be given to free(); NULL: no
 * memory.
 */
char *cgroup_limits_of(const struct cgroup_limits *limits, const char *device);

/* cgroup_limits_free - let go of what was read */
void cgroup_limits_free(struct cgroup_limits *limits);

#endif
