// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Recordings: do the numbers agree with each other?
 *
 * Computed from what the file holds each time it is read: what its recorder
 * wrote about that is a word, which stays "hold" when a number is changed.
 */

#include "store/db.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/load.h"

#define INVARIANTS_TEXT	256
#define NEGATIVE(member, attribute, ...)	" OR " #member " < 0"

/* The disk of a number of the recording; NULL for none. */
static const struct rt_target *target_of(const struct recording *r, uint32_t number)
{
	for (size_t i = 0; i < r->nr_targets; i++)
		if (r->targets[i].id == number)
			return &r->targets[i];
	return NULL;
}

/* What is in flight is in a driver that has so many tags; 0: not known. */
static uint64_t tags_of(const struct recording *r, uint32_t number)
{
	const struct rt_target *target = target_of(r, number);

	return target ? (uint64_t)target->nr_tags * target->nr_hw_queues : 0;
}

/* The span of that disk that ends where one begins; NULL when it is the first. */
static const struct span *before(const struct recording *r,
				 const struct span *span)
{
	const struct span *found = NULL;

	for (size_t i = 0; i < r->nr_spans; i++)
		if (r->spans[i].counters.id == span->counters.id &&
		    r->spans[i].counters.now_ns == span->counters.since_ns &&
		    &r->spans[i] != span)
			found = &r->spans[i];
	return found;
}

static int is_negative(void *data, int nr, const char *const *values)
{
	(void)nr;
	snprintf(data, INVARIANTS_TEXT, "a counter of sample %s is negative",
		 values[0]);
	return 1;
}

/* A sum can hide it. */
static int find_negative(struct store *store, char *text)
{
	static const char *const queries[] = {
		"SELECT sample FROM flow WHERE in_flight < 0 OR in_flight_max < 0"
		RT_FLOW_COUNTERS(NEGATIVE) " LIMIT 1",
		"SELECT sample FROM sample WHERE end_ns < start_ns"
		RT_DISK_COUNTERS(NEGATIVE) " LIMIT 1",
		"SELECT sample FROM origin WHERE 0"
		RT_ORIGIN_COUNTERS(NEGATIVE) " LIMIT 1",
		"SELECT sample FROM submitter WHERE 0"
		RT_SUBMITTER_COUNTERS(NEGATIVE) " LIMIT 1",
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]) && !err; i++)
		err = store_each_row(store, queries[i], is_negative, text);
	return err < 0 ? err : 0;
}

/**
 * struct uncounted - reads and writes of one disk that ended and were not counted as issued
 * @recording: loaded but for its meta
 * @text: a sentence, when they are too many
 * @disk: the disk then
 */
struct uncounted {
	const struct recording *recording;
	char *text;
	const char *disk;
};

/* Columns: target, reads and writes without an issue, those of the first second, all that ended. */
static int is_uncounted(void *data, int nr, const char *const *values)
{
	struct uncounted *u = data;
	uint32_t number = (uint32_t)strtoul(values[0], NULL, 10);
	const struct rt_target *target = target_of(u->recording, number);
	uint64_t uncounted = strtoull(values[1], NULL, 10);
	uint64_t begun_before = strtoull(values[2], NULL, 10);
	const char *in_flight = recording_setting(u->recording, number, "in_flight_at_attach",
						  UINT64_MAX);
	uint64_t tags = tags_of(u->recording, number);

	(void)nr;
	if (in_flight)
		begun_before = strtoull(in_flight, NULL, 10);
	else if (tags && begun_before > tags)
		begun_before = tags;
	if (uncounted <= begun_before)
		return 0;
	snprintf(u->text, INVARIANTS_TEXT,
		 "the issue of %llu of %s reads and writes was not counted (at most %llu were in flight when counting began): rates and requests in flight are too low",
		 (unsigned long long)uncounted, values[3], (unsigned long long)begun_before);
	u->disk = target ? target->disk : NULL;
	return 1;
}

