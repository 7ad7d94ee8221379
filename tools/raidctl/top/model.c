// SPDX-License-Identifier: GPL-2.0-or-later

/* The rows of raidctl top: one for each target, with the values of one interval. */

#include "top/top.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "numbers/numbers.h"

#define READ	RAIDTRACE_DIRECTION_READ
#define WRITE	RAIDTRACE_DIRECTION_WRITE

/* A disk without requests has only bios and splits. */
#define BIO_BASED_UNKNOWN	(~(RT_COUNTER_BIT(QUEUED) |		\
				   RT_COUNTER_BIT(BYTES_QUEUED) |	\
				   RT_COUNTER_BIT(SPLITS)))
#define MERGES	(RT_COUNTER_BIT(BACK_MERGES) | RT_COUNTER_BIT(FRONT_MERGES) | \
		 RT_COUNTER_BIT(REQUEST_MERGES))

static struct top_row *find(const struct top *top, uint32_t id)
{
	for (size_t i = 0; i < top->nr; i++)
		if (top->rows[i].target.id == id)
			return &top->rows[i];
	return NULL;
}

static void drop(struct top *top, size_t at)
{
	rt_counters_free(&top->rows[at].last);
	top->nr--;
	memmove(&top->rows[at], &top->rows[at + 1],
		(top->nr - at) * sizeof(*top->rows));
}

static int add(struct top *top, const struct rt_target *target)
{
	struct top_row *more;
	uint32_t replaced = 0;

	for (size_t i = top->nr; i-- > 0;) {
		if (top->rows[i].state != TOP_DETACHED ||
		    strcmp(top->rows[i].target.disk, target->disk))
			continue;
		replaced = top->rows[i].target.id;
		drop(top, i);
	}
	more = reallocarray(top->rows, top->nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	top->rows = more;
	more[top->nr++] = (struct top_row){
		.target = *target,
		.state = target->gone ? TOP_GONE : TOP_FRESH,
		.unknown = top->unavailable |
			   (target->bio_based ? BIO_BASED_UNKNOWN : 0),
		.readahead_sectors = target->readahead_sectors,
	};
	if (!top->picked || top->picked == replaced)
		top->picked = target->id;
	return 0;
}

int top_targets(struct top *top, const struct rt_target *targets, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < top->nr; i++) {
		bool there = false;

		for (size_t j = 0; j < nr; j++)
			there |= targets[j].id == top->rows[i].target.id;
		if (!there)
			top->rows[i].state = TOP_DETACHED;
	}
	for (size_t i = 0; i < nr && !err; i++)
		if (!find(top, targets[i].id))
			err = add(top, &targets[i]);
	return err;
}

/* The sum of times divided by their number, NAN unless both are known. */
static double mean_ns(const struct rt_counters *c, unsigned int direction,
		      unsigned int kind, uint64_t sum_ns)
{
	uint64_t nr = rt_histogram_sum(&c->histogram[direction][kind]);

	return nr && counts_kind(c, kind) ? (double)sum_ns / (double)nr : NAN;
}

static double if_known(const struct rt_counters *c, uint64_t bit, uint64_t count)
{
	return c->unknown & bit ? NAN : (double)count;
}

static void flow_of(const struct rt_counters *c, bool bio_based, unsigned int direction,
		    struct top_flow *ret)
{
	const struct rt_flow *flow = &c->flow[direction];

	stats_of(c, bio_based, direction, &ret->stats);
	ret->merges = flow->back_merges + flow->front_merges +
		      flow->request_merges;
	ret->splits = flow->splits;
	ret->stream = if_known(c, RT_COUNTER_BIT(STREAM), flow->stream);
	ret->ahead = if_known(c, RT_COUNTER_BIT(AHEAD_QUEUED),
			      flow->ahead_queued);
	ret->i2d_ns = mean_ns(c, direction, RAIDTRACE_HISTOGRAM_KIND_I2D,
			      flow->i2d_sum_ns);
	ret->q2c_ns = mean_ns(c, direction, RAIDTRACE_HISTOGRAM_KIND_Q2C,
			      flow->q2c_sum_ns);
}

