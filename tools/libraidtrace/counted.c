// SPDX-License-Identifier: GPL-2.0-or-later

/* The counters of a disk that this process counts itself, in the form of a snapshot of the module. */

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* The group of each counter, and whether bio-based disks have it; as kmod/netlink-counters.c. */
#define FLOW_GROUPS(COUNTER)						\
	COUNTER(queued, QUEUED, FLOW, true)				\
	COUNTER(bytes_queued, BYTES_QUEUED, FLOW, true)			\
	COUNTER(ahead_queued, AHEAD_QUEUED, READAHEAD, true)		\
	COUNTER(bytes_ahead_queued, BYTES_AHEAD_QUEUED, READAHEAD, true) \
	COUNTER(sequential_queued, SEQUENTIAL_QUEUED, SEEK, true)	\
	COUNTER(seek_queued_forward_sectors, SEEK_QUEUED_FORWARD_SECTORS, SEEK, true) \
	COUNTER(seek_queued_backward_sectors, SEEK_QUEUED_BACKWARD_SECTORS, SEEK, true) \
	COUNTER(stream_queued, STREAM_QUEUED, STREAM, true)		\
	COUNTER(refused, REFUSED, FLOW, true)				\
	COUNTER(q2c_sum_ns, Q2C_SUM_NS, LATENCY, true)			\
	COUNTER(q2c_unknown, Q2C_UNKNOWN, LATENCY, false)		\
	COUNTER(issued, ISSUED, FLOW, false)				\
	COUNTER(reissued, REISSUED, FLOW, false)			\
	COUNTER(bytes_issued, BYTES_ISSUED, FLOW, false)		\
	COUNTER(sequential, SEQUENTIAL, SEEK, false)			\
	COUNTER(seek_forward_sectors, SEEK_FORWARD_SECTORS, SEEK, false) \
	COUNTER(seek_backward_sectors, SEEK_BACKWARD_SECTORS, SEEK, false) \
	COUNTER(stream, STREAM, STREAM, false)				\
	COUNTER(i2d_sum_ns, I2D_SUM_NS, LATENCY, false)			\
	COUNTER(requeued, REQUEUED, FLOW, false)			\
	COUNTER(requeued_unissued, REQUEUED_UNISSUED, FLOW, false)	\
	COUNTER(completed, COMPLETED, FLOW, false)			\
	COUNTER(bytes_completed, BYTES_COMPLETED, FLOW, false)		\
	COUNTER(d2c_sum_ns, D2C_SUM_NS, FLOW, false)			\
	COUNTER(partial, PARTIAL, FLOW, false)				\
	COUNTER(errors, ERRORS, FLOW, false)				\
	COUNTER(unmatched, UNMATCHED, FLOW, false)			\
	COUNTER(unissued, UNISSUED, FLOW, false)			\
	COUNTER(abandoned, ABANDONED, FLOW, false)			\
	COUNTER(back_merges, BACK_MERGES, FLOW, false)			\
	COUNTER(front_merges, FRONT_MERGES, FLOW, false)		\
	COUNTER(request_merges, REQUEST_MERGES, FLOW, false)		\
	COUNTER(splits, SPLITS, FLOW, true)				\
	COUNTER(inserted, INSERTED, FLOW, false)

static bool has(const struct rt_account_state *state, uint32_t group, bool bios)
{
	return state->queue->groups & group && (bios || !state->bio_based);
}

