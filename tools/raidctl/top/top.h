/* SPDX-License-Identifier: GPL-2.0-or-later */

/* raidctl top: rows, keys, texts and the screen. */

#ifndef TOP_TOP_H
#define TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numbers/numbers.h"
#include "raidtrace.h"
#include "report/losses.h"

/* model.c: a row for each target, with the values of one interval; pure */

enum top_state {
	TOP_FRESH,	/* no interval yet: counting just began or was reset */
	TOP_COUNTED,	/* the values are those of the last interval */
	TOP_GONE,	/* the disk is gone */
	TOP_DETACHED,	/* the target does not exist any more */
};

/* Values of a row. Rows can be sorted by each. */
enum top_column {
	TOP_DISK,		/* name; no value */
	TOP_BUSY,		/* share of the time with requests in flight, from 0 to 1 */
	TOP_READ_RATE,		/* completed bytes per second */
	TOP_WRITE_RATE,
	TOP_READ_DEPTH,		/* mean number of requests in flight */
	TOP_WRITE_DEPTH,
	TOP_SIZE,		/* most frequent size of a read or write, bytes */
	TOP_SEQUENTIAL,		/* share of reads and writes that are sequential, from 0 to 1 */
	TOP_SEEKS,		/* seeks per second */
	TOP_LATENCY,		/* upper bound of the bin of the 99th percentile of D2C, ns */
	TOP_MERGES,		/* bios and requests merged into another, per second */
	TOP_SPLITS,		/* per second */
	TOP_READAHEAD,		/* sectors */
	TOP_COLUMNS,
};

/* One direction, or both together, in one interval. Means and shares are NAN if they are not known. */
struct top_flow {
	struct direction_stats stats;	/* for both together, the depth is not known */
	uint64_t merges;
	uint64_t splits;
	double stream;		/* share of requests that continue a stream */
	double ahead;		/* share of bios that read ahead */
	double i2d_ns;		/* mean from insert to issue */
	double q2c_ns;		/* mean from queue to completion */
};

/* One target. */
struct top_row {
	struct rt_target target;	/* as it was attached */
	enum top_state state;
	struct rt_counters last;	/* snapshot at the end of the interval */
	uint32_t resets;		/* resets of the target until then */
	double seconds;			/* length of the interval, 0 unless TOP_COUNTED */
	uint64_t unknown;		/* RT_COUNTER_BIT() of each counter that this disk or kernel lacks */
	struct top_flow read;
	struct top_flow write;
	struct top_flow both;
	struct time_states states;
	bool classes;			/* @seeks are known */
	uint64_t seeks[RT_CLASSES];
	uint64_t errors;		/* failed requests since attach or reset */
	uint64_t readahead_sectors;
	struct losses losses;		/* since attach */
};

struct top {
	size_t nr;
	struct top_row *rows;		/* in the order of the screen */
	enum top_column sort;
	uint32_t picked;		/* target id of the picked row, 0 without rows */
	uint64_t unavailable;		/* RT_COUNTER_BIT() of each counter that this kernel lacks */
};

/*
 * Add a row for each new target, and mark targets that do not exist any more. A detached row is dropped when its disk
 * is attached again. Return: 0 or -ENOMEM.
 */
int top_targets(struct top *top, const struct rt_target *targets, size_t nr);

/*
 * Take the span that rt_counters_advance() returned for row->last. There is no interval after the first snapshot, and
 * after a reset. Return: 0 or -ENOMEM.
 */
int top_row_count(struct top_row *row, const struct rt_counters *span);

/* Start again after an answer that does not continue the last snapshot. */
void top_row_restart(struct top_row *row);

/* Return: the value of a column other than TOP_DISK, NAN if it is not known. */
double top_value(const struct top_row *row, enum top_column column);
const char *top_column_name(enum top_column column);

/* Sort: highest value first, unknown ones last, then by name. */
void top_sort(struct top *top);

/* Get the row that keys apply to: the picked one, or the first. NULL: there are no rows. */
struct top_row *top_picked(const struct top *top);

/* Pick the row @step below, as far as there are rows. */
void top_pick(struct top *top, int step);

/* Requests of a full bar: the highest depth of any disk, rounded up to a power of two, at least 8. */
uint64_t top_full_depth(const struct top *top);
void top_free(struct top *top);

/* keys.c: the effect of keys; pure */

/* Keys that are not characters. */
#define TOP_KEY_UP		0x110000
#define TOP_KEY_DOWN		0x110001
#define TOP_KEY_ENTER		0x110002
#define TOP_KEY_BACKSPACE	0x110003
#define TOP_KEY_ESCAPE		0x110004

