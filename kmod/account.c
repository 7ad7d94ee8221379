// SPDX-License-Identifier: GPL-2.0-only
/* State and sums of accounts. account-events.h has each event, inline. */
#include "account.h"
#include "account-events.h"

static enum raidtrace_direction set_direction(enum raidtrace_depth_set set)
{
	if (set == RAIDTRACE_DEPTH_READ)
		return RAIDTRACE_DIRECTION_READ;
	if (set == RAIDTRACE_DEPTH_WRITE)
		return RAIDTRACE_DIRECTION_WRITE;
	return RAIDTRACE_DIRECTION_ALL;
}

/* Begin without a previous end, with this number of streams. */
void raidtrace_position_start(struct raidtrace_position *position, unsigned int streams)
{
	position->placed = false;
	raidtrace_streams_start(&position->streams, streams);
}

/* Begin with nothing in flight at @now_ns, CLOCK_MONOTONIC; @state is all zero. */
void raidtrace_queue_start(struct raidtrace_queue *state, u32 groups, unsigned int streams,
			   u64 now_ns)
{
	enum raidtrace_depth_set set;

	for (set = 0; set < RAIDTRACE_DEPTH_SETS; set++)
		state->changed_ns[set] = now_ns;
	state->last_ns = now_ns;
	state->since_ns = now_ns;
	state->groups = groups;
	raidtrace_position_start(&state->position, streams);
}

/* Count the time spent at the present depths up to now. */
void raidtrace_queue_advance(struct raidtrace_queue *state, struct raidtrace_account *account,
			     u64 now_ns)
{
	enum raidtrace_depth_set set;

	raidtrace_queue_time(state, now_ns);
	for (set = 0; state->groups & RAIDTRACE_GROUP_DEPTH && set < RAIDTRACE_DEPTH_SETS; set++)
		account_time(state, account, set, state->in_flight[set_direction(set)],
			     state->last_ns);
}

/* Reset, right after an advance. Requests in flight stay known. */
void raidtrace_queue_reset(struct raidtrace_queue *state)
{
	unsigned int i;

	state->since_ns = state->last_ns;
	raidtrace_position_start(&state->position, state->position.streams.nr);
	for (i = 0; i <= RAIDTRACE_DIRECTIONS; i++)
		state->in_flight_max[i] = state->in_flight[i];
	for (i = 0; i < RAIDTRACE_DIRECTIONS; i++)
		state->carried[i] = state->in_flight[i];
}

/* Count an event without state. @amount: requests of an unplug, sectors of a window. */
void raidtrace_count_event(struct raidtrace_account *account, enum raidtrace_direction direction,
			   enum raidtrace_event_counter counter, u32 amount)
{
	if (counter < RAIDTRACE_QUEUE_COUNTERS) {
		account->flow[direction].events[counter]++;
		return;
	}
	switch (counter) {
	case RAIDTRACE_RA_SYNC_SECTORS:
	case RAIDTRACE_RA_ASYNC_SECTORS:
		account->disk.events[counter - RAIDTRACE_QUEUE_COUNTERS] += amount;
		account->window[counter - RAIDTRACE_RA_SYNC_SECTORS][raidtrace_size_bin(amount)]++;
		return;
	case RAIDTRACE_UNPLUGS_EXPLICIT:
	case RAIDTRACE_UNPLUGS_SCHEDULE:
		account->unplug[raidtrace_depth_bin(amount)]++;
		break;
	default:
		break;
	}
	account->disk.events[counter - RAIDTRACE_QUEUE_COUNTERS]++;
}

/* Move the counters of a row that gets another process to the row of the rest. */
void raidtrace_account_release(struct raidtrace_account *account, unsigned int row)
{
	struct raidtrace_submitted *from = &account->submitted[row];
	struct raidtrace_submitted *rest = &account->submitted[RAIDTRACE_SUBMITTER_REST];

	rest->queued += from->queued;
	rest->bytes_queued += from->bytes_queued;
	rest->seeks_queued += from->seeks_queued;
	rest->completed += from->completed;
	rest->d2c_sum_ns += from->d2c_sum_ns;
	*from = (struct raidtrace_submitted){};
}

/* Move @nr counters of a lot, from the counter @at on. */
static void move_lot(u64 *to, u64 *from, unsigned int at, unsigned int nr,
		     struct raidtrace_changes *changes, u64 now)
{
	unsigned int i;

