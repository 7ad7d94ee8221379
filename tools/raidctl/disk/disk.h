/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Disks according to sysfs and the mount table, and the words of the command line for them. */

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

/* A mounted file system on a disk, or on a partition, md or dm above it. */
struct mount {
	char *device;		/* name of the disk, partition, md or dm */
	char *dir;
	char *fstype;
	char *options;		/* of the file system and of the mount */
	dev_t devno;		/* of @device */
};

/* A whole disk. A text is "" if it is not known. */
struct disk {
	char name[DISK_NAME];		/* without /dev/ */
	unsigned int major;
	unsigned int minor;
	struct rt_parents above;
	char model[DISK_TEXT];
	char firmware[DISK_NAME];
	const char *kind;		/* array (3ware unit), md, dm, virtual, rotating or flash */
	char scheduler[DISK_NAME];	/* "" without a request queue */
	bool rotational;
	uint64_t capacity_sectors;
	uint64_t readahead_kib;
	uint64_t max_sectors_kb;	/* largest request that the block layer builds */
	uint64_t max_hw_sectors_kb;	/* largest request that the driver accepts */
	uint64_t optimal_io_bytes;	/* 0 if the disk reports none */
	unsigned int nr_queues;		/* hardware queues, 0 without a request queue */
	int64_t nr_requests;		/* of each hardware queue, -1 for none */
	int64_t queue_depth;		/* of a SCSI device, -1 for others */
	size_t nr_mounts;
	struct mount *mounts;
};

/* List all whole disks with a medium, 3ware units first. Return: 0 or -errno; free with disk_list_free(). */
int disk_list(size_t *nr, struct disk **ret);
void disk_list_free(struct disk *disks, size_t nr);

/* A mark of virtual disks, from virtual.txt: @of is 'd' for a driver, 'm' for a part of a model, 'n' for a name. */
struct virtual_mark {
	char of;
	const char *text;	/* NULL ends the list */
};

extern const struct virtual_mark disk_virtual[];

/*
 * The rule that gives the present readahead as its result, or "set after boot ...", because the kernel does not record
 * the origin. Return: a constant text.
 */
const char *disk_readahead_from(const struct disk *disk);

/*
 * Find a disk by "sda", "/dev/sda" or a link to it. @text gets the reason of a failure and the remedy. Return: 0;
 * -ENOENT if there is no such disk; -EINVAL for a partition or something that is not a disk.
 */
int disk_resolve(const char *word, struct disk *disk, char *text, size_t size);

/* Open the device node of a disk for reading. Return: a descriptor; -ENODEV without a node in /dev; another -errno. */
int disk_open(const struct disk *disk);

/* Read a file below /sys/block/DISK without trailing blanks. Return: its length or -errno. */
int disk_attribute(const char *name, const char *attribute, char *ret,
		   size_t size);

/* Read an open file from its start, without trailing blanks. Return: its length or -errno. */
int disk_read(int fd, char *ret, size_t size);

/* Write the active scheduler to @ret, "" without a request queue. */
void disk_scheduler(const char *name, char *ret, size_t size);

/* The active scheduler in the text of queue/scheduler, which is changed. */
const char *disk_active(char *text);

/*
 * List the file systems on a disk, also on partitions, md and dm above it. Return: 0 or -errno; free with
 * mounts_free().
 */
int disk_mounts(const char *name, size_t *nr, struct mount **ret);
void mounts_free(struct mount *mounts, size_t nr);

/* Is the file system with this st_dev on a disk, or on a partition, md or dm above it? Always false for btrfs. */
bool disk_holds(const char *name, dev_t device);

/* md-dm.c: disks that consist of other disks */

/*
 * Find the whole disk of a block device, such as "sda" of "sda1". @ret has DISK_NAME bytes. Return: false if there is
 * no such device.
 */
bool stack_whole(const char *device, char *ret);

/* Does a disk directly consist of another one, or of one of its partitions? */
bool stack_lies_on(const char *upper, const char *lower);

/* Does a disk consist of others, or another one of this disk or its partitions? */
bool stack_has_layers(const char *name);

/* Call @take with each disk that a disk directly consists of until it returns non-zero. Return: its last result. */
int stack_each_member(const char *name, int (*take)(void *data, const char *disk), void *data);

/* Append all members of the disks, at any depth, each once and without mounts. Return: 0 or -ENOMEM. */
int stack_add_members(size_t *nr, struct disk **disks);

/* Append the disks that consist only of listed ones, each once and without mounts. Return: 0 or -ENOMEM. */
int stack_add_holders(size_t *nr, struct disk **disks);

/* args.c: words of the command line for several verbs; failures are printed */

/* Words of options and arguments that may be repeated. Each points into argv. */
struct words {
	size_t nr;
	const char **word;
};

/* Append a word. Return: 0 or ENOMEM, like the parsers of argp. */
error_t words_add(struct words *words, const char *word);

