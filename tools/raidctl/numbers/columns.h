/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Every column that raidctl export writes: its unit and what it means. */

#ifndef NUMBERS_COLUMNS_H
#define NUMBERS_COLUMNS_H

#include <stddef.h>

/**
 * struct column - a column of an exported table
 * @table: file name without .csv
 * @name: in the header row
 * @unit: "" for text and plain numbers
 * @meaning: one sentence
 */
struct column {
	const char *table;
	const char *name;
	const char *unit;
	const char *meaning;
};

extern const struct column columns[];
extern const size_t nr_columns;

#endif
