/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What raidctl top waits for: keys, signals, time. */

#ifndef TOP_EVENTS_H
#define TOP_EVENTS_H

#include <stdint.h>

/* enum top_event - what came first; the time, another size of the terminal */
enum top_event {
	TOP_EVENT_NONE,
	TOP_EVENT_KEYS,
	TOP_EVENT_END,
};

/**
 * top_events_open - have signals come as events
 *
 * Return: a descriptor; -1, and why has been said.
 */
int top_events_open(void);

/**
 * top_events_screen - take the terminal; top_view_end() gives it back
 *
 * Return: an exit status; the failure has been said.
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

#endif
