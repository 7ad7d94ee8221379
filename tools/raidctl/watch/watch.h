/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Looks now and then, in a thread of its own, at what could disturb the
 * recording.
 *
 * A look is due every second, but never so often that looking takes more than
 * 1/WATCH_SHARE of a processor.
 */

#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "watch/look.h"

#define WATCH_SHARE	500

struct watch;

/**
 * watch_start - take the first look and go on
 * @scope: copied; the disks have to stay
 * @ret: to be given to watch_stop()
 *
 * Return: 0 or -errno.
 */
int watch_start(const struct look_scope *scope, struct watch **ret);

/**
 * struct watch_hands - who takes what was found; each returns 0 or -errno
 * @disturbed: a disturbance, or one that lasts
 * @row: a number about the machine
 * @data: for both
 */
struct watch_hands {
	int (*disturbed)(void *data, const struct disturbance *what);
	int (*row)(void *data, const struct host_row *row);
	void *data;
};

/**
 * watch_take - what was found since the last call
 * @watch: started
 * @hands: are given a disturbance again, with the same number, when it lasts
 *
 * Return: 0, -ENOMEM, or what a hand returned.
 */
int watch_take(struct watch *watch, const struct watch_hands *hands);

/**
 * watch_finish - take the last look; nothing is watched after
 * @watch: started
 */
void watch_finish(struct watch *watch);

/**
 * watch_available - what is watched and what this machine does not tell
 * @watch: started
 * @watched: kinds, separated by blanks
 * @missing: the others
 * @size: of each
 */
void watch_available(const struct watch *watch, char *watched, char *missing,
		     size_t size);

/* watch_count - how many disturbances were found so far */
size_t watch_count(const struct watch *watch);
void watch_stop(struct watch *watch);

#endif
