/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parts of a look that come from one text each. */

#ifndef WATCH_PARTS_H
#define WATCH_PARTS_H

#include "watch/look.h"

/*
 * look_pressure - total of "some" in /proc/pressure/memory, microseconds;
 *	FACT_UNKNOWN when @text is NULL or does not tell
 */
int64_t look_pressure(const char *text);

/* look_steal - steal_ticks and nr_processors from /proc/stat */
void look_steal(const char *text, struct look *ret);

/*
 * look_disks  devices of /proc/diskstats that were ever used
 * look_lines  lines of /proc/interrupts
 *
 * What @before has is not classified anew; it may be NULL.
 *
 * Return: 0 or -ENOMEM.
 */
int look_disks(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);
int look_lines(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret);

#endif
