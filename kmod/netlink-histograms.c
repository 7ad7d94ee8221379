// SPDX-License-Identifier: GPL-2.0-only
/* Histograms in the reply to counters-get, trimmed to the bins that are used. */
#include "netlink-histograms.h"
#include "target.h"

#include <linux/string.h>
#include <net/netlink.h>

#define NR_DIRECTIONS	RAIDTRACE_DIRECTIONS_AND_ALL
#define NR_KINDS	RAIDTRACE_KINDS

/* So many bins take no more room than the head of another piece. */
#define CLOSE		(2 * RAIDTRACE_LOT)

/* Room that the head of one histogram takes. */
#define HISTOGRAM_ROOM	(nla_total_size(0) + 4 * nla_total_size(sizeof(u32)))

/* The bins of a histogram that is kept, else NULL. */
static const u64 *kept_bins(const struct raidtrace_target *target,
			    const struct raidtrace_snapshot *snapshot,
			    enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	if (!(raidtrace_histograms[kind].group & target->options.groups) ||
	    (target->bio_based && !raidtrace_histograms[kind].bios))
		return NULL;
	return raidtrace_account_bins(snapshot->account, kind, direction);
}

/* Find the bins from the first to the last that is not zero; none where no histogram is kept. */
static void find_used(const struct raidtrace_target *target, struct raidtrace_snapshot *snapshot,
		      enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	const u64 *bins = kept_bins(target, snapshot, kind, direction);
	u32 end = raidtrace_hist_bins(kind);
	u32 begin = 0;

	while (bins && end && !bins[end - 1])
		end--;
	if (!bins || !end) {
		snapshot->used[kind][direction].nr = 0;
		return;
	}
	while (!bins[begin])
		begin++;
	snapshot->used[kind][direction].first = begin;
	snapshot->used[kind][direction].nr = end - begin;
}

static int put_piece(struct sk_buff *skb, enum raidtrace_histogram_kind kind,
		     enum raidtrace_direction direction, u32 first, u32 nr, const u64 *bins)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_HISTOGRAM);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_KIND, kind) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_DIRECTION, direction) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first) ?:
	      nla_put(skb, RAIDTRACE_A_HISTOGRAM_COUNTS, nr * sizeof(*bins), bins + first);
	nla_nest_end(skb, nest);
	return err;
}

static int put_whole(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot,
		     enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	u32 nr = snapshot->used[kind][direction].nr;

	if (!nr)
		return 0;
	return put_piece(skb, kind, direction, snapshot->used[kind][direction].first, nr,
			 raidtrace_account_bins(snapshot->account, kind, direction));
}

/* The bins that changed. Those between two that lie close together are told with them. */
static int put_changed(struct sk_buff *skb, const struct raidtrace_target *target,
		       const struct raidtrace_snapshot *snapshot,
		       enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	const u64 *bins = kept_bins(target, snapshot, kind, direction);
	u32 all = bins ? raidtrace_hist_bins(kind) : 0;
	unsigned int offset = 0, lot, lots;
	u32 at, first = 0, end = 0;
	const u64 *stamp;
	int err = 0;

	if (!bins)
		return 0;
	stamp = raidtrace_snapshot_stamps(snapshot, bins, &offset);
	lots = (offset + all + RAIDTRACE_LOT - 1) / RAIDTRACE_LOT;
	for (lot = 0; lot < lots && !err; lot++) {
		if (stamp[lot] <= snapshot->base)
			continue;
		at = lot ? lot * RAIDTRACE_LOT - offset : 0;
		if (end && at - end > CLOSE) {
			err = put_piece(skb, kind, direction, first, end - first, bins);
			end = 0;
		}
		first = end ? first : at;
		end = min_t(u32, (lot + 1) * RAIDTRACE_LOT - offset, all);
	}
	return err || !end ? err : put_piece(skb, kind, direction, first, end - first, bins);
}

/*
 * Did bios or requests of a direction come or go, since the reader's snapshot if it
 * has one? If none did its histograms are empty, or as they were.
 */
static bool is_used(const struct raidtrace_snapshot *snapshot, enum raidtrace_direction direction)
{
	const struct raidtrace_account *account = snapshot->account;
	const unsigned int counters = sizeof(account->flow[0]) / sizeof(u64);
	const u64 *flow;

	if (direction >= RAIDTRACE_DIRECTIONS || direction <= RAIDTRACE_DIRECTION_WRITE)
		return true;
	flow = (const u64 *)&account->flow[direction];
	if (snapshot->base)
		return raidtrace_snapshot_changed(snapshot, flow, counters) ||
		       raidtrace_snapshot_changed(snapshot, account->q2c[direction], 1);
	return account->q2c[direction][0] || raidtrace_any(flow, counters);
}

/**
 * raidtrace_histograms_room() - bytes that the histograms take in a message
 * @target: whose they are
 * @snapshot: that they are of; for raidtrace_histograms_put() after it
 *
 * Return: the number of bytes.
 */
size_t raidtrace_histograms_room(const struct raidtrace_target *target,
				 struct raidtrace_snapshot *snapshot)
{
	unsigned int kind, direction;
	size_t room = 0;
	u32 nr;

	memset(snapshot->used, 0, sizeof(snapshot->used));
	for (direction = 0; direction < NR_DIRECTIONS; direction++) {
		if (!is_used(snapshot, direction))
			continue;
		for (kind = 0; kind < NR_KINDS; kind++) {
			find_used(target, snapshot, kind, direction);
			nr = snapshot->used[kind][direction].nr;
			if (nr)
				room += HISTOGRAM_ROOM + nla_total_size(nr * sizeof(u64));
		}
	}
	return room;
}

/**
 * raidtrace_histograms_put() - put the histograms in a message
 * @skb: the message
 * @target: whose they are
 * @snapshot: that they are of; a whole one after raidtrace_histograms_room()
 *
 * Return: 0 or -EMSGSIZE.
 */
int raidtrace_histograms_put(struct sk_buff *skb, const struct raidtrace_target *target,
			     const struct raidtrace_snapshot *snapshot)
{
	unsigned int kind, direction;
	int err = 0;

	for (direction = 0; direction < NR_DIRECTIONS && !err; direction++) {
		if (snapshot->base && !is_used(snapshot, direction))
			continue;
		for (kind = 0; kind < NR_KINDS && !err; kind++)
			err = snapshot->base ?
				put_changed(skb, target, snapshot, kind, direction) :
				put_whole(skb, snapshot, kind, direction);
	}
	return err;
}
