/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Asynchronous events that a 3ware controller reported to its driver, from the log. */

#ifndef DISK_EVENTS_H
#define DISK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#define EVENTS_TEXT 1024

/**
 * events_count - number of events that the controller reported to the driver
 * @stats: text of the SCSI host's statistics, as 3w-9xxx writes it
 *
 * Return: the number, -1 when it is not there.
 */
long events_count(const char *stats);

/**
 * events_find - the event that a line of the kernel's log tells; pure
 * @line: as /dev/kmsg has it, of one message
 * @host: number of the SCSI host
 * @text: its severity, code and words
 * @size: of text
 *
 * Return: whether the line tells one of this host.
 */
bool events_find(const char *line, unsigned int host, char *text, size_t size);

/**
 * events_append - add a line to lines, without the oldest if there is no room
 * @lines: EVENTS_TEXT bytes
 * @line: without its newline
 */
void events_append(char *lines, const char *line);

/**
 * events_read - the events of a host that the kernel's log still has
 * @host: number of the SCSI host
 * @lines: EVENTS_TEXT bytes: a line for each, the last ones if they are many
 */
void events_read(unsigned int host, char *lines);

#endif
