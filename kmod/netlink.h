/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RAIDTRACE_NETLINK_H
#define RAIDTRACE_NETLINK_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct raidtrace_journal;
struct raidtrace_options;
struct raidtrace_target;
struct sk_buff;

int raidtrace_netlink_init(void);
void raidtrace_netlink_exit(void);

/* netlink-target.c */
int raidtrace_description_put(struct sk_buff *skb, struct raidtrace_target *target);
int raidtrace_options_get(struct genl_info *info, struct raidtrace_options *options);
int raidtrace_journal_get(struct genl_info *info, struct raidtrace_journal **ret);

/* netlink-counters.c */
struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family, bool privileged);

/* netlink-history.c */
struct sk_buff *raidtrace_history_message(struct raidtrace_target *target, struct genl_info *info,
					  const struct genl_family *family);

#endif /* RAIDTRACE_NETLINK_H */