	for (i = at; i < at + nr; i++) {
		if (to)
			to[i] += from[i];
		from[i] = 0;
	}
	if (changes)
		raidtrace_changes_note(changes, at, now);
}

static bool is_zero(const u64 *lot)
{
	return !(lot[0] | lot[1] | lot[2] | lot[3] | lot[4] | lot[5] | lot[6] | lot[7]);
}

/* Move the counters from @at to @end. Most lots are zero. @at is the first counter of a lot. */
static void move_range(u64 *to, u64 *from, unsigned int at, unsigned int end,
		       struct raidtrace_changes *changes, u64 now)
{
	const u64 *lot = from + at, *whole = from + (end - end % RAIDTRACE_LOT);

	for (; lot < whole; lot += RAIDTRACE_LOT) {
		if (!is_zero(lot))
			move_lot(to, from, lot - from, RAIDTRACE_LOT, changes, now);
	}
	for (at = whole - from; at < end; at++) {
		if (from[at])
			move_lot(to, from, at, 1, changes, now);
	}
}

/*
 * Histograms without an event are skipped. Each event in a row of these changes the counter of the
 * row, or it has the value 0 and is in the first bin.
 */
#define SKIP(member, rows_, counter_, step_) \
	{ .first = offsetof(struct raidtrace_account, member) / sizeof(u64), \
	  .bins = sizeof(((struct raidtrace_account *)NULL)->member[0]) / sizeof(u64), \
	  .rows = rows_, .step = step_, \
	  .counter = offsetof(struct raidtrace_account, counter_) / sizeof(u64) }
#define SKIP_FLOW(member, rows, counter) \
	SKIP(member, rows, flow[0].counter, RAIDTRACE_FLOW_COUNTERS)

#define SKIPPED	10

/* In the order of an account; @counter is that of row 0, the next one is @step counters behind. */
static const struct {
	unsigned int first;
	unsigned int bins;
	unsigned int rows;
	unsigned int step;
	unsigned int counter;
} skipped[SKIPPED] = {
	SKIP_FLOW(size, RAIDTRACE_DIRECTIONS, issued),
	SKIP_FLOW(seek, RAIDTRACE_DEPTH_ALL, issued),
	SKIP_FLOW(seek_queued, RAIDTRACE_DEPTH_ALL, queued),
	SKIP_FLOW(d2c, RAIDTRACE_DIRECTIONS, completed),
	SKIP_FLOW(i2d, RAIDTRACE_DIRECTIONS, i2d_sum_ns),
	SKIP_FLOW(q2c, RAIDTRACE_DIRECTIONS, q2c_sum_ns),
	SKIP_FLOW(depth_issue, RAIDTRACE_DEPTH_ALL, issued),
	SKIP_FLOW(depth_d2c, RAIDTRACE_DEPTH_ALL, completed),
	SKIP_FLOW(place, RAIDTRACE_DEPTH_ALL, issued),
	SKIP(window, 2, disk.ra_sync_sectors, 1),
};

/* Bits of the rows of a kind that have no event. */
static unsigned int quiet_rows(const u64 *account, unsigned int kind)
{
	const u64 *first = account + skipped[kind].first;
	const u64 *counter = account + skipped[kind].counter;
	unsigned int row, quiet = 0;

	for (row = 0; row < skipped[kind].rows; row++) {
		quiet |= !(*counter | *first) << row;
		counter += skipped[kind].step;
		first += skipped[kind].bins;
	}
	return quiet;
}

/*
 * Add an account to another, unless that is NULL, and set it to zero. Each lot that held something
 * is noted in @changes, if not NULL, as changed in the snapshot @now. There are thousands of lots:
 * their tests are a large part of the cost of a snapshot.
 */
void raidtrace_account_move(struct raidtrace_account *sum, struct raidtrace_account *part,
			    struct raidtrace_changes *changes, u64 now)
{
	u64 *to = (u64 *)sum, *from = (u64 *)part;
	unsigned int at = 0, kind, first, end, quiet[SKIPPED];

