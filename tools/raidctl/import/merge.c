// SPDX-License-Identifier: GPL-2.0-or-later

/* Many sources of blktrace records, or one stream, in the order of time. */

#include "import/merge.h"

#include <errno.h>
#include <stdlib.h>

/**
 * struct blktrace_held - an event that waits for its turn
 * @time_ns: of the event
 * @order: of events of one time the one of the lowest goes first
 * @slot: its index in the events; also the source that the next one to take
 *	its place is read from, when each source has one
 */
struct blktrace_held {
	uint64_t time_ns;
	uint64_t order;
	uint32_t slot;
};

static bool before(const struct blktrace_held *a, const struct blktrace_held *b)
{
	return a->time_ns < b->time_ns ||
	       (a->time_ns == b->time_ns && a->order < b->order);
}

static void sift_up(struct blktrace_held *heap, size_t at)
{
	struct blktrace_held held = heap[at];

	while (at && before(&held, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = held;
}

static void sift_down(struct blktrace_held *heap, size_t nr)
{
	struct blktrace_held held = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &held))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = held;
}

/* Read one event into a slot; 1, 0 when its source has no more, or -errno. */
static int read_slot(struct blktrace_merge *m, uint32_t slot,
		     struct blktrace_held *held)
{
	size_t source = m->nr == 1 ? 0 : slot;
	struct blktrace_event *event = &m->events[slot];
	struct blktrace_note note;
	int err;

	m->failed = source;
	while ((err = blktrace_next(&m->readers[source], event, &note)) > 0 &&
	       event->what == BLKTRACE_NOTE) {
		m->notes++;
		err = m->note ? m->note(m->data, event, &note) : 0;
		if (err)
			return err;
	}
	if (err <= 0)
		return err;
	*held = (struct blktrace_held){ event->time_ns, m->order++, slot };
	return 1;
}

int blktrace_merge_open(struct blktrace_merge *m, size_t window)
{
	int err;

	m->window = m->nr == 1 ? window : m->nr;
	m->events = calloc(m->window, sizeof(*m->events));
	m->held = calloc(m->window, sizeof(*m->held));
	if (!m->events || !m->held)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < m->window; slot++) {
		err = read_slot(m, slot, &m->held[m->nr_held]);
		if (err < 0)
			return err;
		if (err)
			sift_up(m->held, m->nr_held++);
		else if (m->nr == 1)
			break;
	}
	return 0;
}

int blktrace_merge_next(struct blktrace_merge *m, struct blktrace_event *event)
{
	int err;

	if (!m->nr_held)
		return 0;
	*event = m->events[m->held[0].slot];
	err = read_slot(m, m->held[0].slot, &m->held[0]);
	if (err < 0)
		return err;
	if (!err)
		m->held[0] = m->held[--m->nr_held];
	sift_down(m->held, m->nr_held);
	if (event->time_ns < m->last_ns)
		m->late++;
	else
		m->last_ns = event->time_ns;
	return 1;
}

void blktrace_merge_close(struct blktrace_merge *m)
{
	free(m->events);
	free(m->held);
	m->events = NULL;
	m->held = NULL;
}
