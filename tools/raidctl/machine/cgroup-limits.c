// SPDX-License-Identifier: GPL-2.0-or-later

/* io.max of all cgroups: a walk down the hierarchy, as far as the I/O controller is enabled. */

#include "machine/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME	"io.max"

/* Cgroups that are still to be visited: paths from the root, "" for the root. */
struct walk {
	int root;
	size_t nr;
	char **left;
};

static int walk_add(struct walk *walk, const char *path, const char *name)
{
	char **more = reallocarray(walk->left, walk->nr + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	walk->left = more;
	if (asprintf(&more[walk->nr], "%s%s%s", path, name[0] ? "/" : "", name) < 0)
		return -ENOMEM;
	walk->nr++;
	return 0;
}

static void walk_free(struct walk *walk)
{
	while (walk->nr)
		free(walk->left[--walk->nr]);
	free(walk->left);
}

/* Read a whole file as text. Return: -ENOENT if it cannot be read. */
static int read_all(int at, const char *path, char **ret)
{
	int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
	size_t used = 0, size = 4096;
	char *text, *more;
	ssize_t len = 0;

	if (fd < 0)
		return -ENOENT;
	text = malloc(size);
	while (text && (len = read(fd, text + used, size - used - 1)) > 0) {
		used += (size_t)len;
		if (used + 1 < size)
			continue;
		more = realloc(text, size *= 2);
		if (!more)
			free(text);
		text = more;
	}
	close(fd);
	if (text)
		text[used] = '\0';
	*ret = text;
	return text ? 0 : -ENOMEM;
}

static int keep(struct cgroup_limits *to, const char *path, char *lines)
{
	struct cgroup_limit *more = reallocarray(to->known, to->nr + 1, sizeof(*more));
	char *copy = more ? strdup(path) : NULL;

	if (more)
		to->known = more;
	if (!copy) {
		free(lines);
		return -ENOMEM;
	}
	more[to->nr++] = (struct cgroup_limit){ .path = copy, .lines = lines };
	return 0;
}

static bool is_directory(int at, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(at, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

/* A directory with two links has no subdirectories. So the many leaves are not listed. */
static int walk_children(struct walk *walk, const char *path)
{
	int fd = openat(walk->root, path[0] ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct dirent *entry;
	struct stat st;
	DIR *directory;

	if (fd < 0 || (!fstat(fd, &st) && st.st_nlink == 2)) {
		if (fd >= 0)
			close(fd);
		return 0; /* the cgroup was removed meanwhile */
	}
	directory = fdopendir(fd);
	if (!directory) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && is_directory(fd, entry))
			err = walk_add(walk, path, entry->d_name);
	closedir(directory);
	return err;
}

/* The root has no limits of its own. */
static int look_at(struct walk *walk, const char *path, struct cgroup_limits *ret)
{
	char *file, *lines = NULL;
	int err = 0;

	if (path[0]) {
		if (asprintf(&file, "%s/" FILE_NAME, path + 1) < 0)
			return -ENOMEM;
		err = read_all(walk->root, file, &lines);
		free(file);
		if (err)
			return err == -ENOMEM ? err : 0;
		if (lines[0])
			err = keep(ret, path, lines);
		else
			free(lines);
	}
	return err ? err : walk_children(walk, path);
}

static int by_path(const void *a, const void *b)
{
	const struct cgroup_limit *one = a, *other = b;

	return strcmp(one->path, other->path);
}

int cgroup_limits_read(const char *where, struct cgroup_limits *ret)
{
	struct walk walk = { .root = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	int err;

	*ret = (struct cgroup_limits){ 0 };
	if (walk.root < 0)
		return -errno;
	err = walk_add(&walk, "", "");
	while (walk.nr && !err) {
		char *path = walk.left[--walk.nr];

		err = look_at(&walk, path, ret);
		free(path);
	}
	walk_free(&walk);
	close(walk.root);
	if (ret->nr)
		qsort(ret->known, ret->nr, sizeof(*ret->known), by_path);
	return err;
}

/* The limits of a disk in io.max, after its number; NULL if there is no line. */
static const char *line_of(const char *lines, const char *device, size_t *len)
{
	size_t number = strlen(device);

	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, device, number) || at[number] != ' ')
			continue;
		*len = strcspn(at + number + 1, "\n");
		return at + number + 1;
	}
	return NULL;
}

char *cgroup_limits_of(const struct cgroup_limits *limits, const char *device)
{
	char *text = NULL;
	size_t size, nr = 0;
	FILE *to = open_memstream(&text, &size);
	bool whole = to;

	for (size_t i = 0; i < limits->nr && to; i++) {
		size_t len = 0;
		const char *line = line_of(limits->known[i].lines, device, &len);

		if (line)
			fprintf(to, "%s%s %.*s", nr++ ? "\n" : "", limits->known[i].path, (int)len, line);
	}
	if (to) {
		whole = !ferror(to);
		whole = !fclose(to) && whole;
	}
	if (whole)
		return text;
	free(text);
	return NULL;
}

void cgroup_limits_free(struct cgroup_limits *limits)
{
	for (size_t i = 0; i < limits->nr; i++) {
		free(limits->known[i].path);
		free(limits->known[i].lines);
	}
	free(limits->known);
	*limits = (struct cgroup_limits){ 0 };
}
