/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Disks as sysfs and the mount table show them; needs no privilege. */

#ifndef DISK_DISK_H
#define DISK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

#define DISK_NAME	64
#define DISK_TEXT	128

/**
 * struct mount - a mounted file system that lies on a disk
 * @device: name of what is mounted: the disk, a partition, md or dm above it
 * @dir: where
 * @fstype: type of the file system
 * @options: mount options, of the file system and of the mount
 * @devno: number of @device
 */
struct mount {
	char *device;
	char *dir;
	char *fstype;
	char *options;
	dev_t devno;
};

/**
 * struct disk - one whole disk
 * @name: without /dev/
 * @major: of the device number
 * @minor: of the device number
 * @above: the devices above it
 * @model: as the disk names itself, "" when it does not
 * @firmware: revision as the disk reports it, "" when it does not
 * @kind: "array" (3ware unit), "md", "dm", "virtual", "rotating" or "flash"
 * @scheduler: the one in use, "" for a disk without a queue of requests
 * @rotational: as the block layer has it
 * @capacity_sectors: size
 * @readahead_kib: readahead, in KiB
 * @max_sectors_kb: largest request the block layer builds, in KiB
 * @max_hw_sectors_kb: largest request the driver takes, in KiB
 * @optimal_io_bytes: I/O size that the disk advertises as optimal, 0 when none
 * @nr_queues: hardware queues, 0 for a disk without a queue of requests
 * @nr_requests: of each hardware queue, -1 when there is none
 * @queue_depth: of the SCSI device, -1 when it is not SCSI
 * @nr_mounts: length of @mounts
 * @mounts: file systems on it
 */
struct disk {
	char name[DISK_NAME];
	unsigned int major;
	unsigned int minor;
	struct rt_parents above;
	char model[DISK_TEXT];
	char firmware[DISK_NAME];
	const char *kind;
	char scheduler[DISK_NAME];
	bool rotational;
	uint64_t capacity_sectors;
	uint64_t readahead_kib;
	uint64_t max_sectors_kb;
	uint64_t max_hw_sectors_kb;
	uint64_t optimal_io_bytes;
	unsigned int nr_queues;
	int64_t nr_requests;
	int64_t queue_depth;
	size_t nr_mounts;
	struct mount *mounts;
};

/**
 * disk_list - every whole disk that has a medium, 3ware units first
 * @nr: how many
 * @ret: to be given to disk_list_free()
 *
 * Return: 0 or -errno.
 */
int disk_list(size_t *nr, struct disk **ret);
void disk_list_free(struct disk *disks, size_t nr);

/**
 * disk_readahead_from - which rule gives the present readahead?
 * @disk: as disk_list() returns it
 *
 * Return: a constant text; the kernel records no origin, so it is the rule of
 * the kernel with this result, or "set after boot ...".
 */
const char *disk_readahead_from(const struct disk *disk);

/**
 * disk_resolve - which disk does somebody mean?
 * @word: "sda", "/dev/sda", a link to it
 * @disk: its name, major and minor are set
 * @text: why not, and what to do
 * @size: of @text
 *
 * Return: 0; -ENOENT when there is no such disk; -EINVAL for a partition or
 * something that is not a disk.
 */
int disk_resolve(const char *word, struct disk *disk, char *text, size_t size);

/**
 * disk_open - open a disk for reading, by its node in /dev
 * @disk: its name, major and minor are set
 *
 * Return: a file descriptor; -ENODEV when /dev has no node of the disk, another
 * -errno when it cannot be opened.
 */
int disk_open(const struct disk *disk);

/**
 * disk_attribute - read a file below /sys/block/DISK
 * @name: of the disk
 * @attribute: path below it
 * @ret: the text without trailing blanks
 * @size: of @ret
 *
 * Return: length of the text, -errno when it cannot be read.
 */
int disk_attribute(const char *name, const char *attribute, char *ret,
		   size_t size);

/* disk_scheduler - the active one, "" when the disk has no request queue */
void disk_scheduler(const char *name, char *ret, size_t size);

/**
 * disk_mounts - file systems on a disk, also through partitions, md and dm
 * @name: of the disk
 * @nr: how many
 * @ret: to be given to mounts_free()
 *
 * Return: 0 or -errno.
 */
int disk_mounts(const char *name, size_t *nr, struct mount **ret);

/**
 * disk_holds - does a file system lie on a disk?
 * @name: of the disk
 * @device: st_dev of a file
 *
 * Also through partitions, md and dm.  Not known for btrfs: its st_dev is
 * no device: false.
 */
bool disk_holds(const char *name, dev_t device);
void mounts_free(struct mount *mounts, size_t nr);

#endif
