// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording, an interval at a time: what raidctl top shows of it. */

#include "top/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/sections.h"

static int take_sample(void *data, int columns, const char *const *values)
{
	struct replay *replay = data;
	struct replay_sample *more = replay->samples;

	(void)columns;
	/* Room is doubled. */
	if (!(replay->nr & (replay->nr - 1)))
		more = reallocarray(replay->samples, replay->nr ? 2 * replay->nr : 1,
				    sizeof(*more));
	if (!more)
		return -ENOMEM;
	replay->samples = more;
	more[replay->nr++] = (struct replay_sample){
		.sample = strtoll(values[0], NULL, 10),
		.target = (uint32_t)strtoul(values[1], NULL, 10),
		.phase = (uint32_t)strtoul(values[2], NULL, 10),
		.start_ns = strtoull(values[3], NULL, 10),
		.end_ns = strtoull(values[4], NULL, 10),
		.errors = strtoull(values[5], NULL, 10),
	};
	return 0;
}

/* Errors of a sample become those until then. */
static void add_errors(struct replay *replay)
{
	for (size_t t = 0; t < replay->recording.nr_targets; t++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < replay->nr; i++)
			if (replay->samples[i].target == replay->recording.targets[t].id)
				replay->samples[i].errors = sum += replay->samples[i].errors;
	}
}

/* Spans are in order of phases; those around them in which nothing happened are left out. */
static int find_phases(struct replay *replay)
{
	const struct recording *r = &replay->recording;

	replay->phases = calloc(r->nr_spans + 1, sizeof(*replay->phases));
	if (!replay->phases)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_spans; i++) {
		const struct span *span = &r->spans[i];
		struct replay_phase *last = &replay->phases[replay->nr_phases];

		if (!strcmp(span->phase, PHASE_OUTSIDE) && span_is_idle(&span->counters))
			continue;
		if (replay->nr_phases && last[-1].number == span->number) {
			last--;
		} else {
			*last = (struct replay_phase){ span->number, span->phase,
						       span->counters.since_ns, 0 };
			replay->nr_phases++;
		}
		if (span->counters.since_ns < last->start_ns)
			last->start_ns = span->counters.since_ns;
		if (span->counters.now_ns > last->end_ns)
			last->end_ns = span->counters.now_ns;
	}
	return replay->nr_phases ? 0 : -ENODATA;
}

int replay_begin(struct store *store, const char *path, struct top *top,
		 uint64_t interval_ns, struct replay *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	ret->store = store;
	err = recording_load(store, NULL, &ret->recording);
	ret->recording.path = path;
	if (!err)
		err = store_each_row(store,
				     "SELECT sample,target,phase,start_ns,end_ns,"
				     "coalesce((SELECT sum(errors) FROM flow"
				     " WHERE flow.sample=sample.sample), 0)"
				     " FROM sample ORDER BY sample",
				     take_sample, ret);
	if (!err)
		err = find_phases(ret);
	if (!err)
		err = top_targets(top, ret->recording.targets,
				  ret->recording.nr_targets);
	if (err)
		return err;
	add_errors(ret);
	return replay_go(ret, top, TOP_FIRST, interval_ns);
}

void replay_end(struct replay *replay)
{
	free(replay->samples);
	free(replay->phases);
	recording_free(&replay->recording);
	memset(replay, 0, sizeof(*replay));
}

static uint64_t middle(const struct replay_sample *sample)
{
	return sample->start_ns + (sample->end_ns - sample->start_ns) / 2;
}

/*
 * Samples whose middle is in an interval are in it: those of several disks
 * are taken one after the other.  It holds one at least.
 */
static void set_window(struct replay *replay, uint64_t from_ns,
		       uint64_t interval_ns)
{
	const struct replay_phase *phase = &replay->phases[replay->phase];
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < replay->nr; i++) {
		const struct replay_sample *sample = &replay->samples[i];

		if (sample->phase != phase->number || middle(sample) < from_ns)
			continue;
		if (sample->end_ns < first)
			first = sample->end_ns;
		if (middle(sample) > last)
			last = middle(sample);
	}
	replay->from_ns = from_ns;
	replay->to_ns = from_ns + interval_ns;
	if (first != UINT64_MAX && first > replay->to_ns)
		replay->to_ns = first;
	if (last < replay->to_ns || replay->to_ns > phase->end_ns)
		replay->to_ns = phase->end_ns;
}

