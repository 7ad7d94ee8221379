// SPDX-License-Identifier: GPL-2.0-only
/* The histograms: who has one, and where in an account its bins are. */
#include "account.h"

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
	HISTOGRAM(PLACE, place, PLACE, OWN, false, PLACE, false),
	HISTOGRAM(UNPLUG, unplug, DEPTH, 0, true, PLUG, false),
	HISTOGRAM(BLAME, blame, BLAME, 0, true, BLAME, false),
	HISTOGRAM(BLAME_DISTANCE, blame_distance, BLAME, 0, true, BLAME, false),
	HISTOGRAM(RA_SYNC, window[0], SIZE, 0, true, READAHEAD, true),
	HISTOGRAM(RA_ASYNC, window[1], SIZE, 0, true, READAHEAD, true),
};

/* How many bins a kind of histogram has, 0 for an unknown kind. */
unsigned int raidtrace_hist_bins(enum raidtrace_histogram_kind kind)
{
	return kind < RAIDTRACE_KINDS ? raidtrace_histograms[kind].bins : 0;
}

/* Its raidtrace_hist_bins() bins; NULL when no such histogram is kept. */
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
