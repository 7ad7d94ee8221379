/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Disks as sysfs and the mount table show them, and what the command line says of them. */

#ifndef DISK_DISK_H
#define DISK_DISK_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "raidtrace.h"

/* disk.c: needs no privilege */

#define DISK_NAME	64
#define DISK_TEXT	128

/* A mounted file system that lies on a disk. */
struct mount {
	char *device;		/* name: the disk, a partition, md or dm above it */
	char *dir;
	char *fstype;
	char *options;		/* of the file system and of the mount */
	dev_t devno;		/* of @device */
};

/* A whole disk; texts are "" when not known. */
struct disk {
	char name[DISK_NAME];		/* without /dev/ */
	unsigned int major;
	unsigned int minor;
	struct rt_parents above;
	char model[DISK_TEXT];
	char firmware[DISK_NAME];
	const char *kind;		/* array (3ware unit), md, dm, virtual, rotating or flash */
	char scheduler[DISK_NAME];	/* "" without a queue of requests */
	bool rotational;
	uint64_t capacity_sectors;
	uint64_t readahead_kib;
	uint64_t max_sectors_kb;	/* largest request that the block layer builds */
	uint64_t max_hw_sectors_kb;	/* largest request that the driver takes */
	uint64_t optimal_io_bytes;	/* 0 when the disk advertises none */
	unsigned int nr_queues;		/* hardware queues, 0 without a queue of requests */
	int64_t nr_requests;		/* of each hardware queue, -1 for none */
	int64_t queue_depth;		/* of a SCSI device, -1 for others */
	size_t nr_mounts;
	struct mount *mounts;
};

/* Every whole disk that has a medium, 3ware units first. Return: 0 or -errno; free with disk_list_free(). */
int disk_list(size_t *nr, struct disk **ret);
void disk_list_free(struct disk *disks, size_t nr);

/*
 * The rule with the present readahead as its result, or "set after boot ...": the kernel records no origin.
 * Return: a constant text.
 */
const char *disk_readahead_from(const struct disk *disk);

/*
 * Find the disk of "sda", "/dev/sda" or a link to it. @text gets the reason of a failure and what to do.
 * Return: 0; -ENOENT when there is no such disk; -EINVAL for a partition or something that is not a disk.
 */
int disk_resolve(const char *word, struct disk *disk, char *text, size_t size);

/* Open the node of a disk for reading. Return: a descriptor; -ENODEV without a node in /dev; another -errno. */
int disk_open(const struct disk *disk);

/* Read a file below /sys/block/DISK without trailing blanks. Return: its length or -errno. */
int disk_attribute(const char *name, const char *attribute, char *ret,
		   size_t size);

/* The active scheduler, "" without a request queue. */
void disk_scheduler(const char *name, char *ret, size_t size);

/*
 * File systems on a disk, also through partitions, md and dm. Return: 0 or -errno; free with mounts_free().
 */
int disk_mounts(const char *name, size_t *nr, struct mount **ret);
void mounts_free(struct mount *mounts, size_t nr);

/* Does the file system of this st_dev lie on a disk, also through partitions, md and dm? Always false for btrfs. */
bool disk_holds(const char *name, dev_t device);

/* md-dm.c: disks made of disks */

/*
 * The whole disk of a block device, as "sda" of "sda1". @ret has DISK_NAME bytes. Return: false when there is no
 * such device.
 */
bool stack_whole(const char *device, char *ret);

/* Is a disk made of another one, or of a partition of it, directly? */
bool stack_lies_on(const char *upper, const char *lower);

/* Is a disk made of others, or another one of it or its partitions? */
bool stack_has_layers(const char *name);

/* Append all that the disks are made of, each once and without mounts. Return: 0 or -ENOMEM. */
int stack_add_members(size_t *nr, struct disk **disks);

/* Append the disks that are made only of listed ones, each once and without mounts. Return: 0 or -ENOMEM. */
int stack_add_holders(size_t *nr, struct disk **disks);

/* args.c: words of the command line that several verbs take; failures are printed */

/* Words of options and arguments that repeat; each belongs to argv. */
struct words {
	size_t nr;
	const char **word;
};

/* Append a word. Return: 0 or ENOMEM, as argp's parsers do. */
error_t words_add(struct words *words, const char *word);

/*
 * The disks of @words, each of which may be named once; without words every 3ware unit, in a guest of the lab every
 * simulated disk. Return: 0 or an exit status; free @ret with free().
 */
