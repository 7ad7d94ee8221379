// SPDX-License-Identifier: GPL-2.0-or-later

/* Many sources of blktrace records, or one stream, in order of time. */

#include "import/import.h"

#include <errno.h>
#include <stdlib.h>

/* An event that is read and not returned yet. */
struct blktrace_waiting {
	uint64_t time_ns;
	uint64_t order;	/* of events at the same time, the lowest is first */
	uint32_t slot;	/* index of the event; also its source, when each source has one event */
};

static bool before(const struct blktrace_waiting *a, const struct blktrace_waiting *b)
{
	return a->time_ns < b->time_ns ||
	       (a->time_ns == b->time_ns && a->order < b->order);
}

static void sift_up(struct blktrace_waiting *heap, size_t at)
{
	struct blktrace_waiting moved = heap[at];

	while (at && before(&moved, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = moved;
}

static void sift_down(struct blktrace_waiting *heap, size_t nr)
{
	struct blktrace_waiting moved = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* Read one event into a slot. Return: 1; 0 if its source has ended; -errno. */
static int read_slot(struct blktrace_merge *m, uint32_t slot,
		     struct blktrace_waiting *ret)
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
	*ret = (struct blktrace_waiting){ event->time_ns, m->order++, slot };
	return 1;
}

int blktrace_merge_open(struct blktrace_merge *m, size_t window)
{
	int err;

	m->window = m->nr == 1 ? window : m->nr;
	m->events = calloc(m->window, sizeof(*m->events));
	m->waiting = calloc(m->window, sizeof(*m->waiting));
	if (!m->events || !m->waiting)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < m->window; slot++) {
		err = read_slot(m, slot, &m->waiting[m->nr_waiting]);
		if (err < 0)
			return err;
		if (err)
			sift_up(m->waiting, m->nr_waiting++);
		else if (m->nr == 1)
			break;
	}
	return 0;
}

int blktrace_merge_next(struct blktrace_merge *m, struct blktrace_event *event)
{
	int err;

	if (!m->nr_waiting)
		return 0;
	*event = m->events[m->waiting[0].slot];
	err = read_slot(m, m->waiting[0].slot, &m->waiting[0]);
	if (err < 0)
		return err;
	if (!err)
		m->waiting[0] = m->waiting[--m->nr_waiting];
	sift_down(m->waiting, m->nr_waiting);
	if (event->time_ns < m->last_ns)
		m->late++;
	else
		m->last_ns = event->time_ns;
	return 1;
}

void blktrace_merge_close(struct blktrace_merge *m)
{
	free(m->events);
	free(m->waiting);
	m->events = NULL;
	m->waiting = NULL;
}
