/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Requests one by one, as text, CSV and JSON. */

#ifndef REPORT_REQUESTS_H
#define REPORT_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "raidtrace.h"

/**
 * struct requests - requests of a disk in the order of their ends
 * @found: the last one is what was waited for
 * @classes: classes were counted
 * @nr: how many
 * @ended: each; to be given to free()
 */
struct requests {
	bool found;
	bool classes;
	size_t nr;
	struct rt_ended *ended;
};

/**
 * requests_add - append some
 * @requests: all zero at first
 * @ended: copied
 * @nr: how many
 *
 * Return: 0 or -ENOMEM.
 */
int requests_add(struct requests *requests, const struct rt_ended *ended, size_t nr);

/**
 * requests_text - a line for each of them
 * @to: where
 * @requests: the requests
 * @first: index of the first that is printed
 * @disk: the disk of the requests
 */
void requests_text(FILE *to, const struct requests *requests, size_t first, const char *disk);

/* requests_csv_names - the first row, the names of the columns */
void requests_csv_names(FILE *to);

/* requests_csv - every column of each, times in ns of CLOCK_MONOTONIC; parameters as those of requests_text() */
void requests_csv(FILE *to, const struct requests *requests, size_t first);

/* requests_json - one object; parameters as those of requests_text() */
void requests_json(FILE *to, const struct requests *requests, size_t first, const char *disk);

#endif
