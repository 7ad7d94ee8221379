// SPDX-License-Identifier: GPL-2.0-or-later

/* Disks according to sysfs and the mount table. */

#include "disk/disk.h"

#include <blkid/blkid.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <libmount/libmount.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DEFAULT_READAHEAD (128 * 1024) /* VM_READAHEAD_PAGES */
/* Optimal sizes of 8 MiB and more: USB bridges and SAS disks report 16,773,120, 33,553,408 and 33,553,920 bytes. */
#define BOGUS_READAHEAD (16 << 20)

int disk_read(int fd, char *ret, size_t size)
{
	ssize_t len = pread(fd, ret, size - 1, 0);
	int err = errno;

	while (len > 0 && isspace((unsigned char)ret[len - 1]))
		len--;
	ret[len > 0 ? len : 0] = '\0';
	return len < 0 ? -err : (int)len;
}

static int read_text(const char *path, char *ret, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), len;

	ret[0] = '\0';
	if (fd < 0)
		return -errno;
	len = disk_read(fd, ret, size);
	close(fd);
	return len;
}

int disk_attribute(const char *name, const char *attribute, char *ret,
		   size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attribute);
	return read_text(path, ret, size);
}

static int open_node(const char *path, dev_t device)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	if (!fstat(fd, &st) && S_ISBLK(st.st_mode) && st.st_rdev == device)
		return fd;
	close(fd);
	return -ENODEV;
}

int disk_open(const struct disk *disk)
{
	dev_t device = makedev(disk->major, disk->minor);
	char path[PATH_MAX], *at;
	int fd;

	/* The kernel writes cciss/c0d0 as cciss!c0d0. */
	snprintf(path, sizeof(path), "/dev/%s", disk->name);
	while ((at = strchr(path, '!')))
		*at = '/';
	fd = open_node(path, device);
	if (fd != -ENODEV)
		return fd;
	snprintf(path, sizeof(path), "/dev/block/%u:%u", disk->major,
		 disk->minor);
	return open_node(path, device);
}

static int64_t disk_number(const char *name, const char *attribute,
			   int64_t otherwise)
{
	char text[32], *end;
	long long value;

	if (disk_attribute(name, attribute, text, sizeof(text)) <= 0)
		return otherwise;
	value = strtoll(text, &end, 10);
	return *end ? otherwise : value;
}

/* "none [mq-deadline] kyber". A file without brackets has a single choice. */
const char *disk_active(char *text)
{
	char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;

	if (!to)
		return text;
	*to = '\0';
	return from + 1;
}

void disk_scheduler(const char *name, char *ret, size_t size)
{
	char text[256];

	disk_attribute(name, "queue/scheduler", text, sizeof(text));
	snprintf(ret, size, "%s", disk_active(text));
}

/* Is block device @devno, or a device below it, disk @name? */
static bool device_is_on(dev_t devno, const char *name, int depth)
{
	char whole[DISK_NAME], path[PATH_MAX];
	struct dirent *entry;
	bool lies = false;
	dev_t whole_devno;
	DIR *dir;

	if (blkid_devno_to_wholedisk(devno, whole, sizeof(whole),
				     &whole_devno))
		return false;
	if (!strcmp(whole, name))
		return true;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/slaves",
		 major(whole_devno), minor(whole_devno));
	dir = depth < 8 ? opendir(path) : NULL;
	if (!dir)
		return false;
	while (!lies && (entry = readdir(dir))) {
		char text[32];
		unsigned int maj, min;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%s/dev",
			 entry->d_name);
		if (read_text(path, text, sizeof(text)) > 0 &&
		    sscanf(text, "%u:%u", &maj, &min) == 2)
			lies = device_is_on(makedev(maj, min), name, depth + 1);
	}
	closedir(dir);
	return lies;
}

bool disk_holds(const char *name, dev_t device)
{
	return device_is_on(device, name, 0);
}

/* btrfs mounts have an anonymous device number: the source names the device. */
static dev_t mount_device(struct libmnt_fs *fs)
{
	dev_t devno = mnt_fs_get_devno(fs);
	const char *source = mnt_fs_get_srcpath(fs);
	struct stat st;

	if (!major(devno) && source && source[0] == '/' &&
	    !stat(source, &st) && S_ISBLK(st.st_mode))
		devno = st.st_rdev;
	return devno;
}

static char *text_or_empty(const char *text)
{
	return strdup(text ? text : "");
}