/* Limits of the interval. */
#define TOP_SHORTEST_NS		((uint64_t)50000000)
#define TOP_LONGEST_NS		((uint64_t)60000000000)

/* Meaning of the next key. */
enum top_mode {
	TOP_WATCH,	/* a command */
	TOP_HELP,	/* ends the help */
	TOP_VALUE,	/* part of the new readahead */
	TOP_CONFIRM,	/* confirms or cancels the write */
};

/* The action of the caller after a key. */
enum top_action {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_MAY_WRITE,	/* check if readahead may be changed, then call top_keys_edit() */
	TOP_WRITE,	/* write keys->kib */
};

struct top_keys {
	enum top_mode mode;
	bool frozen;		/* the screen does not change */
	uint64_t interval_ns;
	char digits[10];	/* digits typed so far */
	struct rt_target disk;	/* disk of the new readahead, even if another row is picked meanwhile */
	uint64_t kib;		/* the value, in TOP_CONFIRM and with TOP_WRITE */
	char message[160];	/* last line of the screen, "" for none */
};

/* Handle a character or TOP_KEY_*. */
enum top_action top_key(struct top_keys *keys, struct top *top, int key);

/* Start the dialogue for the readahead of a row. */
void top_keys_edit(struct top_keys *keys, const struct top_row *row);

/* Set the message. */
void top_keys_message(struct top_keys *keys, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Get the last line of the screen, "" for none. */
void top_keys_prompt(const struct top_keys *keys, char *ret, size_t size);

/* Write "128 KiB (256 sectors)". */
char *top_readahead_text(char *ret, size_t size, uint64_t kib);

/* text.c: values as text, "n/a" if they are not known; pure */

/* Room for the text of a cell, and of a depth. */
#define TOP_TEXT	RANGE_TEXT

/* Lines of the details of a row. */
#define TOP_DETAILS	8

/* Write a mean depth, with > if it is a lower bound. */
void top_depth_text(char *ret, const struct direction_stats *stats,
		    double mean);

/* Write a value of the list, except TOP_DISK. */
void top_cell_text(char *ret, const struct top_row *row,
		   enum top_column column);

/* Write "####---.." for mean and maximum in @width characters; "" if @mean is NAN. */
void top_bar_text(char *ret, int width, double mean, uint64_t most,
		  uint64_t full);

/* Write the shares of time as "##===-..." in @width characters; "" if they are not known. */
void top_states_bar(char *ret, int width, const struct time_states *states);

/* Write the shares of time in words. */
void top_states_text(char *ret, size_t size, const struct time_states *states);

/* The reason why a row has no values; NULL if it has. */
const char *top_state_text(const struct top_row *row);

/* Write a line of the details of a row that is TOP_COUNTED. @line is below TOP_DETAILS. */
void top_detail_text(char *ret, size_t size, const struct top_row *row,
		     bool reads, int line);
const char *top_detail_label(int line);

/* Write the losses of all disks, "" if nothing was lost. */
void top_losses_text(char *ret, size_t size, const struct top *top);

/* Write the classes of the seeks, "" if they are not known. */
void top_classes_text(char *ret, size_t size, const struct top_row *row);

/* A line of the help, NULL after the last. */
const char *top_help_line(int line);

/* view.c: the screen and its events; the only file that uses ncurses */

struct top_picture {
	const struct top *top;
	const struct top_keys *keys;
	const char *source;	/* name of the source of the counters */
	const char *simulated;	/* profile of the simulated controller, "" for none */
};

/* Initialize the terminal. Return: an exit status; a failure is printed. */
int top_view_begin(void);

/* Restore the terminal. */
void top_view_end(void);
void top_view_draw(const struct top_picture *picture);

/* Read a key for top_key(). Return: 0 if none was pressed. */
int top_view_key(void);

/* The first event: a key, the end of the program, or else the end of the time or a new size of the terminal. */
enum top_event {
	TOP_EVENT_NONE,
	TOP_EVENT_KEYS,
	TOP_EVENT_END,
};

/* Receive signals as events. Return: a descriptor; -1 after a message. */
int top_events_open(void);

/* Wait for an event for at most @left_ms; -1 is no limit. */
enum top_event top_events_wait(int signals, int left_ms);

/* Milliseconds from now to a time of CLOCK_MONOTONIC, rounded up. */
int top_events_left(uint64_t end_ns);

#endif
