/* SPDX-License-Identifier: GPL-2.0-only */
/* What a target is, in a message. */
#ifndef RAIDTRACE_NETLINK_DESCRIPTION_H
#define RAIDTRACE_NETLINK_DESCRIPTION_H

struct raidtrace_target;
struct sk_buff;

int raidtrace_description_put(struct sk_buff *skb, struct raidtrace_target *target);

#endif /* RAIDTRACE_NETLINK_DESCRIPTION_H */