static uint64_t unknown_flow(const struct rt_account_state *state)
{
	uint64_t all = RT_COUNTER_BIT(IN_FLIGHT), known = state->bio_based ? 0 : RT_COUNTER_BIT(IN_FLIGHT);

#define X(member, attribute, ...) all |= RT_COUNTER_BIT(attribute);
	RT_FLOW_COUNTERS(X)
#undef X
#define COUNTER(member, attribute, group, bios) \
	known |= has(state, RAIDTRACE_GROUP_##group, bios) ? RT_COUNTER_BIT(attribute) : 0;
	FLOW_GROUPS(COUNTER)
	COUNTER(depth_sum_ns, DEPTH_SUM_NS, DEPTH, false)
#undef COUNTER
	return all & ~known;
}

static void fill_flow(const struct raidtrace_account *account, const struct rt_account_state *state,
		      struct rt_counters *ret)
{
	static const unsigned int sets[] = {
		[RAIDTRACE_DEPTH_READ] = RAIDTRACE_DIRECTION_READ,
		[RAIDTRACE_DEPTH_WRITE] = RAIDTRACE_DIRECTION_WRITE,
		[RAIDTRACE_DEPTH_ALL] = RAIDTRACE_DIRECTION_ALL,
	};

	for (unsigned int d = 0; d < RAIDTRACE_DIRECTIONS; d++) {
		const struct raidtrace_flow *from = &account->flow[d];

#define COUNTER(member, attribute, group, bios) \
		ret->flow[d].member = has(state, RAIDTRACE_GROUP_##group, bios) ? from->member : 0;
		FLOW_GROUPS(COUNTER)
#undef COUNTER
	}
	ret->unknown = unknown_flow(state);
	if (state->bio_based)
		return;
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		ret->flow[d].in_flight = state->queue->in_flight[d];
		ret->flow[d].in_flight_max = state->queue->in_flight_max[d];
	}
	for (unsigned int set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		ret->flow[sets[set]].depth_sum_ns = account->depth_sum_ns[set];
}

static void fill_disk(const struct raidtrace_account *account, const struct rt_account_state *state,
		      struct rt_disk *ret)
{
	const struct raidtrace_streams *streams = &state->queue->position.streams;

	ret->unknown = RT_DISK_BIT(TAG_WAITS);
	if (has(state, RAIDTRACE_GROUP_PLUG, true)) {
		ret->plugs = account->disk.plugs;
		ret->unplugs_explicit = account->disk.unplugs_explicit;
		ret->unplugs_schedule = account->disk.unplugs_schedule;
	} else {
		ret->unknown |= RT_DISK_BIT(PLUGS) | RT_DISK_BIT(UNPLUGS_EXPLICIT) | RT_DISK_BIT(UNPLUGS_SCHEDULE);
	}
	if (has(state, RAIDTRACE_GROUP_READAHEAD, true) && state->has_windows) {
		ret->ra_sync_sectors = account->disk.ra_sync_sectors;
		ret->ra_async_sectors = account->disk.ra_async_sectors;
	} else {
		ret->unknown |= RT_DISK_BIT(RA_SYNC_SECTORS) | RT_DISK_BIT(RA_ASYNC_SECTORS);
	}
	if (has(state, RAIDTRACE_GROUP_STREAM, true)) {
		ret->streams_alive_queued = state->streams_alive_queued;
		ret->streams_forgotten_queued = state->streams_forgotten_queued;
	} else {
		ret->unknown |= RT_DISK_BIT(STREAMS_ALIVE_QUEUED) | RT_DISK_BIT(STREAMS_FORGOTTEN_QUEUED);
	}
	if (has(state, RAIDTRACE_GROUP_STREAM, false)) {
		ret->streams_alive = raidtrace_streams_alive(streams, state->queue->last_ns);
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

static int fill_submitters(const struct raidtrace_account *account, const struct rt_account_state *state,
			   struct rt_counters *ret)
{
	for (unsigned int i = 0; i < RAIDTRACE_SUBMITTER_ROWS; i++) {
		const struct raidtrace_submitted *from = &account->submitted[i];
		struct rt_submitter row = {
			.index = i, .rest = i == RAIDTRACE_SUBMITTER_REST, .queued = from->queued,
			.bytes_queued = from->bytes_queued, .seeks_queued = from->seeks_queued,
		};

		if (!from->queued && !from->bytes_queued && !from->seeks_queued)
			continue;
		if (!row.rest) {
			const struct raidtrace_task *task = &state->submitters->task[i];

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

int rt_account_counters(const struct raidtrace_account *account, const struct rt_account_state *state,
			struct rt_counters *ret)
{
	int err = 0;

	ret->since_ns = state->queue->since_ns;
	ret->now_ns = state->queue->last_ns;
	ret->groups = state->queue->groups & (2 * RAIDTRACE_GROUP_HWQ - 1);
	fill_flow(account, state, ret);
	fill_disk(account, state, &ret->disk);
	if (has(state, RAIDTRACE_GROUP_ORIGIN, true))
		fill_origins(account, ret);
	if (has(state, RAIDTRACE_GROUP_SUBMITTER, true))
		err = fill_submitters(account, state, ret);
	if (!err && has(state, RAIDTRACE_GROUP_HWQ, false))
		err = fill_hwqs(account, ret);
	for (unsigned int k = 0; k < RT_KINDS; k++) {
		const struct raidtrace_histogram *kind = &raidtrace_histograms[k];

		if (!has(state, kind->group, kind->bios))
			continue;
		for (unsigned int d = 0; d < RT_DIRECTIONS && !err; d++)
			err = fill_histogram(account, k, d, &ret->histogram[d][k]);
	}
	return err;
}
