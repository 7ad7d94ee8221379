// SPDX-License-Identifier: GPL-2.0-only
/* Where in an account the bins of each histogram are. */
#include "account.h"

/* Histograms of the directions that have a depth of their own. */
static const u64 *own_bins(const struct raidtrace_account *account,
			   enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	enum raidtrace_depth_set own = direction == RAIDTRACE_DIRECTION_WRITE ?
		RAIDTRACE_DEPTH_WRITE : RAIDTRACE_DEPTH_READ;

	if (direction > RAIDTRACE_DIRECTION_WRITE)
		return NULL;
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
		return account->depth_time[own];
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
		return account->depth_issue[own];
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C:
		return account->depth_d2c[own];
	case RAIDTRACE_HISTOGRAM_KIND_PLACE:
		return account->place[own];
	default:
		return NULL;
	}
}

/* Histograms of all directions together. */
static const u64 *all_bins(const struct raidtrace_account *account,
			   enum raidtrace_histogram_kind kind)
{
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME:
		return account->depth_time[RAIDTRACE_DEPTH_ALL];
	case RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE:
		return account->depth_issue[RAIDTRACE_DEPTH_ALL];
	case RAIDTRACE_HISTOGRAM_KIND_BLAME:
		return account->blame;
	case RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE:
		return account->blame_distance;
	case RAIDTRACE_HISTOGRAM_KIND_UNPLUG:
		return account->unplug;
	case RAIDTRACE_HISTOGRAM_KIND_RA_SYNC:
		return account->window[0];
	case RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC:
		return account->window[1];
	default:
		return NULL;
	}
}

/**
 * raidtrace_account_bins() - bins of one histogram
 * @account: that holds it
 * @kind: what it counts
 * @direction: whose it is
 *
 * Return: raidtrace_hist_bins(@kind) counts, NULL when no such histogram is kept.
 */
const u64 *raidtrace_account_bins(const struct raidtrace_account *account,
				  enum raidtrace_histogram_kind kind,
				  enum raidtrace_direction direction)
{
	if (direction >= RAIDTRACE_DIRECTIONS)
		return all_bins(account, kind);
	switch (kind) {
	case RAIDTRACE_HISTOGRAM_KIND_SIZE:
		return account->size[direction];
	case RAIDTRACE_HISTOGRAM_KIND_SEEK:
		return account->seek[direction];
	case RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED:
		return account->seek_queued[direction];
	case RAIDTRACE_HISTOGRAM_KIND_D2C:
		return account->d2c[direction];
	case RAIDTRACE_HISTOGRAM_KIND_I2D:
		return account->i2d[direction];
	case RAIDTRACE_HISTOGRAM_KIND_Q2C:
		return account->q2c[direction];
	default:
		return own_bins(account, kind, direction);
	}
}
