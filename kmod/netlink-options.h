/* SPDX-License-Identifier: GPL-2.0-only */
/* How a target is to be counted, as requests say it and replies show it. */
#ifndef RAIDTRACE_NETLINK_OPTIONS_H
#define RAIDTRACE_NETLINK_OPTIONS_H

struct genl_info;
struct raidtrace_journal;
struct raidtrace_options;
struct raidtrace_target;
struct sk_buff;

int raidtrace_options_get(struct genl_info *info, struct raidtrace_options *options);
int raidtrace_journal_get(struct genl_info *info, struct raidtrace_journal **ret);
int raidtrace_options_put(struct sk_buff *skb, struct raidtrace_target *target);

#endif /* RAIDTRACE_NETLINK_OPTIONS_H */
