// SPDX-License-Identifier: GPL-2.0-or-later

/* Files of /proc that are read repeatedly during a recording. */

#include "machine/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

#define FIRST_SIZE	4096
#define LARGEST_SIZE	((size_t)16 << 20)

void proc_open(struct proc_file *file, const char *path)
{
	*file = (struct proc_file){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
}

void proc_close(struct proc_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->text);
	*file = (struct proc_file){ .fd = -1 };
}

static bool grow(struct proc_file *file)
{
	size_t size = file->size ? 2 * file->size : FIRST_SIZE;
	char *more = size > LARGEST_SIZE ? NULL : realloc(file->text, size);

	if (!more)
		return false;
	file->text = more;
	file->size = size;
	return true;
}

const char *proc_read(struct proc_file *file)
{
	size_t len = 0;

	if (file->fd < 0 || (!file->text && !grow(file)))
		return NULL;
	for (;;) {
		ssize_t got = pread(file->fd, file->text + len,
				    file->size - len - 1, (off_t)len);

		if (got < 0)
			return NULL;
		len += (size_t)got;
		if (!got)
			break;
		if (len + 1 == file->size && !grow(file))
			return NULL;
	}
	file->text[len] = '\0';
	return file->text;
}

const char *proc_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end[1] ? end + 1 : NULL;
}

/* Read a file of a process with one call. These files are shorter than @size. */
static bool read_once(int pid, const char *name, char *ret, size_t size)
{
	char path[96];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, ret, size - 1);
	close(fd);
	ret[len > 0 ? len : 0] = '\0';
	return len > 0;
}

bool proc_thread_read(int pid, int thread, const char *name, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%d/%s", thread, name);
	return read_once(pid, path, ret, size);
}

bool proc_io_read(int pid, struct proc_io *ret)
{
	char text[512];

	return read_once(pid, "io", text, sizeof(text)) &&
	       sscanf(text,
		      "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64
		      " syscw: %" SCNu64 " read_bytes: %" SCNu64
		      " write_bytes: %" SCNu64
		      " cancelled_write_bytes: %" SCNu64,
		      &ret->rchar, &ret->wchar, &ret->syscr, &ret->syscw,
		      &ret->read_bytes, &ret->write_bytes,
		      &ret->cancelled_write_bytes) == 7;
}

bool proc_waited_read(int pid, uint64_t *ret)
{
	char text[128];

	return read_once(pid, "schedstat", text, sizeof(text)) && sscanf(text, "%*u %" SCNu64, ret) == 1;
}

int parse_process(const char *text, struct process *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, system, waited_user, waited_system, faults, waited_faults;

	memset(ret, 0, sizeof(*ret));
	if (!open || !close || close < open)
		return -EINVAL;
	ret->pid = atoi(text);
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1),
		 open + 1);
	/* After the name: state, ppid, five fields, faults, four times, four fields, start. */
	if (sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %" SCNu64,
		   &ret->parent, &faults, &waited_faults, &user, &system,
		   &waited_user, &waited_system, &ret->start) != 8)
		return -EINVAL;
	ret->ticks = user + system + waited_user + waited_system;
	ret->major_faults = faults + waited_faults;
	return 0;
}

bool proc_process_read(int pid, struct process *ret)
{
	char text[1024];

	return read_once(pid, "stat", text, sizeof(text)) &&
	       !parse_process(text, ret);
}

int proc_each_pid(int (*take)(void *data, int pid), void *data)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int ret = 0;

	while (!ret && dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			ret = take(data, atoi(entry->d_name));
	if (dir)
		closedir(dir);
	return ret;
}

int parse_disk_use(const char *text, struct disk_use *ret)
{
	uint64_t reads, read_sectors, writes, written_sectors;
	uint64_t discards = 0, discarded_sectors = 0, flushes = 0;
	/* Discards exist since Linux 4.18, flushes since 5.5. */
	int nr = sscanf(text,
			" %*u %*u %63s %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			" %*u %" SCNu64 " %*u %*u %*u %*u %" SCNu64
			" %*u %" SCNu64 " %*u %" SCNu64,
			ret->name, &reads, &read_sectors, &writes,
			&written_sectors, &discards, &discarded_sectors,
			&flushes);

	if (nr < 5)
		return -EINVAL;
	/* As in /sys/block. */
	for (char *at = ret->name; (at = strchr(at, '/')); )
		*at = '!';
	ret->requests = reads + writes + discards + flushes;
	ret->bytes = (read_sectors + written_sectors + discarded_sectors) *
		     SECTOR_BYTES;
	return 0;
}

bool proc_disk_use(const char **text, struct disk_use *ret)
{
	while (*text && **text) {
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(*text, "\n"), *text);
		*text = proc_line(*text);
		if (!parse_disk_use(line, ret))
			return true;
	}
	return false;
}

/* The file also has partitions; only whole disks are in /sys/block. */
bool proc_whole_disk(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/block/%s", name);
	return !access(path, F_OK);
}

int64_t proc_swapped(const char *text)
{
	int64_t pages, sum = FACT_UNKNOWN;

	for (; text; text = proc_line(text)) {
		if (strncmp(text, "pswp", 4) ||
		    (sscanf(text, "pswpin %" SCNd64, &pages) != 1 &&
		     sscanf(text, "pswpout %" SCNd64, &pages) != 1))
			continue;
		sum = sum == FACT_UNKNOWN ? pages : sum + pages;
	}
	return sum;
}