static int add_histogram(struct rt_histogram *sum,
			 const struct rt_histogram *histogram)
{
	int err = 0;

	for (unsigned int i = 0; i < histogram->nr_bins && !err; i++)
		err = rt_histogram_count(sum, histogram->first_bin + i,
					 histogram->counts[i]);
	return err;
}

/* Add up reads and writes; their depths cannot be added. */
static int count_both(const struct rt_counters *c, bool bio_based, struct top_flow *ret)
{
	static const unsigned int kinds[] = {
		RAIDTRACE_HISTOGRAM_KIND_SIZE, RAIDTRACE_HISTOGRAM_KIND_SEEK,
		RAIDTRACE_HISTOGRAM_KIND_D2C,
	};
	struct rt_counters sum = { .since_ns = c->since_ns,
				   .now_ns = c->now_ns };
	int err = 0;

#define X(member, attribute, ...) \
	sum.flow[READ].member = c->flow[READ].member + c->flow[WRITE].member;
	RT_FLOW_COUNTERS(X)
#undef X
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct rt_histogram *to = &sum.histogram[READ][kinds[i]];

		if (!err)
			err = add_histogram(to, &c->histogram[READ][kinds[i]]);
		if (!err)
			err = add_histogram(to, &c->histogram[WRITE][kinds[i]]);
	}
	if (!err)
		flow_of(&sum, bio_based, READ, ret);
	rt_counters_free(&sum);
	return err;
}

/* Compute the values of the row, if it has an interval. */
static int count_interval(struct top_row *row, const struct rt_counters *span)
{
	bool was_reset = row->resets != row->last.resets;
	int err;

	row->state = TOP_FRESH;
	row->seconds = 0;
	row->resets = row->last.resets;
	/* There is no previous snapshot, or one of other counters. */
	if (!span->since_ns || was_reset || span->now_ns <= span->since_ns)
		return 0;
	err = count_both(span, row->target.bio_based, &row->both);
	if (err)
		return err;
	flow_of(span, row->target.bio_based, READ, &row->read);
	flow_of(span, row->target.bio_based, WRITE, &row->write);
	states_of(span, row->target.bio_based, &row->states);
	row->classes = span->groups & RAIDTRACE_GROUP_ORIGIN;
	for (unsigned int i = 0; i < RT_CLASSES; i++)
		row->seeks[i] = span->origin[i].seeks;
	row->seconds = (double)(span->now_ns - span->since_ns) /
		       (double)NS_PER_S;
	row->state = TOP_COUNTED;
	return 0;
}

int top_row_count(struct top_row *row, const struct rt_counters *span)
{
	int err = count_interval(row, span);

	row->errors = 0;
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++)
		row->errors += row->last.flow[d].errors;
	if (row->last.gone)
		row->state = TOP_GONE;
	else
		row->readahead_sectors = row->last.readahead_sectors;
	return err;
}

void top_row_restart(struct top_row *row)
{
	rt_counters_free(&row->last);
	row->resets = 0;
	row->state = TOP_FRESH;
}

static double depth(const struct direction_stats *stats)
{
	return stats->depth_known ? stats->depth_mean : NAN;
}

static double per_second(const struct top_row *row, uint64_t count)
{
	return row->seconds > 0 ? (double)count / row->seconds : NAN;
}

/* The counters of a column. */
static uint64_t required_counters(const struct top_row *row, enum top_column column)
{
	switch (column) {
	case TOP_READ_RATE:
	case TOP_WRITE_RATE:
		return rate_counter(row->target.bio_based);
	case TOP_READ_DEPTH:
	case TOP_WRITE_DEPTH:
		return RT_COUNTER_BIT(IN_FLIGHT);
	case TOP_SIZE:
		return RT_COUNTER_BIT(ISSUED);
	case TOP_SEQUENTIAL:
	case TOP_SEEKS:
		return RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(SEQUENTIAL);
	case TOP_LATENCY:
		return RT_COUNTER_BIT(COMPLETED);
	case TOP_MERGES:
		return MERGES;
	case TOP_SPLITS:
		return RT_COUNTER_BIT(SPLITS);
	default:
		return 0;
	}
}

