/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAID 5: what the cache holds of a row, and what the drives must do to write it. */
#ifndef TW_PARITY_H
#define TW_PARITY_H

#include "array.h"

/**
 * struct tw_row - what is dirty in one row of stripes
 * @row: its number in the unit
 * @unit: the unit
 * @ready_ns: when its newest data was in the cache
 * @charged: sectors of the cache that it takes up
 * @from: by data column, first dirty sector of the stripe
 * @end: behind the last one; equal to @from if none is
 */
struct tw_row {
	u64 row;
	u32 unit;
	u64 ready_ns;
	u32 charged;
	u32 from[TW_MAX_DRIVES];
	u32 end[TW_MAX_DRIVES];
};

enum tw_parity_method {
	TW_FULL_ROW,		/* all of the parity follows from what is in the cache */
	TW_READ_MODIFY,		/* old data and old parity are read */
	TW_RECONSTRUCT,		/* the data that is not in the cache is read */
	TW_READ_ALL,		/* a part of a missing member is written: all else is read */
	TW_NO_PARITY,		/* the parity's member is missing */
};

/* Sectors [from, end) of the row's stripe on one member; empty if equal. */
struct tw_span {
	u32 from;
	u32 end;
};

/**
 * struct tw_plan - the drive operations that write one row
 * @method: how the parity is computed
 * @operations: reads and writes, counted
 * @xor_sectors: sectors that go through the parity engine
 * @read: by member; before the write if there is one
 * @write: by member
 */
struct tw_plan {
	enum tw_parity_method method;
	u32 operations;
	u32 xor_sectors;
	struct tw_span read[TW_MAX_DRIVES];
	struct tw_span write[TW_MAX_DRIVES];
};

/**
 * tw_row_add() - one more write into the row
 * @row: the row
 * @column: data column
 * @from: first sector of the stripe
 * @end: behind the last one
 *
 * Return: false if it leaves a gap to what is dirty there already; nothing is added then.
 */
bool tw_row_add(struct tw_row *row, u32 column, u32 from, u32 end);

/* Return: whether every sector of every data column is dirty. */
bool tw_row_is_full(const struct tw_array *array, const struct tw_row *row);

/* @missing: the member that cannot be used in this row, or TW_NO_MEMBER. */
void tw_parity_plan(const struct tw_array *array, const struct tw_row *row, u32 missing,
		    struct tw_plan *plan);

#endif
