// SPDX-License-Identifier: GPL-2.0-or-later

/* Limits and weights of all cgroups: a walk down the hierarchy, as far as the I/O controller is enabled. */

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

/*
 * Files of a cgroup with a line for each disk. The first of a version is in each cgroup that has the I/O controller. In
 * version 2 the root has the model of io.cost, and no limits of its own.
 */
static const struct {
	const char *name;
	int version;
	bool of_root;
	bool of_others;
} files[CGROUP_LIMIT_FILES] = {
	{ "io.max", 2, false, true },
	{ "io.latency", 2, false, true },
	{ "io.weight", 2, false, true },
	{ "io.bfq.weight", 2, false, true },
	{ "io.cost.qos", 2, true, false },
	{ "io.cost.model", 2, true, false },
	{ "blkio.throttle.read_bps_device", 1, true, true },
	{ "blkio.throttle.write_bps_device", 1, true, true },
	{ "blkio.throttle.read_iops_device", 1, true, true },
	{ "blkio.throttle.write_iops_device", 1, true, true },
	{ "blkio.bfq.weight_device", 1, false, true },
};

#define DEFAULT_WEIGHT	100

const char *cgroup_limit_file(unsigned int file, int version)
{
	return files[file].version == version ? files[file].name : NULL;
}

/* Cgroups that are still to be visited: paths from the root, "" for the root. */
struct walk {
	int root;
	int version;
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

static int keep(struct cgroup_limits *to, unsigned int file, const char *path, char *lines)
{
	struct cgroup_limit *more = reallocarray(to->known, to->nr + 1, sizeof(*more));
	char *copy = more ? strdup(path) : NULL;

	if (more)
		to->known = more;
	if (!copy) {
		free(lines);
		return -ENOMEM;
	}
	more[to->nr++] = (struct cgroup_limit){ .file = file, .path = copy, .lines = lines };
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

/* Return: -ENOENT if the cgroup lacks the file. */
static int look_at_file(const struct walk *walk, const char *path, unsigned int number,
			struct cgroup_limits *ret)
{
	char file[PATH_MAX], *lines = NULL;
	int err;

	if ((size_t)snprintf(file, sizeof(file), "%s%s%s", path[0] ? path + 1 : "",
			     path[0] ? "/" : "", files[number].name) >= sizeof(file))
		return -ENOENT;
	err = read_all(walk->root, file, &lines);
	if (!err && lines[0])
		return keep(ret, number, path, lines);
	free(lines);
	return err;
}

static int look_at(struct walk *walk, const char *path, struct cgroup_limits *ret)
{
	bool has_controller = !path[0];

	for (unsigned int i = 0; i < CGROUP_LIMIT_FILES; i++) {
		int err;

		if (files[i].version != walk->version || !(path[0] ? files[i].of_others : files[i].of_root))
			continue;
		err = look_at_file(walk, path, i, ret);
		if (err == -ENOMEM)
			return err;
		if (err && !has_controller)
			return 0; /* none below has it */
		has_controller = true;
	}
	return walk_children(walk, path);
}

static int by_path(const void *a, const void *b)
{
	const struct cgroup_limit *one = a, *other = b;

	return strcmp(one->path, other->path);
}

int cgroup_limits_read(const char *where, int version, struct cgroup_limits *ret)
{
	struct walk walk = { .version = version, .root = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
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

/* The text of a line after its first word; NULL if there is no such line. */
static const char *line_of(const char *lines, const char *word, size_t *len)
{
	size_t size = strlen(word);

	for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, word, size) || at[size] != ' ')
			continue;
		*len = strcspn(at + size + 1, "\n");
		return at + size + 1;
	}
	return NULL;
}

/* A weight that is not the kernel's default holds for each disk without a weight of its own. */
static const char *default_of(const char *lines, size_t *len)
{
	const char *line = line_of(lines, "default", len);

	return line && strtoul(line, NULL, 10) != DEFAULT_WEIGHT ? line : NULL;
}

char *cgroup_limits_of(const struct cgroup_limits *limits, unsigned int file, const char *device)
{
	char *text = NULL;
	size_t size, nr = 0;
	FILE *to = open_memstream(&text, &size);
	bool whole = to;

	for (size_t i = 0; i < limits->nr && to; i++) {
		const struct cgroup_limit *one = &limits->known[i];
		size_t len = 0;
		const char *line;

		if (one->file != file)
			continue;
		line = line_of(one->lines, device, &len);
		if (!line)
			line = default_of(one->lines, &len);
		if (line)
			fprintf(to, "%s%s %.*s", nr++ ? "\n" : "", one->path[0] ? one->path : "/",
				(int)len, line);
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
