/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The screen of raidctl top. */

#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "top/keys.h"
#include "top/model.h"

/**
 * struct top_picture - what is drawn
 * @top: the rows, sorted
 * @keys: where the dialogue stands
 * @simulated: profile of the simulated controller, "" when there is none
 * @when: where in a recording it is, NULL where it is live
 */
struct top_picture {
	const struct top *top;
	const struct top_keys *keys;
	const char *simulated;
	const char *when;
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

#endif
