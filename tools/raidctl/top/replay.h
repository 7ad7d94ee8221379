/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording, an interval at a time: what raidctl top shows of it.
 *
 * An interval is made of whole samples of one phase: it ends with the phase,
 * and holds one sample at least.
 */

#ifndef TOP_REPLAY_H
#define TOP_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "store/load.h"
#include "top/keys.h"
#include "top/model.h"

/**
 * struct replay_sample - a row of the table sample
 * @sample: its number
 * @target: the disk
 * @phase: number of the phase
 * @start_ns: where it begins
 * @end_ns: where it ends
 * @errors: requests of that disk that failed until then
 */
struct replay_sample {
	int64_t sample;
	uint32_t target;
	uint32_t phase;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t errors;
};

/**
 * struct replay_phase - a phase of which there are samples
 * @number: in the recording
 * @name: of the recording
 * @start_ns: where its first sample begins
 * @end_ns: where its last sample ends
 */
struct replay_phase {
	uint32_t number;
	const char *name;
	uint64_t start_ns;
	uint64_t end_ns;
};

/**
 * struct replay - a recording, and where in it
 * @store: open, its owner's
 * @recording: loaded
 * @nr: length of @samples
 * @samples: in order of their numbers
 * @nr_phases: length of @phases
 * @phases: in order of time
 * @phase: index of the phase that the interval is in
 * @from_ns: where the interval begins
 * @to_ns: where it ends
 */
struct replay {
	struct store *store;
	struct recording recording;
	size_t nr;
	struct replay_sample *samples;
	size_t nr_phases;
	struct replay_phase *phases;
	size_t phase;
	uint64_t from_ns;
	uint64_t to_ns;
};

/**
 * replay_begin - read what is needed, and stand at the begin
 * @store: open, to be closed by the caller after replay_end()
 * @path: its file, for people
 * @top: gets the rows
 * @interval_ns: how long the first interval is
 * @ret: to be given to replay_end(), also after a failure
 *
 * Return: 0; -ENODATA when it has no sample; -errno, store_error() has words.
 */
int replay_begin(struct store *store, const char *path, struct top *top,
		 uint64_t interval_ns, struct replay *ret);
void replay_end(struct replay *replay);

/**
 * replay_go - to another interval, and fill the rows
 * @replay: where it is
 * @top: the rows
 * @where: TOP_BACK and those behind it; TOP_NOTHING fills the rows anew, of an
 *	interval of another length
 * @interval_ns: how long it is
 *
 * Return: 0 or -errno, store_error() has words.
 */
int replay_go(struct replay *replay, struct top *top, enum top_action where,
	      uint64_t interval_ns);

/* replay_at_end - whether nothing comes behind the interval */
bool replay_at_end(const struct replay *replay);

/* replay_when - "12.300 to 13.300 of 60.000 s, phase read" */
void replay_when(const struct replay *replay, char *ret, size_t size);

#endif
