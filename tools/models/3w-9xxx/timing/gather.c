// SPDX-License-Identifier: GPL-2.0-or-later
/* RAID 5 in the write-back cache: rows become operations of the drives. */
#include "timing.h"

static u64 tw_operate(struct tw_timing *timing, u32 number, const struct tw_dirty *dirty,
		      bool cached)
{
	struct tw_backlog *backlog = &timing->backlog[number];

	return cached ? tw_backlog_add(backlog, dirty) : tw_backlog_do_now(backlog, dirty);
}

static struct tw_dirty tw_span_dirty(const struct tw_timing *timing, const struct tw_row *row,
				     const struct tw_span *span, u64 now)
{
	struct tw_dirty dirty = { .ready_ns = now };

	dirty.lba = row->row * timing->array.stripe + span->from;
	dirty.sectors = (u16)(span->end - span->from);
	return dirty;
}

/* Reads on members that are not written. Return: when they are done. */
static u64 tw_issue_reads(struct tw_timing *timing, const struct tw_row *row,
			  const struct tw_plan *plan, u64 now, bool cached)
{
	u32 base = row->unit * timing->array.drives, i;
	u64 done = now;

	for (i = 0; i < timing->array.drives; i++) {
		struct tw_dirty dirty = tw_span_dirty(timing, row, &plan->read[i], now);

		if (!dirty.sectors || plan->write[i].from < plan->write[i].end)
			continue;
		dirty.read = true;
		done = rl_max(done, tw_operate(timing, base + i, &dirty, cached));
	}
	return done;
}

/* Cached writes do not wait for reads on other drives: those are a sweep away in either order. */
static u64 tw_issue_writes(struct tw_timing *timing, const struct tw_row *row,
			   const struct tw_plan *plan, u64 now, bool cached)
{
	u32 base = row->unit * timing->array.drives;
	u32 parity = tw_array_parity(&timing->array, row->row), i;
	u64 done = now;

	for (i = 0; i < timing->array.drives; i++) {
		struct tw_dirty dirty = tw_span_dirty(timing, row, &plan->write[i], now);

		if (!dirty.sectors)
			continue;
		dirty.turns = plan->read[i].from < plan->read[i].end;
		dirty.charged = i == parity ? 0 : dirty.sectors;
		done = rl_max(done, tw_operate(timing, base + i, &dirty, cached));
	}
	return done;
}

/* Sectors of a missing member are in no drive's backlog: they leave the cache with the parity. */
static u32 tw_uncharged(const struct tw_timing *timing, const struct tw_row *row, u32 missing)
{
	u32 i;

	for (i = 0; i < tw_array_data_drives(&timing->array); i++)
		if (tw_array_member(&timing->array, row->row, i) == missing)
			return row->end[i] - row->from[i];
	return 0;
}

/*
 * Read the data that a row's parity needs, ahead of the pending writes of the drives. Return: the
 * time when it is available.
 */
static u64 tw_read_first(struct tw_timing *timing, const struct tw_row *row, struct tw_plan *plan,
			 u64 now)
{
	u32 base = row->unit * timing->array.drives, i;
	u64 done = now;

	for (i = 0; i < timing->array.drives; i++) {
		struct tw_dirty dirty = tw_span_dirty(timing, row, &plan->read[i], now);

		if (!dirty.sectors)
			continue;
		dirty.read = true;
		done = rl_max(done, tw_backlog_do_now(&timing->backlog[base + i], &dirty));
		rl_fill(&plan->read[i], 0, sizeof(plan->read[i]));
	}
	return done;
}

/* @cached: later, as far as the host is concerned; else now. Return: when the host sees it done. */
static u64 tw_write_row(struct tw_timing *timing, u32 index, u64 now, bool cached)
{
	struct tw_row row = timing->row[index];
	u32 missing = tw_missing_at(&timing->health[row.unit], row.row * timing->array.stripe), i;
	const struct tw_controller_config *controller = &timing->config->controller;
	struct tw_plan plan;
	u64 done;

	timing->nr_rows--;
	for (i = index; i < timing->nr_rows; i++)
		timing->row[i] = timing->row[i + 1];
	tw_parity_plan(&timing->array, &row, missing, &plan);
	timing->nr_methods[plan.method]++;
	if (controller->parity_waits && cached)
		timing->free_ns = rl_max(timing->free_ns, tw_read_first(timing, &row, &plan, now));
	timing->free_ns = rl_max(timing->free_ns, now) +
			  rl_transfer_ns(plan.xor_sectors * (u64)RL_SECTOR_BYTES,
					 controller->parity_kib_s);
	timing->dirty_sectors -= cached ? tw_uncharged(timing, &row, missing) : row.charged;
	done = tw_issue_reads(timing, &row, &plan, now, cached);
	if (!cached) {
		now = rl_max(done, timing->free_ns);
		done = tw_issue_writes(timing, &row, &plan, now, false);
		/* No backlog takes off what it was charged with. */
		return rl_max(done, now);
	}
	return rl_max(done, tw_issue_writes(timing, &row, &plan, now, true));
}

