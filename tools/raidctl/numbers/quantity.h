/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a span amounts to, one number at a time: for tables of many spans. */

#ifndef NUMBERS_QUANTITY_H
#define NUMBERS_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "raidtrace.h"

enum quantity_unit {
	QUANTITY_COUNT,
	QUANTITY_BYTES,
	QUANTITY_MIB_PER_S,
	QUANTITY_REQUESTS,
	QUANTITY_SHARE,
	QUANTITY_SECTORS,
	QUANTITY_NS,
};

/**
 * struct quantity - one number of one direction of a span
 * @name: of its definition, see report/definitions.h
 * @label: for people
 * @unit: of the value; QUANTITY_SHARE is of 1
 * @bin: it is an end of a bin that the true value lies in
 * @timed: it depends on how fast the machine is, not only on what was asked
 * @needs: RT_COUNTER_BIT() of the counters that it is made of
 * @value: NAN when there is nothing to make it of
 */
struct quantity {
	const char *name;
	const char *label;
	enum quantity_unit unit;
	bool bin;
	bool timed;
	uint64_t needs;
	double (*value)(const struct rt_counters *counters,
			unsigned int direction);
};

extern const struct quantity quantities[];
extern const size_t nr_quantities;

/* quantity_of - the value, NAN when it is not available */
double quantity_of(const struct quantity *quantity,
		   const struct rt_counters *counters, unsigned int direction);

/**
 * quantity_text - a value for people, with its unit
 * @ret: room for UNITS_TEXT bytes
 * @quantity: what it is
 * @value: NAN prints as n/a
 */
char *quantity_text(char *ret, const struct quantity *quantity, double value);

#endif