/* A recorder before 1.1 did not note how many were in flight: those ended in its first second. */
static int find_uncounted(struct store *store, struct uncounted *u)
{
	static const char query[] =
		"SELECT target, SUM(unmatched), SUM(CASE WHEN start_ns < first + 1000000000"
		" THEN unmatched ELSE 0 END), SUM(completed + unmatched)"
		" FROM sample JOIN flow USING (sample)"
		" JOIN (SELECT target, MIN(start_ns) AS first FROM sample GROUP BY target) USING (target)"
		" WHERE direction IN ('read', 'write') GROUP BY target HAVING SUM(unmatched) > 0";
	int err = store_each_row(store, query, is_uncounted, u);

	return err < 0 ? err : 0;
}

/*
 * What was in flight where a recording begins is not in it: what its end and
 * its counters say, which must be possible.
 */
static bool possible_before(const struct rt_counters *c, uint64_t tags,
			    uint32_t *ret, char *text)
{
	uint64_t sum = 0;

	memset(ret, 0, RT_DIRECTIONS * sizeof(*ret));
	if (c->unknown & (RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) |
			  RT_COUNTER_BIT(IN_FLIGHT)))
		return true;
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL; d++) {
		const struct rt_flow *flow = &c->flow[d];
		uint64_t out = flow->completed + flow->requeued +
			       flow->abandoned + flow->in_flight;

		if (out < flow->issued) {
			snprintf(text, INVARIANTS_TEXT,
				 "%s: %llu requests were issued, and %llu ended or are in flight",
				 rt_direction_name(d),
				 (unsigned long long)flow->issued,
				 (unsigned long long)out);
			return false;
		}
		ret[d] = (uint32_t)(out - flow->issued);
		sum += out - flow->issued;
	}
	ret[RAIDTRACE_DIRECTION_ALL] = (uint32_t)sum;
	if (!tags || sum <= tags)
		return true;
	snprintf(text, INVARIANTS_TEXT,
		 "%llu more requests ended than were issued, and the disk has %llu tags",
		 (unsigned long long)sum, (unsigned long long)tags);
	return false;
}

static bool span_holds(const struct recording *r, const struct span *span,
		       char *text)
{
	const struct rt_counters *c = &span->counters;
	uint64_t tags = tags_of(r, c->id);
	const struct span *last = before(r, span);
	uint32_t in_flight[RT_DIRECTIONS];

	if (!last && !possible_before(c, tags, in_flight, text))
		return false;
	for (unsigned int d = 0; last && d < RT_DIRECTIONS; d++)
		in_flight[d] = last->counters.flow[d].in_flight;
	if (!rt_counters_check(c, in_flight, text, INVARIANTS_TEXT))
		return false;
	if (!tags || c->unknown & RT_COUNTER_BIT(IN_FLIGHT) ||
	    c->flow[RAIDTRACE_DIRECTION_ALL].in_flight <= tags)
		return true;
	snprintf(text, INVARIANTS_TEXT,
		 "%lu requests are in flight, and the disk has %llu tags",
		 (unsigned long)c->flow[RAIDTRACE_DIRECTION_ALL].in_flight,
		 (unsigned long long)tags);
	return false;
}

int store_invariants(struct store *store, const struct recording *r, char **ret)
{
	char text[INVARIANTS_TEXT] = "";
	const char *name = NULL;
	struct uncounted uncounted = { .recording = r, .text = text };
	int err = find_negative(store, text);

	*ret = NULL;
	if (err)
		return err;
	for (size_t i = 0; i < r->nr_spans && !text[0]; i++)
		if (!span_holds(r, &r->spans[i], text))
			name = r->spans[i].disk;
	if (!text[0]) {
		err = find_uncounted(store, &uncounted);
		name = uncounted.disk;
	}
	if (err)
		return err;
	if (!text[0])
		*ret = strdup("hold");
	else if (asprintf(ret, "%s%s%s", name ? name : "", name ? ": " : "",
			  text) < 0)
		*ret = NULL;
	return *ret ? 0 : -ENOMEM;
}
