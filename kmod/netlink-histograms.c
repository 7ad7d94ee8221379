// SPDX-License-Identifier: GPL-2.0-only
/* Histograms in the reply to counters-get, trimmed to the bins that are used. */
#include "netlink.h"
#include "target.h"

#include <linux/minmax.h>
#include <net/netlink.h>

/* So many bins take no more room than the head of another piece. */
#define CLOSE	(2 * RAIDTRACE_LOT)

/* Without the zeroes at either end. */
static int put_piece(struct sk_buff *skb, enum raidtrace_histogram_kind kind,
		     enum raidtrace_direction direction, u32 first, u32 end, const u64 *bins)
{
	struct nlattr *nest;
	int err;

	while (end > first && !bins[end - 1])
		end--;
	if (end == first)
		return 0;
	while (!bins[first])
		first++;
	nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_HISTOGRAM);
	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_KIND, kind) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_DIRECTION, direction) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first) ?:
	      nla_put(skb, RAIDTRACE_A_HISTOGRAM_COUNTS, (end - first) * sizeof(*bins),
		      bins + first);
	nla_nest_end(skb, nest);
	return err;
}

/* The bins that changed. Those between two that lie close together are told with them. */
static int put_changed(struct sk_buff *skb, const struct raidtrace_target *target, u64 base,
		       enum raidtrace_histogram_kind kind, enum raidtrace_direction direction,
		       const u64 *bins)
{
	u32 all = raidtrace_hist_bins(kind), at, first = 0, end = 0;
	unsigned int offset, lot, lots;
	const u64 *stamp;
	int err = 0;

	stamp = raidtrace_target_stamps(target, bins, &offset);
	lots = DIV_ROUND_UP(offset + all, RAIDTRACE_LOT);
	for (lot = 0; lot < lots && !err; lot++) {
		if (stamp[lot] <= base)
			continue;
		at = lot ? lot * RAIDTRACE_LOT - offset : 0;
		if (end && at - end > CLOSE) {
			err = put_piece(skb, kind, direction, first, end, bins);
			end = 0;
		}
		first = end ? first : at;
		end = min_t(u32, (lot + 1) * RAIDTRACE_LOT - offset, all);
	}
	return err || !end ? err : put_piece(skb, kind, direction, first, end, bins);
}

/* Put the histograms in a message. Returns 0 or -EMSGSIZE. */
int raidtrace_histograms_put(struct sk_buff *skb, const struct raidtrace_target *target,
			     const struct raidtrace_snapshot *snapshot)
{
	unsigned int kind, direction;
	const u64 *bins;
	int err = 0;

	for (kind = 0; kind < RAIDTRACE_KINDS; kind++) {
		if (!raidtrace_snapshot_tells(snapshot, raidtrace_histograms[kind].group,
					      raidtrace_histograms[kind].bios))
			continue;
		for (direction = 0; direction <= RAIDTRACE_DIRECTION_MAX && !err; direction++) {
			bins = raidtrace_account_bins(target->total, kind, direction);
			if (bins)
				err = snapshot->base ?
					put_changed(skb, target, snapshot->base, kind, direction,
						    bins) :
					put_piece(skb, kind, direction, 0,
						  raidtrace_hist_bins(kind), bins);
		}
	}
	return err;
}