	/* Before the counters are set to zero. */
	for (kind = 0; kind < SKIPPED; kind++)
		quiet[kind] = quiet_rows(from, kind);
	for (kind = 0; kind < SKIPPED; kind++) {
		first = skipped[kind].first;
		for (; quiet[kind]; quiet[kind] >>= 1, first += skipped[kind].bins) {
			if (!(quiet[kind] & 1))
				continue;
			/* Whole lots alone are skipped. */
			end = (first + RAIDTRACE_LOT - 1) / RAIDTRACE_LOT * RAIDTRACE_LOT;
			if (at < end)
				move_range(to, from, at, end, changes, now);
			at = (first + skipped[kind].bins) / RAIDTRACE_LOT * RAIDTRACE_LOT;
		}
	}
	move_range(to, from, at, sizeof(*part) / sizeof(u64), changes, now);
}

#define FLOW(attr, member, group, bios) \
	RAIDTRACE_COUNTER(FLOW, attr, flow, member, group, bios, EVENT_COUNTERS)
#define FLOW_EVENT(attr, member, bios) \
	RAIDTRACE_COUNTER(FLOW, attr, flow, member, FLOW, bios, attr)
#define DISK_EVENT(attr, member, group, bios) \
	RAIDTRACE_COUNTER(COUNTERS, attr, disk, member, group, bios, attr)
#define DISK_TIME(attr, member, bios) \
	RAIDTRACE_COUNTER(COUNTERS, attr, disk, member, LATENCY, bios, EVENT_COUNTERS)

const struct raidtrace_counter raidtrace_flow_counters[RAIDTRACE_FLOW_COUNTERS] = {
	FLOW(QUEUED, queued, FLOW, true),
	FLOW(BYTES_QUEUED, bytes_queued, FLOW, true),
	FLOW(AHEAD_QUEUED, ahead_queued, READAHEAD, true),
	FLOW(BYTES_AHEAD_QUEUED, bytes_ahead_queued, READAHEAD, true),
	FLOW(SEQUENTIAL_QUEUED, sequential_queued, SEEK, true),
	FLOW(SEEK_QUEUED_FORWARD_SECTORS, seek_queued_forward_sectors, SEEK, true),
	FLOW(SEEK_QUEUED_BACKWARD_SECTORS, seek_queued_backward_sectors, SEEK, true),
	FLOW(STREAM_QUEUED, stream_queued, STREAM, true),
	FLOW(REFUSED, refused, FLOW, true),
	FLOW(Q2C_SUM_NS, q2c_sum_ns, LATENCY, true),
	FLOW(Q2C_UNKNOWN, q2c_unknown, LATENCY, false),
	FLOW(ISSUED, issued, FLOW, false),
	FLOW(REISSUED, reissued, FLOW, false),
	FLOW(BYTES_ISSUED, bytes_issued, FLOW, false),
	FLOW(SEQUENTIAL, sequential, SEEK, false),
	FLOW(SEEK_FORWARD_SECTORS, seek_forward_sectors, SEEK, false),
	FLOW(SEEK_BACKWARD_SECTORS, seek_backward_sectors, SEEK, false),
	FLOW(STREAM, stream, STREAM, false),
	FLOW(I2D_SUM_NS, i2d_sum_ns, LATENCY, false),
	FLOW(REQUEUED, requeued, FLOW, false),
	FLOW(REQUEUED_UNISSUED, requeued_unissued, FLOW, false),
	FLOW(COMPLETED, completed, FLOW, false),
	FLOW(BYTES_COMPLETED, bytes_completed, FLOW, false),
	FLOW(D2C_SUM_NS, d2c_sum_ns, FLOW, false),
	FLOW(PARTIAL, partial, FLOW, false),
	FLOW(ERRORS, errors, FLOW, false),
	FLOW(UNMATCHED, unmatched, FLOW, false),
	FLOW(UNISSUED, unissued, FLOW, false),
	FLOW(ABANDONED, abandoned, FLOW, false),
	FLOW_EVENT(GOT, got, false),
	FLOW_EVENT(BACK_MERGES, back_merges, false),
	FLOW_EVENT(FRONT_MERGES, front_merges, false),
	FLOW_EVENT(REQUEST_MERGES, request_merges, false),
	FLOW_EVENT(SPLITS, splits, true),
	FLOW_EVENT(INSERTED, inserted, false),
};