/* The value, if its counters are known. */
static double value(const struct top_row *row, enum top_column column)
{
	const struct direction_stats *both = &row->both.stats;

	switch (column) {
	case TOP_BUSY:
		return row->states.known ? row->states.served + row->states.backlog : NAN;
	case TOP_READ_RATE:
		return row->read.stats.bytes_per_s;
	case TOP_WRITE_RATE:
		return row->write.stats.bytes_per_s;
	case TOP_READ_DEPTH:
		return depth(&row->read.stats);
	case TOP_WRITE_DEPTH:
		return depth(&row->write.stats);
	case TOP_SIZE:
		return both->size_mode.known ?
		       (double)both->size_mode.low * SECTOR_BYTES : NAN;
	case TOP_SEQUENTIAL:
		return both->requests ? (double)both->sequential /
					(double)both->requests : NAN;
	case TOP_SEEKS:
		return per_second(row, both->seeks);
	case TOP_LATENCY:
		if (!both->d2c_p99.known)
			return NAN;
		return both->d2c_p99.high == INT64_MAX ?
		       (double)both->d2c_p99.low : (double)both->d2c_p99.high;
	case TOP_MERGES:
		return per_second(row, row->both.merges);
	case TOP_SPLITS:
		return per_second(row, row->both.splits);
	default:
		return NAN;
	}
}

double top_value(const struct top_row *row, enum top_column column)
{
	if (row->state == TOP_GONE || row->state == TOP_DETACHED)
		return NAN;
	if (column == TOP_READAHEAD)
		return (double)row->readahead_sectors;
	if (row->state != TOP_COUNTED || (row->unknown & required_counters(row, column)))
		return NAN;
	return value(row, column);
}

const char *top_column_name(enum top_column column)
{
	static const char *const names[TOP_COLUMNS] = {
		[TOP_DISK] = "disk",
		[TOP_BUSY] = "busy",
		[TOP_READ_RATE] = "MiB/s read",
		[TOP_WRITE_RATE] = "MiB/s written",
		[TOP_READ_DEPTH] = "reads in flight",
		[TOP_WRITE_DEPTH] = "writes in flight",
		[TOP_SIZE] = "request size",
		[TOP_SEQUENTIAL] = "sequential",
		[TOP_SEEKS] = "seeks/s",
		[TOP_LATENCY] = "D2C p99",
		[TOP_MERGES] = "merges/s",
		[TOP_SPLITS] = "splits/s",
		[TOP_READAHEAD] = "readahead",
	};

	return names[column];
}

static int compare(const void *left, const void *right, void *data)
{
	const struct top_row *a = left, *b = right;
	enum top_column column = *(const enum top_column *)data;
	double x = column == TOP_DISK ? 0 : top_value(a, column);
	double y = column == TOP_DISK ? 0 : top_value(b, column);
	int names = strverscmp(a->target.disk, b->target.disk);

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (!isnan(x) && x != y)
		return x < y ? 1 : -1;
	/* Two targets with one name: the disk was removed and a new one was added. */
	return names ? names : a->target.id < b->target.id ? -1 : 1;
}

void top_sort(struct top *top)
{
	if (top->nr)
		qsort_r(top->rows, top->nr, sizeof(*top->rows), compare,
			&top->sort);
}

struct top_row *top_picked(const struct top *top)
{
	struct top_row *row = find(top, top->picked);

	return row || !top->nr ? row : &top->rows[0];
}

void top_pick(struct top *top, int step)
{
	struct top_row *row = top_picked(top);
	long at;

	if (!row)
		return;
	at = row - top->rows + step;
	if (at < 0)
		at = 0;
	if (at >= (long)top->nr)
		at = (long)top->nr - 1;
	top->picked = top->rows[at].target.id;
}

uint64_t top_full_depth(const struct top *top)
{
	uint64_t full = 8;

	for (size_t i = 0; i < top->nr; i++) {
		const struct top_row *row = &top->rows[i];

		if (row->state != TOP_COUNTED)
			continue;
		while (full < row->read.stats.depth_max ||
		       full < row->write.stats.depth_max)
			full *= 2;
	}
	return full;
}

void top_free(struct top *top)
{
	for (size_t i = 0; i < top->nr; i++)
		rt_counters_free(&top->rows[i].last);
	free(top->rows);
	memset(top, 0, sizeof(*top));
}
