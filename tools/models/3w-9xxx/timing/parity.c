// SPDX-License-Identifier: GPL-2.0-or-later
/* RAID 5: the method of writing a row that takes the fewest drive operations. */
#include "timing.h"

bool tw_row_add(struct tw_row *row, u32 column, u32 from, u32 end)
{
	u32 *first = &row->from[column], *last = &row->end[column];
	u32 before = *last - *first;

	if (before && (from > *last || end < *first))
		return false;
	*first = before ? (u32)rl_min(*first, from) : from;
	*last = (u32)rl_max(*last, end);
	row->charged += *last - *first - before;
	return true;
}

bool tw_row_is_full(const struct tw_array *array, const struct tw_row *row)
{
	return row->charged == array->stripe * tw_array_data_drives(array);
}

/* The sectors whose parity changes: from the first dirty one of any column to the last. */
static struct tw_span tw_hull(const struct tw_row *row, u32 columns)
{
	struct tw_span hull = { ~0U, 0 };
	u32 i;

	for (i = 0; i < columns; i++) {
		if (row->from[i] == row->end[i])
			continue;
		hull.from = (u32)rl_min(hull.from, row->from[i]);
		hull.end = (u32)rl_max(hull.end, row->end[i]);
	}
	return hull;
}

/* Facts of a row that decide the method. */
struct tw_row_facts {
	struct tw_span hull;
	u32 dirty;		/* columns with something dirty */
	u32 partial;		/* columns of which the cache does not have the whole hull */
	bool missing_dirty;
	bool missing_partial;
};

static bool tw_holds(const struct tw_row *row, u32 column, const struct tw_span *span)
{
	return row->from[column] <= span->from && row->end[column] >= span->end;
}

static void tw_look(const struct tw_array *array, const struct tw_row *row, u32 missing,
		    struct tw_row_facts *facts)
{
	u32 columns = tw_array_data_drives(array), i;

	rl_fill(facts, 0, sizeof(*facts));
	facts->hull = tw_hull(row, columns);
	for (i = 0; i < columns; i++) {
		bool dirty = row->from[i] < row->end[i], partial = !tw_holds(row, i, &facts->hull);

		facts->dirty += dirty;
		facts->partial += partial;
		if (tw_array_member(array, row->row, i) == missing) {
			facts->missing_dirty = dirty;
			facts->missing_partial = partial;
		}
	}
}

static enum tw_parity_method tw_choose(const struct tw_array *array, const struct tw_row *row,
				       u32 missing, const struct tw_row_facts *facts)
{
	if (tw_array_parity(array, row->row) == missing)
		return TW_NO_PARITY;
	if (!facts->partial)
		return TW_FULL_ROW;
	if (facts->missing_partial)
		return facts->missing_dirty ? TW_READ_ALL : TW_READ_MODIFY;
	if (facts->missing_dirty)
		return TW_RECONSTRUCT;
	/* Both write the same; what is read differs. */
	return facts->partial < facts->dirty + 1 ? TW_RECONSTRUCT : TW_READ_MODIFY;
}

static void tw_plan_column(const struct tw_row *row, u32 column, const struct tw_row_facts *facts,
			   u32 member, struct tw_plan *plan)
{
	struct tw_span own = { row->from[column], row->end[column] };
	bool dirty = own.from < own.end;

	if (dirty)
		plan->write[member] = own;
	if (plan->method == TW_READ_MODIFY && dirty)
		plan->read[member] = own;
	if ((plan->method == TW_RECONSTRUCT && !tw_holds(row, column, &facts->hull)) ||
	    plan->method == TW_READ_ALL)
		plan->read[member] = facts->hull;
}

static void tw_count_operations(const struct tw_array *array, struct tw_plan *plan)
{
	u32 i;

	for (i = 0; i < array->drives; i++) {
		plan->operations += plan->read[i].from < plan->read[i].end;
		plan->operations += plan->write[i].from < plan->write[i].end;
	}
}

void tw_parity_plan(const struct tw_array *array, const struct tw_row *row, u32 missing,
		    struct tw_plan *plan)
{
	u32 columns = tw_array_data_drives(array), parity = tw_array_parity(array, row->row), i;
	struct tw_row_facts facts;

	rl_fill(plan, 0, sizeof(*plan));
	tw_look(array, row, missing, &facts);
	plan->method = tw_choose(array, row, missing, &facts);
	for (i = 0; i < columns; i++) {
		u32 member = tw_array_member(array, row->row, i);

		if (member != missing)
			tw_plan_column(row, i, &facts, member, plan);
	}
	if (plan->method != TW_NO_PARITY) {
		plan->write[parity] = facts.hull;
		if (plan->method == TW_READ_MODIFY || plan->method == TW_READ_ALL)
			plan->read[parity] = facts.hull;
		plan->xor_sectors = (facts.hull.end - facts.hull.from) *
				    (plan->method == TW_READ_MODIFY ? 2 * facts.dirty + 1 : columns);
	}
	tw_count_operations(array, plan);
}
