// SPDX-License-Identifier: GPL-2.0-or-later

/* The counters of a disk that this process counts itself, in the form of a snapshot of the module. */

#include "counted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Which counters of a disk are known. */
struct known {
	uint32_t groups;
	bool bio_based;
	uint32_t unavailable;
};

static bool has(const struct known *known, uint32_t group, bool bios)
{
	return known->groups & group && (bios || !known->bio_based);
}

static bool is_known(const struct known *known, const struct raidtrace_counter *counter)
{
	return has(known, counter->group, counter->bios) && !(known->unavailable >> counter->event & 1);
}

/* The members of struct rt_flow and struct rt_disk, by attribute. */
struct member {
	size_t offset;
	uint64_t bit;	/* RT_COUNTER_BIT() or RT_DISK_BIT() */
};

static const struct member flow_members[RAIDTRACE_A_FLOW_MAX + 1] = {
#define X(member_, attribute, ...) \
	[RAIDTRACE_A_FLOW_##attribute] = { offsetof(struct rt_flow, member_), RT_COUNTER_BIT(attribute) },
	RT_FLOW_COUNTERS(X)
#undef X
};

static const struct member disk_members[RAIDTRACE_A_COUNTERS_MAX + 1] = {
#define X(member_, attribute, ...) \
	[RAIDTRACE_A_COUNTERS_##attribute] = { offsetof(struct rt_disk, member_), RT_DISK_BIT(attribute) },
	RT_DISK_COUNTERS(X)
#undef X
};

/* Copy the counters that are known. Return: the bits of those that are not. */
static uint64_t fill(const struct known *known, const struct raidtrace_counter *counters, size_t nr,
		     const struct member *members, const void *from, void *to)
{
	uint64_t unknown = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct member *member = &members[counters[i].attr];

		if (is_known(known, &counters[i]))
			memcpy((char *)to + member->offset, (const char *)from + counters[i].offset, sizeof(uint64_t));
		else
			unknown |= member->bit;
	}
	return unknown;
}

static void fill_flow(const struct raidtrace_account *account, const struct raidtrace_queue *queue,
		      const struct known *known, struct rt_counters *ret)
{
	static const unsigned int sets[] = {
		[RAIDTRACE_DEPTH_READ] = RAIDTRACE_DIRECTION_READ,
		[RAIDTRACE_DEPTH_WRITE] = RAIDTRACE_DIRECTION_WRITE,
		[RAIDTRACE_DEPTH_ALL] = RAIDTRACE_DIRECTION_ALL,
	};

	for (unsigned int d = 0; d < RAIDTRACE_DIRECTIONS; d++)
		ret->unknown = fill(known, raidtrace_flow_counters, RAIDTRACE_FLOW_COUNTERS, flow_members,
				    &account->flow[d], &ret->flow[d]);
	if (known->bio_based || !(known->groups & RAIDTRACE_GROUP_DEPTH))
		ret->unknown |= RT_COUNTER_BIT(DEPTH_SUM_NS);
	if (known->bio_based) {
		ret->unknown |= RT_COUNTER_BIT(IN_FLIGHT);
		return;
	}
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		ret->flow[d].in_flight = queue->in_flight[d];
		ret->flow[d].in_flight_max = queue->in_flight_max[d];
	}
	for (unsigned int set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		ret->flow[sets[set]].depth_sum_ns = account->depth_sum_ns[set];
}

static void fill_disk(const struct raidtrace_account *account, const struct raidtrace_engine *engine,
		      const struct known *known, struct rt_disk *ret)
{
	const struct raidtrace_streams *queued = &engine->arrival.streams, *streams = &engine->queue.position.streams;

	ret->unknown = RT_DISK_BIT(TAG_WAITS) |
		       (uint32_t)fill(known, raidtrace_disk_counters, RAIDTRACE_DISK_COUNTERS, disk_members,
				      &account->disk, ret);
	if (has(known, RAIDTRACE_GROUP_STREAM, true)) {
		ret->streams_alive_queued = raidtrace_streams_alive(queued, engine->queue.last_ns);
		ret->streams_forgotten_queued = queued->forgotten;
	} else {
		ret->unknown |= RT_DISK_BIT(STREAMS_ALIVE_QUEUED) | RT_DISK_BIT(STREAMS_FORGOTTEN_QUEUED);
	}
	if (has(known, RAIDTRACE_GROUP_STREAM, false)) {
		ret->streams_alive = raidtrace_streams_alive(streams, engine->queue.last_ns);
		ret->streams_forgotten = streams->forgotten;
	} else {
		ret->unknown |= RT_DISK_BIT(STREAMS_ALIVE) | RT_DISK_BIT(STREAMS_FORGOTTEN);
	}
}

/* Seeks to the requests of a class, from those of all classes. */
static void fill_origins(const struct raidtrace_account *account, struct rt_counters *ret)
{
	for (unsigned int c = 0; c < RT_CLASSES; c++) {
		struct rt_origin *origin = &ret->origin[c];

		origin->queued = account->origin[c].queued;
		origin->bytes_queued = account->origin[c].bytes_queued;
		origin->seeks_queued = account->origin[c].seeks_queued;
		origin->issued = account->origin[c].issued;
		origin->bytes_issued = account->origin[c].bytes_issued;
		for (unsigned int bin = c; bin < RAIDTRACE_BLAME_BINS; bin += RAIDTRACE_CLASSES) {
			origin->seeks += account->blame[bin];
			origin->seek_sectors += account->blame_distance[bin];
		}
	}
}

static int fill_submitters(const struct raidtrace_account *account, const struct raidtrace_submitters *submitters,
			   struct rt_counters *ret)
{
	static const struct raidtrace_submitted none;

	for (unsigned int i = 0; i < RAIDTRACE_SUBMITTER_ROWS; i++) {
		const struct raidtrace_submitted *from = &account->submitted[i];
		struct rt_submitter row = {
			.index = i, .rest = i == RAIDTRACE_SUBMITTER_REST, .queued = from->queued,
			.bytes_queued = from->bytes_queued, .seeks_queued = from->seeks_queued,
			.completed = from->completed, .d2c_sum_ns = from->d2c_sum_ns,
		};

		if (!memcmp(from, &none, sizeof(none)))
			continue;
		if (!row.rest) {
			const struct raidtrace_task *task = &submitters->task[i];

			row.pid = task->pid;
			row.cgroup = task->cgroup;
			memcpy(row.comm, task->comm, sizeof(row.comm));
			row.comm[sizeof(row.comm) - 1] = '\0';
		}
		if (rt_submitters_append(ret, &row))
			return -ENOMEM;
	}
	return 0;
}

static int fill_hwqs(const struct raidtrace_account *account, struct rt_counters *ret)
{
	static const struct raidtrace_hwq none;

	for (unsigned int i = 0; i < RAIDTRACE_HWQ_ROWS; i++) {
		const struct raidtrace_hwq *from = &account->hwq[i];
		struct rt_hwq *to;

		if (!memcmp(from, &none, sizeof(none)))
			continue;
		if (rt_hwqs_make_room(ret))
			return -ENOMEM;
		to = &ret->hwq[i];
#define X(member, attribute, ...) to->member = from->member;
		RT_HWQ_COUNTERS(X)
#undef X
		to->in_flight = (uint32_t)(from->issued + from->carried - rt_hwq_completed(to) - from->returned);
		to->in_flight_max = (uint32_t)(from->carried + from->depth_rises);
		ret->nr_hwqs = i + 1;
	}
	return 0;
}

static int fill_histogram(const struct raidtrace_account *account, unsigned int kind, unsigned int direction,
			  struct rt_histogram *ret)
{
	const uint64_t *bins = raidtrace_account_bins(account, kind, direction);
	struct rt_histogram view = rt_histogram_view(bins, bins ? raidtrace_hist_bins(kind) : 0);

	return rt_histogram_add(ret, &view);
}

int rt_account_counters(const struct raidtrace_account *account, const struct raidtrace_engine *engine,
			uint32_t unavailable, struct rt_counters *ret)
{
	const struct known known = { engine->queue.groups, !engine->requests, unavailable };
	int err = 0;

	ret->since_ns = engine->queue.since_ns;
	ret->now_ns = engine->queue.last_ns;
	ret->groups = known.groups & (2 * RAIDTRACE_GROUP_HWQ - 1);
	fill_flow(account, &engine->queue, &known, ret);
	fill_disk(account, engine, &known, &ret->disk);
	if (has(&known, RAIDTRACE_GROUP_ORIGIN, true))
		fill_origins(account, ret);
	if (has(&known, RAIDTRACE_GROUP_SUBMITTER, true))
		err = fill_submitters(account, &engine->submitters, ret);
	if (!err && has(&known, RAIDTRACE_GROUP_HWQ, false))
		err = fill_hwqs(account, ret);
	for (unsigned int k = 0; k < RT_KINDS; k++) {
		const struct raidtrace_histogram *kind = &raidtrace_histograms[k];

		if (!has(&known, kind->group, kind->bios))
			continue;
		for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
			err = fill_histogram(account, k, d, &ret->histogram[d][k]);
	}
	return err;
}
