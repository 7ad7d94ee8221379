/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a span amounts to that has no direction: of the disk, of what bios and
 * requests are for, of processes, of places.
 */

#ifndef NUMBERS_QUANTITY_GROUPS_H
#define NUMBERS_QUANTITY_GROUPS_H

#include "numbers/quantity.h"

/* Of the disk; their second argument is not used. */
extern const struct quantity disk_quantities[];
extern const size_t nr_disk_quantities;

/* Of a class; their second argument is enum raidtrace_class. */
extern const struct quantity class_quantities[];
extern const size_t nr_class_quantities;

/* Of a process; submitter_quantity() has their values. */
extern const struct quantity submitter_quantities[];
extern const size_t nr_submitter_quantities;

/* Seeks from one class to another; blame_seeks() has the value. */
extern const struct quantity seeks_quantity;

/* Share of bytes at another place; places_apart() has the value. */
extern const struct quantity places_quantity;

/**
 * submitter_quantity - of all processes of a name together
 * @counters: the span
 * @comm: the name, NULL for those that found the table full
 * @index: in submitter_quantities
 *
 * Return: 0 when there is none of the name; NAN when processes are not counted.
 */
double submitter_quantity(const struct rt_counters *counters, const char *comm,
			  size_t index);

/* blame_seeks - seeks from a class to another, NAN when they are not counted */
double blame_seeks(const struct rt_counters *counters, unsigned int from,
		   unsigned int to);

/**
 * places_apart - how differently two spans use their disks
 * @a: a span
 * @b: another, of any length
 * @direction: read or write
 *
 * Return: the share of bytes that would have to be moved to other parts of the
 * disk to make the two alike, of 1; NAN when one of them has no bytes or does
 * not tell.
 */
double places_apart(const struct rt_counters *a, const struct rt_counters *b,
		    unsigned int direction);

#endif