/* The interval that ends where the phase does. */
static void last_of(struct replay *replay, uint64_t interval_ns)
{
	const struct replay_phase *phase = &replay->phases[replay->phase];
	uint64_t length = phase->end_ns - phase->start_ns;
	uint64_t from = phase->start_ns;

	if (length > interval_ns)
		from += (length - 1) / interval_ns * interval_ns;
	/* Nothing may begin behind the last sample. */
	for (size_t i = replay->nr; i-- > 0;)
		if (replay->samples[i].phase == phase->number) {
			if (middle(&replay->samples[i]) < from)
				from = replay->samples[i].start_ns;
			break;
		}
	set_window(replay, from, interval_ns);
}

static void move(struct replay *replay, enum top_action where,
		 uint64_t interval_ns)
{
	const struct replay_phase *phase = &replay->phases[replay->phase];
	bool begins = replay->from_ns <= phase->start_ns;

	switch (where) {
	case TOP_BACK:
		if (!begins) {
			set_window(replay,
				   replay->from_ns - phase->start_ns > interval_ns ?
					   replay->from_ns - interval_ns :
					   phase->start_ns, interval_ns);
		} else if (replay->phase) {
			replay->phase--;
			last_of(replay, interval_ns);
		}
		return;
	case TOP_ON:
		if (replay->to_ns < phase->end_ns) {
			set_window(replay, replay->to_ns, interval_ns);
			return;
		}
		/* fall through */
	case TOP_PHASE_ON:
		if (replay->phase + 1 < replay->nr_phases)
			set_window(replay, replay->phases[++replay->phase].start_ns,
				   interval_ns);
		return;
	case TOP_PHASE_BACK:
		if (begins && replay->phase)
			replay->phase--;
		set_window(replay, replay->phases[replay->phase].start_ns,
			   interval_ns);
		return;
	case TOP_FIRST:
		replay->phase = 0;
		set_window(replay, replay->phases[0].start_ns, interval_ns);
		return;
	case TOP_LAST:
		replay->phase = replay->nr_phases - 1;
		last_of(replay, interval_ns);
		return;
	default:
		set_window(replay, replay->from_ns, interval_ns);
	}
}

static int fill_row(const struct replay *replay, struct top_row *row)
{
	struct store_part part = { .phase = replay->phases[replay->phase].number,
				   .target = row->target.id, .first = INT64_MAX };
	struct rt_counters span = { 0 };
	const char *readahead;
	uint64_t errors = 0;
	int err = 0;

	for (size_t i = 0; i < replay->nr; i++) {
		const struct replay_sample *sample = &replay->samples[i];

		if (sample->target != part.target || sample->phase != part.phase ||
		    middle(sample) < replay->from_ns ||
		    middle(sample) >= replay->to_ns)
			continue;
		if (sample->sample < part.first)
			part.first = sample->sample;
		part.last = sample->sample;
		errors = sample->errors;
	}
	if (part.first == INT64_MAX) {
		row->state = TOP_FRESH;
		return 0;
	}
	err = store_sum_part(replay->store, &part, &span);
	if (err)
		return err;
	readahead = recording_setting(&replay->recording, part.target,
				      "readahead_sectors", span.now_ns);
	row->last.readahead_sectors = readahead ? strtoull(readahead, NULL, 10) : 0;
	/* Where counting began before the first nanosecond there is no interval. */
	span.since_ns += !span.since_ns;
	err = top_row_count(row, &span);
	row->unknown = span.unknown;
	row->errors = errors;
	rt_counters_free(&span);
	return err;
}

int replay_go(struct replay *replay, struct top *top, enum top_action where,
	      uint64_t interval_ns)
{
	int err = 0;

	move(replay, where, interval_ns);
	for (size_t i = 0; i < top->nr && !err; i++)
		err = fill_row(replay, &top->rows[i]);
	top_sort(top);
	return err;
}

bool replay_at_end(const struct replay *replay)
{
	return replay->phase + 1 == replay->nr_phases &&
	       replay->to_ns >= replay->phases[replay->phase].end_ns;
}

void replay_when(const struct replay *replay, char *ret, size_t size)
{
	uint64_t begin = replay->phases[0].start_ns;

	snprintf(ret, size, "%.3f to %.3f of %.3f s  phase %.40s",
		 (double)(replay->from_ns - begin) / 1e9,
		 (double)(replay->to_ns - begin) / 1e9,
		 (double)(replay->phases[replay->nr_phases - 1].end_ns - begin) / 1e9,
		 replay->phases[replay->phase].name);
}