int args_disks(const struct words *words, const char *verb, size_t *nr,
	       struct disk **ret);

/* Does args_disks() find disks without words? */
bool args_has_default(void);

/*
 * The disks of a command's arguments: those that are an existing file, directory or disk, also behind "NAME=" as dd
 * and fio have them. If none is, the disk of the working directory. Print why each is taken unless @quiet.
 * Return: 0 or an exit status; free @ret with free().
 */
int args_command_disks(char *const *command, bool quiet, size_t *nr, struct disk **ret);

/*
 * The targets of the disks of @words, also of disks that are gone; all targets without words.
 * Return: 0 or an exit status; free @ret with free().
 */
int args_targets(struct rt_client *client, const struct words *words,
		 size_t *nr, struct rt_target **ret);

/* journal.c: sectors of a journal, read from a file system, which need not be mounted; nothing is written */

#define JOURNAL_PATH	256
#define JOURNAL_TEXT	512

struct journal {
	size_t nr;			/* 0 for a file system without a journal */
	struct rt_extent *extents;	/* sectors of the device */
	char device[JOURNAL_PATH];	/* path of an external device, "" when it lies in the file system */
};

/*
 * The journal of a file system of type ext2, ext3, ext4 or xfs on a device or image. @options are mount options,
 * where xfs names a log device; NULL for none.
 * Return: 0; -ENOTSUP for another type; -EINVAL when it is no such file system; another -errno. Free with
 * journal_free().
 */
int journal_read(const char *path, const char *fstype, const char *options,
		 struct journal *ret);
void journal_free(struct journal *journal);

/* journal-disk.c: the journals of all mounted file systems on a disk, which the module cannot find */

struct journals {
	size_t nr;
	struct rt_extent *extents;	/* sectors of the disk */
	char text[JOURNAL_TEXT];	/* for people: a line for each mount */
};

/*
 * Journals of file systems on the disk, its partitions and an md RAID 1 of it; @text names those that are not known.
 * Return: 0 or -ENOMEM; free with journals_free() in both cases.
 */
int journals_of_disk(const char *name, struct journals *ret);
void journals_free(struct journals *journals);

/* settings.c: settings that decide what a queue looks like, and their changes */

struct setting {
	const char *name;
	char *value;
};

/*
 * The settings of one disk or of the machine that are known, and the receiver of each that is new or changed; it
 * returns 0 or -errno.
 */
struct settings {
	const char *disk;
	const char *hctl;	/* SCSI address, "" for none */
	int (*changed)(void *data, const char *name, const char *value);
	void *data;
	size_t nr;
	struct setting *known;
};

/*
 * Note a value; @name lives as long as @settings. Return: 0; what changed() returned; -ENOMEM. So do all functions
 * of settings below.
 */
int settings_set(struct settings *settings, const char *name, const char *value);

/* Note the text of a file, without its newline; a file that cannot be read or is empty has no setting. */
int settings_file(struct settings *settings, const char *name, const char *path);

/* Read the settings of sysfs that can change at any time; cheap. */
int settings_queue(struct settings *settings);

/* Read the settings of the mount table. */
int settings_mounts(struct settings *settings);

/* Model, firmware and the driver's statistics. */
int settings_device(struct settings *settings);

/* Virtual memory, clock and processors of the machine; cheap. */
int settings_machine(struct settings *settings);
void settings_free(struct settings *settings);

/* controller.c: what is known of a disk's controller */

/*
 * PCI path, link, driver, and the firmware of a 3ware controller: the driver prints it when it is loaded, and it is
 * not known when the log no longer has that line. @pci is "" for a disk that is not on PCI, which has no such setting.
 */
int settings_controller(struct settings *settings, const char *pci, bool unit_3ware);

/* Statistics of 3w-9xxx, and the events that the controller reported to it. */
int settings_driver(struct settings *settings);

/* Parts of these; pure. */

/* Events that a controller reported, by the statistics of its driver; -1 when these do not have the number. */
long events_count(const char *stats);

/* Does a line of the kernel's log have an event of a SCSI host? @text gets its severity, code and words. */
bool events_find(const char *line, unsigned int host, char *text, size_t size);

#define EVENTS_TEXT 1024

/* Add a line to EVENTS_TEXT bytes of lines, and drop the oldest ones when there is no room. */
void events_append(char *lines, const char *line);

#endif