static int add_mount(struct libmnt_fs *fs, size_t *nr, struct mount **mounts)
{
	const char *source = mnt_fs_get_source(fs);
	char *options = mnt_fs_strdup_options(fs);
	struct mount *more = reallocarray(*mounts, *nr + 1, sizeof(*more));

	if (!more) {
		free(options);
		return -ENOMEM;
	}
	*mounts = more;
	more += (*nr)++;
	*more = (struct mount){
		.device = text_or_empty(source && strrchr(source, '/') ?
					strrchr(source, '/') + 1 : source),
		.devno = mount_device(fs),
		.dir = text_or_empty(mnt_fs_get_target(fs)),
		.fstype = text_or_empty(mnt_fs_get_fstype(fs)),
		.options = options ? options : strdup(""),
	};
	return more->device && more->dir && more->fstype && more->options ?
		       0 : -ENOMEM;
}

static int mounts_of(struct libmnt_table *table, const char *name, size_t *nr,
		     struct mount **ret)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int err = 0;

	*nr = 0;
	*ret = NULL;
	if (!iter)
		return -ENOMEM;
	while (!err && !mnt_table_next_fs(table, iter, &fs)) {
		dev_t devno = mount_device(fs);

		if (major(devno) && device_is_on(devno, name, 0))
			err = add_mount(fs, nr, ret);
	}
	mnt_free_iter(iter);
	return err;
}

void mounts_free(struct mount *mounts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(mounts[i].device);
		free(mounts[i].dir);
		free(mounts[i].fstype);
		free(mounts[i].options);
	}
	free(mounts);
}

int disk_mounts(const char *name, size_t *nr, struct mount **ret)
{
	struct libmnt_table *table;
	int err;

	*nr = 0;
	*ret = NULL;
	table = mnt_new_table_from_file("/proc/self/mountinfo");
	if (!table)
		return -errno;
	err = mounts_of(table, name, nr, ret);
	mnt_unref_table(table);
	if (err) {
		mounts_free(*ret, *nr);
		*nr = 0;
		*ret = NULL;
	}
	return err;
}

/* Do the driver, the model or the name have a mark of virtual.txt? */
static bool is_virtual(const struct disk *disk)
{
	for (const struct virtual_mark *mark = disk_virtual; mark->text; mark++) {
		if (mark->of == 'd' && !strcmp(disk->above.driver, mark->text))
			return true;
		if (mark->of == 'm' && strstr(disk->model, mark->text))
			return true;
		if (mark->of == 'n' && !strncmp(disk->name, mark->text, strlen(mark->text)))
			return true;
	}
	return false;
}

static const char *kind_of(const struct disk *disk)
{
	char text[8];

	if (disk->above.unit_3ware)
		return "array";
	if (disk_attribute(disk->name, "md/level", text, sizeof(text)) > 0)
		return "md";
	if (disk_attribute(disk->name, "dm/uuid", text, sizeof(text)) >= 0)
		return "dm";
	if (is_virtual(disk))
		return "virtual";
	return disk->rotational ? "rotating" : "flash";
}

