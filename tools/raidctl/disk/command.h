/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The disks that a command is about to use, by its arguments. */

#ifndef DISK_COMMAND_H
#define DISK_COMMAND_H

#include <stddef.h>

#include "disk/disk.h"

/**
 * struct command_disk - a disk that a command uses
 * @disk: name, major and minor are set
 * @path: the argument that lies on it, or the working directory
 */
struct command_disk {
	struct disk disk;
	char path[256];
};

/**
 * command_disks - the disks of a command's arguments
 * @command: its words, ends with NULL
 * @nr: how many disks, each once
 * @ret: to be given to free()
 *
 * An argument counts if it is an existing file, directory or disk, also behind
 * "NAME=" as dd and fio have them.  The program itself does not.  If no
 * argument counts, the disk of the working directory does.
 *
 * Return: 0 or -ENOMEM.
 */
int command_disks(char *const *command, size_t *nr, struct command_disk **ret);

#endif