const struct raidtrace_counter raidtrace_disk_counters[RAIDTRACE_DISK_COUNTERS] = {
	DISK_EVENT(PLUGS, plugs, PLUG, false),
	DISK_EVENT(UNPLUGS_EXPLICIT, unplugs_explicit, PLUG, false),
	DISK_EVENT(UNPLUGS_SCHEDULE, unplugs_schedule, PLUG, false),
	DISK_EVENT(RA_SYNC_SECTORS, ra_sync_sectors, READAHEAD, true),
	DISK_EVENT(RA_ASYNC_SECTORS, ra_async_sectors, READAHEAD, true),
	DISK_TIME(HELD_NS, held_ns, true),
	DISK_TIME(BACKLOG_NS, backlog_ns, false),
	DISK_TIME(WAITING_SUM_NS, waiting_sum_ns, true),
	DISK_TIME(WAITING_UNKNOWN, waiting_unknown, true),
};

#define HISTOGRAM(kind, member, nr, rows_, all_, group_, bios_) \
	[RAIDTRACE_HISTOGRAM_KIND_##kind] = { \
		.offset = offsetof(struct raidtrace_account, member) / sizeof(u64), \
		.bins = RAIDTRACE_##nr##_BINS, .rows = rows_, .all = all_, \
		.group = RAIDTRACE_GROUP_##group_, .bios = bios_ }
#define EACH	RAIDTRACE_DIRECTIONS
#define OWN	RAIDTRACE_DEPTH_ALL

const struct raidtrace_histogram raidtrace_histograms[RAIDTRACE_KINDS] = {
	HISTOGRAM(SIZE, size, SIZE, EACH, false, SIZE, false),
	HISTOGRAM(SEEK, seek, SEEK, OWN, false, SEEK, false),
	HISTOGRAM(SEEK_QUEUED, seek_queued, SEEK, OWN, false, SEEK, true),
	HISTOGRAM(D2C, d2c, D2C, EACH, false, LATENCY, false),
	HISTOGRAM(I2D, i2d, D2C, EACH, false, LATENCY, false),
	HISTOGRAM(Q2C, q2c, D2C, EACH, false, LATENCY, true),
	HISTOGRAM(DEPTH_TIME, depth_time, DEPTH, OWN, true, DEPTH, false),
	HISTOGRAM(DEPTH_ISSUE, depth_issue, DEPTH, OWN, true, DEPTH, false),
	HISTOGRAM(DEPTH_D2C, depth_d2c, DEPTH_D2C, OWN, false, LATENCY, false),
	HISTOGRAM(DEPTH_D2C_NS, depth_d2c_ns, DEPTH_D2C_NS, OWN, false, LATENCY, false),
	HISTOGRAM(SIZE_D2C, size_d2c, SIZE_D2C, OWN, false, LATENCY, false),
	HISTOGRAM(SIZE_D2C_NS, size_d2c_ns, SIZE_D2C, OWN, false, LATENCY, false),
	HISTOGRAM(SEEK_D2C, seek_d2c, SEEK_D2C, OWN, false, LATENCY, false),
	HISTOGRAM(SEEK_D2C_NS, seek_d2c_ns, SEEK_D2C, OWN, false, LATENCY, false),
	HISTOGRAM(PLACE, place, PLACE, OWN, false, PLACE, false),
	HISTOGRAM(UNPLUG, unplug, DEPTH, 0, true, PLUG, false),
	HISTOGRAM(BLAME, blame, BLAME, 0, true, BLAME, false),
	HISTOGRAM(BLAME_DISTANCE, blame_distance, BLAME, 0, true, BLAME, false),
	HISTOGRAM(RA_SYNC, window[0], SIZE, 0, true, READAHEAD, true),
	HISTOGRAM(RA_ASYNC, window[1], SIZE, 0, true, READAHEAD, true),
};

/* Number of bins of a kind of histogram, 0 for an unknown kind. */
unsigned int raidtrace_hist_bins(enum raidtrace_histogram_kind kind)
{
	return kind < RAIDTRACE_KINDS ? raidtrace_histograms[kind].bins : 0;
}

/* The bins of a histogram, NULL when there is none of that kind and direction. */
const u64 *raidtrace_account_bins(const struct raidtrace_account *account,
				  enum raidtrace_histogram_kind kind,
				  enum raidtrace_direction direction)
{
	const struct raidtrace_histogram *histogram = &raidtrace_histograms[kind];
	unsigned int row = direction;

	if (direction == RAIDTRACE_DIRECTION_ALL && histogram->all)
		row = histogram->rows;
	else if (row >= histogram->rows)
		return NULL;
	return (const u64 *)account + histogram->offset + row * histogram->bins;
}
