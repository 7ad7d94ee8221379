/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Words of the command line that several verbs take. */

#ifndef DISK_ARGS_H
#define DISK_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "disk/disk.h"
#include "raidtrace.h"

/**
 * struct words - a list of words, for options and arguments that repeat
 * @nr: how many
 * @word: each, belongs to argv
 */
struct words {
	size_t nr;
	const char **word;
};

/* words_add - append one; returns 0 or ENOMEM, as argp's parsers do */
error_t words_add(struct words *words, const char *word);

/**
 * args_disks - the disks that somebody names, or all 3ware units
 * @words: names; none means every 3ware unit, in a guest of the lab every simulated disk
 * @verb: for messages
 * @nr: how many disks
 * @ret: their names, majors and minors; to be given to free()
 *
 * To name a disk twice is an error of usage.
 *
 * Return: 0 or an exit status; the failure has been printed.
 */
int args_disks(const struct words *words, const char *verb, size_t *nr,
	       struct disk **ret);

/* args_has_default - whether args_disks() finds disks if none is named */
bool args_has_default(void);

/**
 * args_targets - the targets that somebody names, or all
 * @client: connected
 * @words: names of disks, also of disks that are gone; none means all targets
 * @nr: how many
 * @ret: to be given to free()
 *
 * Return: 0 or an exit status; the failure has been printed.
 */
int args_targets(struct rt_client *client, const struct words *words,
		 size_t *nr, struct rt_target **ret);

#endif
