/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms in the reply to counters-get. */
#ifndef RAIDTRACE_NETLINK_HISTOGRAMS_H
#define RAIDTRACE_NETLINK_HISTOGRAMS_H

#include <linux/types.h>

struct raidtrace_snapshot;
struct raidtrace_target;
struct sk_buff;

size_t raidtrace_histograms_room(const struct raidtrace_target *target,
				 struct raidtrace_snapshot *snapshot);
int raidtrace_histograms_put(struct sk_buff *skb, const struct raidtrace_target *target,
			     const struct raidtrace_snapshot *snapshot);

#endif /* RAIDTRACE_NETLINK_HISTOGRAMS_H */
