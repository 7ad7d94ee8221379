/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What raidctl top shows: a row per target, values of one interval; pure. */

#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers/stats.h"
#include "raidtrace.h"

/**
 * enum top_state - what is known of a row
 * @TOP_FRESH: no interval yet, because counting just began or was reset
 * @TOP_COUNTED: the values are those of the last interval
 * @TOP_GONE: the disk was removed
 * @TOP_DETACHED: there is no such target any more
 */
enum top_state {
	TOP_FRESH,
	TOP_COUNTED,
	TOP_GONE,
	TOP_DETACHED,
};

/**
 * enum top_column - values of a row; what can be sorted by
 * @TOP_DISK: its name, no value
 * @TOP_READ_RATE: bytes read per second, as completed
 * @TOP_WRITE_RATE: bytes written per second, as completed
 * @TOP_READ_DEPTH: mean number of reads in flight
 * @TOP_WRITE_DEPTH: mean number of writes in flight
 * @TOP_SIZE: most frequent size of a read or write, bytes
 * @TOP_SEQUENTIAL: reads and writes that began where the request before
 *	ended, 0 .. 1
 * @TOP_SEEKS: reads and writes per second that did not
 * @TOP_LATENCY: 99th percentile of D2C of reads and writes, the end of the
 *	bin it lies in, nanoseconds
 * @TOP_MERGES: bios and requests merged into another per second
 * @TOP_SPLITS: bios split per second
 * @TOP_READAHEAD: sectors
 * @TOP_COLUMNS: how many there are
 */
enum top_column {
	TOP_DISK,
	TOP_READ_RATE,
	TOP_WRITE_RATE,
	TOP_READ_DEPTH,
	TOP_WRITE_DEPTH,
	TOP_SIZE,
	TOP_SEQUENTIAL,
	TOP_SEEKS,
	TOP_LATENCY,
	TOP_MERGES,
	TOP_SPLITS,
	TOP_READAHEAD,
	TOP_COLUMNS,
};

/**
 * struct top_flow - one direction, or both together, in one interval
 * @stats: the numbers of one span; depth is not known of both together
 * @merges: bios merged at back and front, and requests merged
 * @splits: bios split
 * @stream: requests that continue a stream, NAN when it is not counted
 * @ahead: bios that read ahead, likewise
 * @i2d_ns: mean time from insert to issue, likewise, and when there was none
 * @q2c_ns: mean time from queue to completion, likewise
 */
struct top_flow {
	struct direction_stats stats;
	uint64_t merges;
	uint64_t splits;
	double stream;
	double ahead;
	double i2d_ns;
	double q2c_ns;
};

/**
 * struct top_row - one target
 * @target: as it was attached
 * @state: what is known
 * @last: snapshot that the interval ends with
 * @resets: how often the target had been reset where the interval ends
 * @seconds: length of the interval, 0 unless TOP_COUNTED
 * @unknown: RT_COUNTER_BIT() of what this disk or kernel does not count
 * @read: reads
 * @write: writes
 * @both: reads and writes
 * @classes: seeks of each class in the interval are known
 * @seeks: that many, by enum raidtrace_class
 * @errors: requests that failed since attach or reset
 * @readahead_sectors: at the end of the interval
 */
struct top_row {
	struct rt_target target;
	enum top_state state;
	struct rt_counters last;
	uint32_t resets;
	double seconds;
	uint64_t unknown;
	struct top_flow read;
	struct top_flow write;
	struct top_flow both;
	bool classes;
	uint64_t seeks[RT_CLASSES];
	uint64_t errors;
	uint64_t readahead_sectors;
};

/**
 * struct top - all rows
 * @nr: how many
 * @rows: in the order in which they are shown
 * @sort: column they are sorted by
 * @picked: target id of the picked row, 0 when there is no row
 * @unavailable: RT_COUNTER_BIT() of what this kernel does not count
 */
struct top {
	size_t nr;
	struct top_row *rows;
	enum top_column sort;
	uint32_t picked;
	uint64_t unavailable;
};

/**
 * top_targets - add a row for each new target, mark those that are no more
 * @top: the rows
 * @targets: all there are now
 * @nr: how many
 *
 * A detached row is dropped when its disk is attached again.
 *
 * Return: 0 or -ENOMEM.
 */
int top_targets(struct top *top, const struct rt_target *targets, size_t nr);

/**
 * top_row_count - what happened since the snapshot before
 * @row: the row; its last has become the later snapshot
 * @span: what happened until then, as rt_counters_advance() tells it
 *
 * The first snapshot, and one of a target that was reset meanwhile, has no interval.
 *
 * Return: 0 or -ENOMEM.
 */
int top_row_count(struct top_row *row, const struct rt_counters *span);

/**
 * top_row_restart - begin anew after an answer that the last snapshot cannot have led to
 * @row: the row
 */
void top_row_restart(struct top_row *row);

/**
 * top_value - a value of a row
 * @row: the row
 * @column: not TOP_DISK
 *
 * Return: the value, NAN when it is not known.
 */
double top_value(const struct top_row *row, enum top_column column);

/* top_column_name - for people */
const char *top_column_name(enum top_column column);

/* top_sort - highest value first, unknown ones last, then by name */
void top_sort(struct top *top);

/**
 * top_picked - the row that keys mean
 * @top: the rows
 *
 * Return: the row, the first when none is picked, NULL when there is none.
 */
struct top_row *top_picked(const struct top *top);

/* top_pick - the row @step below the picked one, or as far as there are rows */
void top_pick(struct top *top, int step);

/**
 * top_full_depth - number of requests that a full bar stands for
 * @top: the rows
 *
 * Return: the highest depth of the interval on any disk, rounded up to a
 * power of two, 8 at least.
 */
uint64_t top_full_depth(const struct top *top);

/* top_free - give back all rows */
void top_free(struct top *top);

#endif