/*
 * Find the disks of @words. Each disk may be named only once. Without words: all 3ware units; in a guest of the lab,
 * all simulated disks. Return: 0 or an exit status; free @ret with free().
 */
int args_disks(const struct words *words, const char *verb, size_t *nr,
	       struct disk **ret);

/* Does args_disks() find disks if there are no words? */
bool args_has_default(void);

/*
 * Find the disks of a command's arguments that are an existing file, directory or disk, also after "NAME=" (dd, fio).
 * If none is, use the disk of the working directory. Print the reason for each unless @quiet. Return: 0 or an exit
 * status; free @ret with free().
 */
int args_command_disks(char *const *command, bool quiet, size_t *nr, struct disk **ret);

/*
 * Find the targets of the disks of @words, also of disks that are gone. Without words: all targets. Return: 0 or an
 * exit status; free @ret with free().
 */
int args_targets(struct rt_client *client, const struct words *words,
		 size_t *nr, struct rt_target **ret);

/* journal.c: the sectors of a journal, read from a file system that need not be mounted; nothing is written */

#define JOURNAL_PATH	256
#define JOURNAL_TEXT	512

struct journal {
	size_t nr;			/* 0 for a file system without a journal */
	struct rt_extent *extents;	/* sectors of the device */
	char device[JOURNAL_PATH];	/* path of an external device, "" if the journal is in the file system */
};

/*
 * Find the journal of a file system of type ext2, ext3, ext4 or xfs on a device or image. @options: mount options,
 * which name the log device of xfs; NULL for none. Return: 0; -ENOTSUP for another type; -EINVAL if it is not such a
 * file system; another -errno. Free with journal_free().
 */
int journal_read(const char *path, const char *fstype, const char *options,
		 struct journal *ret);
void journal_free(struct journal *journal);

/* journal-disk.c: the journals of all mounted file systems on a disk, which the module cannot find itself */

struct journals {
	size_t nr;
	struct rt_extent *extents;	/* sectors of the disk */
	char text[JOURNAL_TEXT];	/* text for the user: a line for each mount */
};

/*
 * Find the journals of file systems on the disk, its partitions and an md RAID 1 of it. @text names those that are not
 * known. Return: 0 or -ENOMEM; free with journals_free() in both cases.
 */
int journals_of_disk(const char *name, struct journals *ret);
void journals_free(struct journals *journals);

/* settings.c: settings that affect a queue, and their changes */

struct setting {
	char *name;
	char *value;
};

/* Most files of a struct settings that stay open. */
#define SETTINGS_KEPT	16

/*
 * The known settings of one disk or of the machine. changed() is called for each new or changed setting and returns 0
 * or -errno.
 */
struct settings {
	const char *disk;
	const char *hctl;	/* SCSI address, "" for none */
	int (*changed)(void *data, const char *name, const char *value);
	void *data;
	size_t nr;
	struct setting *known;
	int kept[SETTINGS_KEPT];	/* a file that is read often: 0, its descriptor + 1, or -1: it is missing */
};

/*
 * Store a value. Return: 0; the result of changed(); -ENOMEM. The functions
 * below return the same.
 */
int settings_set(struct settings *settings, const char *name, const char *value);

/* Store the text of a file without its newline. A file that is not readable or empty sets nothing. */
int settings_file(struct settings *settings, const char *name, const char *path);

/*
 * Read the settings in sysfs that can change at any time. Cheap: their files stay open. A missing file is searched
 * again after settings_device().
 */
int settings_queue(struct settings *settings);

/* Read the settings of the mount table. */
int settings_mounts(struct settings *settings);

/* Read model, firmware, limits of the disk, the settings of its scheduler, and the driver's statistics. */
int settings_device(struct settings *settings);

/* Read the settings of virtual memory, clock and processors of the machine. Cheap. */
int settings_machine(struct settings *settings);
void settings_free(struct settings *settings);

/* controller.c: the facts about a disk's controller */

/*
 * Read PCI path, link, driver, and the firmware of a 3ware controller. The driver prints the firmware when it is
 * loaded; if the kernel's log has lost this line, it is not known. @pci: "" for a disk that is not on PCI, which has no
 * such settings.
 */
int settings_controller(struct settings *settings, const char *pci, bool unit_3ware);

/* Read the statistics of 3w-9xxx, and the events that the controller reported to it. */
int settings_driver(struct settings *settings);

/* Parts of these functions. Pure. */

/* Number of events that a controller reported, from the statistics of its driver; -1 if they lack it. */
long events_count(const char *stats);

/* Does a line of the kernel's log contain an event of a SCSI host? @text gets its severity, code and words. */
bool events_find(const char *line, unsigned int host, char *text, size_t size);

#define EVENTS_TEXT 1024

/* Append a line to EVENTS_TEXT bytes of lines. The oldest lines are dropped if there is too little room. */
void events_append(char *lines, const char *line);

#endif