/* With parity_waits=2 a row in parts is written to its end before the controller serves anything else. */
static u64 tw_destage(struct tw_timing *timing, u32 index, u64 now)
{
	const struct tw_controller_config *controller = &timing->config->controller;
	bool to_end = controller->parity_waits == TW_WAITS_FOR_ROW &&
		      !tw_row_is_full(&timing->array, &timing->row[index]);
	u64 done = tw_write_row(timing, index, now, controller->cache_mib && !to_end);

	if (to_end)
		timing->free_ns = rl_max(timing->free_ns, done);
	return done;
}

static u32 tw_find_row(const struct tw_timing *timing, u32 unit, u64 row)
{
	u32 i;

	for (i = timing->nr_rows; i--;)
		if (timing->row[i].row == row && timing->row[i].unit == unit)
			return i;
	return TW_ROWS;
}

static u32 tw_new_row(struct tw_timing *timing, u32 unit, u64 number)
{
	struct tw_row *row = &timing->row[timing->nr_rows];

	rl_fill(row, 0, sizeof(*row));
	row->row = number;
	row->unit = unit;
	return timing->nr_rows++;
}

/* The row's data column that a member is. */
static u32 tw_column(const struct tw_array *array, u64 row, u32 member)
{
	return (member + array->drives - tw_array_parity(array, row) - 1) % array->drives;
}

/* Return: false if the row cannot take it in. */
static bool tw_add(struct tw_timing *timing, u32 index, const struct tw_extent *extent, u64 now)
{
	struct tw_row *row = &timing->row[index];
	u32 column = tw_column(&timing->array, row->row, extent->drive), before = row->charged;
	u32 from = (u32)(extent->lba % timing->array.stripe);

	if (!tw_row_add(row, column, from, from + extent->sectors))
		return false;
	row->ready_ns = now;
	timing->dirty_sectors += row->charged - before;
	return true;
}

u64 tw_gather_write(struct tw_timing *timing, u32 unit, const struct tw_extent *extent, u64 now)
{
	u64 number = extent->lba / timing->array.stripe, cached = now;
	u32 index = tw_find_row(timing, unit, number);

	if (index == TW_ROWS || !tw_add(timing, index, extent, now)) {
		if (index < TW_ROWS)
			cached = tw_destage(timing, index, now);
		else if (timing->nr_rows >= timing->config->controller.gather_rows)
			cached = tw_gather_oldest(timing, now);
		index = tw_new_row(timing, unit, number);
		tw_add(timing, index, extent, now);
	}
	if (tw_row_is_full(&timing->array, &timing->row[index]))
		cached = rl_max(cached, tw_destage(timing, index, now));
	return cached;
}

void tw_gather_age(struct tw_timing *timing, u64 now)
{
	u64 age = timing->config->controller.gather_ms * 1000 * RL_NS_PER_US;
	u32 i = 0;

	while (i < timing->nr_rows) {
		if (timing->row[i].ready_ns + age < now)
			tw_destage(timing, i, timing->row[i].ready_ns + age);
		else
			i++;
	}
}

u64 tw_gather_oldest(struct tw_timing *timing, u64 now)
{
	return timing->nr_rows ? tw_destage(timing, 0, now) : now;
}

u64 tw_gather_close(struct tw_timing *timing, u64 now)
{
	u64 done = now;

	while (timing->nr_rows)
		done = rl_max(done, tw_write_row(timing, 0, now, false));
	return done;
}

u64 tw_gather_flush(struct tw_timing *timing, u32 unit, u64 now)
{
	u64 done = now;
	u32 i = 0;

	while (i < timing->nr_rows) {
		if (timing->row[i].unit == unit)
			done = rl_max(done, tw_destage(timing, i, now));
		else
			i++;
	}
	return done;
}
