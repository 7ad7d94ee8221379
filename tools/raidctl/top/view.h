/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The screen of raidctl top. */

#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include <stdint.h>

#include "top/keys.h"
#include "top/model.h"

/**
 * struct top_picture - what is drawn
 * @top: the rows, sorted
 * @keys: where the dialogue stands
 * @simulated: profile of the simulated controller, "" when there is none
 */
struct top_picture {
	const struct top *top;
	const struct top_keys *keys;
	const char *simulated;
};

/**
 * top_view_begin - take the terminal
 *
 * Return: 0; -1 when nothing is known of a terminal of this kind.
 */
int top_view_begin(void);

/* top_view_end - give the terminal back as it was */
void top_view_end(void);

/* top_view_resize - the terminal has another size now */
void top_view_resize(void);
void top_view_draw(const struct top_picture *picture);

/* top_view_key - a key as top_key() takes it, 0 when none was pressed */
int top_view_key(void);

/* What raidctl top waits for: keys, signals, time. */

/* enum top_event - what came first; the time, another size of the terminal */
enum top_event {
	TOP_EVENT_NONE,
	TOP_EVENT_KEYS,
	TOP_EVENT_END,
};

/**
 * top_events_open - have signals come as events
 *
 * Return: a descriptor; -1 after a message with the reason.
 */
int top_events_open(void);

/**
 * top_events_screen - take the terminal; top_view_end() gives it back
 *
 * Return: an exit status; the failure has been reported.
 */
int top_events_screen(void);

/**
 * top_events_wait - until something comes
 * @signals: of top_events_open()
 * @left_ms: at most so long, -1 for ever
 */
enum top_event top_events_wait(int signals, int left_ms);

/* top_events_left - milliseconds from now to a time of CLOCK_MONOTONIC, rounded up */
int top_events_left(uint64_t end_ns);

/* The values of raidctl top as text; pure. */

/* Room for the texts of cells. */
#define TOP_TEXT	48

/* Lines of the details of a row. */
#define TOP_DETAILS	8

/*
 * Each of these writes to @ret, which has room for TOP_TEXT bytes; what is
 * not known is "n/a".
 *
 * top_depth_text  a mean depth, with > when it is a lower bound
 * top_cell_text   a value of the list; not TOP_DISK
 */
void top_depth_text(char *ret, const struct direction_stats *stats,
		    double mean);
void top_cell_text(char *ret, const struct top_row *row,
		   enum top_column column);

/**
 * top_bar_text - "####---.." of mean and maximum
 * @ret: has room for @width + 1 bytes
 * @width: characters of the bar
 * @mean: NAN makes an empty text
 * @most: maximum
 * @full: what a full bar stands for
 */
void top_bar_text(char *ret, int width, double mean, uint64_t most,
		  uint64_t full);

/* top_state_text - why a row has no values, NULL when it has */
const char *top_state_text(const struct top_row *row);

/**
 * top_detail_text - a line of the details of a row
 * @ret: the text
 * @size: of @ret
 * @row: TOP_COUNTED
 * @reads: of reads, else of writes
 * @line: below TOP_DETAILS; top_detail_label() says what it is
 */
void top_detail_text(char *ret, size_t size, const struct top_row *row,
		     bool reads, int line);

/* top_classes_text - classes of the seeks, "" if they are not known */
void top_classes_text(char *ret, size_t size, const struct top_row *row);

/* top_detail_label - what such a line tells */
const char *top_detail_label(int line);

/* top_help_line - a line of the help, NULL behind the last */
const char *top_help_line(int line);

#endif