/* Count the directories of the queues, /sys/block/DISK/mq/N. */
static unsigned int count_queues(const char *name)
{
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/block/%s/mq", name);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

const char *disk_readahead_from(const struct disk *disk)
{
	uint64_t bytes = disk->readahead_kib * 1024, page = (uint64_t)sysconf(_SC_PAGESIZE);

	/* The kernel rounds to whole pages. */
	if (disk->optimal_io_bytes && bytes == 2 * disk->optimal_io_bytes / page * page)
		return bytes < BOGUS_READAHEAD ?
			       "2 x optimal I/O size (the kernel's rule)" :
			       "2 x optimal I/O size (the kernel's rule; the disk may report a wrong size)";
	if (bytes == DEFAULT_READAHEAD)
		return "the kernel's default";
	/* Since Linux 6.17, for a disk that reports no optimal I/O size. */
	if (disk->rotational && !disk->optimal_io_bytes &&
	    disk->readahead_kib == 2 * disk->max_sectors_kb)
		return "2 x largest request (the kernel's rule for rotating disks)";
	return "set after boot (udev, a service, by hand)";
}

static bool fill(struct disk *disk, const char *name)
{
	char text[32], path[PATH_MAX];

	memset(disk, 0, sizeof(*disk));
	snprintf(disk->name, sizeof(disk->name), "%s", name);
	if (disk_attribute(name, "dev", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%u:%u", &disk->major, &disk->minor) != 2)
		return false;
	snprintf(path, sizeof(path), "/sys/block/%s", name);
	rt_parents_read(path, &disk->above);
	disk_attribute(name, "device/model", disk->model, sizeof(disk->model));
	if (disk_attribute(name, "device/rev", disk->firmware,
			   sizeof(disk->firmware)) <= 0)
		disk_attribute(name, "device/firmware_rev", disk->firmware,
			       sizeof(disk->firmware));
	disk_scheduler(name, disk->scheduler, sizeof(disk->scheduler));
	disk->rotational = disk_number(name, "queue/rotational", 0);
	disk->capacity_sectors = disk_number(name, "size", 0);
	disk->readahead_kib = disk_number(name, "queue/read_ahead_kb", 0);
	disk->max_sectors_kb = disk_number(name, "queue/max_sectors_kb", 0);
	disk->max_hw_sectors_kb =
		disk_number(name, "queue/max_hw_sectors_kb", 0);
	disk->optimal_io_bytes = disk_number(name, "queue/optimal_io_size", 0);
	disk->nr_queues = count_queues(name);
	disk->kind = kind_of(disk);
	disk->nr_requests = disk_number(name, "queue/nr_requests", -1);
	disk->queue_depth = disk_number(name, "device/queue_depth", -1);
	return true;
}

static int compare_disks(const void *a, const void *b)
{
	const struct disk *x = a, *y = b;

	if (x->above.unit_3ware != y->above.unit_3ware)
		return x->above.unit_3ware ? -1 : 1;
	return strverscmp(x->name, y->name);
}

static int add_disk(const char *name, struct libmnt_table *table, size_t *nr,
		    struct disk **disks)
{
	struct disk *more = reallocarray(*disks, *nr + 1, sizeof(*more));
	struct disk *disk;
	int err = 0;

	if (!more)
		return -ENOMEM;
	*disks = more;
	disk = &more[*nr];
	/* Loop devices and card readers without a medium have no sectors. */
	if (!fill(disk, name) || !disk->capacity_sectors)
		return 0;
	(*nr)++;
	if (table)
		err = mounts_of(table, name, &disk->nr_mounts, &disk->mounts);
	return err;
}

int disk_list(size_t *nr, struct disk **ret)
{
	struct libmnt_table *table;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	*nr = 0;
	*ret = NULL;
	dir = opendir("/sys/block");
	if (!dir)
		return -errno;
	table = mnt_new_table_from_file("/proc/self/mountinfo");
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = add_disk(entry->d_name, table, nr, ret);
	mnt_unref_table(table);
	closedir(dir);
	if (err) {
		disk_list_free(*ret, *nr);
		return err;
	}
	if (*nr)
		qsort(*ret, *nr, sizeof(**ret), compare_disks);
	return 0;
}

void disk_list_free(struct disk *disks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		mounts_free(disks[i].mounts, disks[i].nr_mounts);
	free(disks);
}

/* Get the device number of @word, which may be a path or a name in sysfs. */
static int device_number(const char *word, dev_t *ret, char *text, size_t size)
{
	char path[PATH_MAX], number[32];
	unsigned int maj, min;
	struct stat st;

	if (!strchr(word, '/')) {
		snprintf(path, sizeof(path), "/sys/class/block/%s/dev", word);
		if (read_text(path, number, sizeof(number)) > 0 &&
		    sscanf(number, "%u:%u", &maj, &min) == 2) {
			*ret = makedev(maj, min);
			return 0;
		}
		snprintf(text, size,
			 "no such disk; to list the disks: raidctl list");
		return -ENOENT;
	}
	if (stat(word, &st)) {
		snprintf(text, size,
			 "%s; to list the disks: raidctl list",
			 errno == ENOENT ? "no such disk" : strerror(errno));
		return -ENOENT;
	}
	if (!S_ISBLK(st.st_mode)) {
		snprintf(text, size,
			 "not a disk; to list the disks: raidctl list");
		return -EINVAL;
	}
	*ret = st.st_rdev;
	return 0;
}

int disk_resolve(const char *word, struct disk *disk, char *text, size_t size)
{
	char whole[DISK_NAME];
	dev_t devno, whole_devno;
	int err = device_number(word, &devno, text, size);

	if (err)
		return err;
	errno = 0;
	if (blkid_devno_to_wholedisk(devno, whole, sizeof(whole),
				     &whole_devno) ||
	    !fill(disk, whole)) {
		bool full = errno == ENOMEM;
		char path[64];

		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(devno), minor(devno));
		if (!full && access(path, F_OK))
			snprintf(text, size, "%s is hidden; in a container of podman, add --security-opt unmask=/sys/dev/block",
				 path);
		else
			snprintf(text, size, "%s; to list the disks: raidctl list", full ? strerror(ENOMEM) : "no such disk");
		return -ENOENT;
	}
	if (whole_devno != devno) {
		snprintf(text, size,
			 "a partition, but only whole disks are counted; name its disk: %s",
			 whole);
		return -EINVAL;
	}
	return 0;
}
