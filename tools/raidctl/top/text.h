/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The values of raidctl top as text; pure. */

#ifndef TOP_TEXT_H
#define TOP_TEXT_H

#include "top/model.h"

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

/* top_classes_text - whose seeks they were, "" when it is not known */
void top_classes_text(char *ret, size_t size, const struct top_row *row);

/* top_detail_label - what such a line tells */
const char *top_detail_label(int line);

/* top_help_line - a line of the help, NULL behind the last */
const char *top_help_line(int line);

#endif
