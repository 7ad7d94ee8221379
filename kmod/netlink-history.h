/* SPDX-License-Identifier: GPL-2.0-only */
/* The last requests of a target that ended. */
#ifndef RAIDTRACE_NETLINK_HISTORY_H
#define RAIDTRACE_NETLINK_HISTORY_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct raidtrace_target;
struct sk_buff;

struct sk_buff *raidtrace_history_message(struct raidtrace_target *target, struct genl_info *info,
					  const struct genl_family *family);
int raidtrace_history_set(struct raidtrace_target *target, struct genl_info *info);
void raidtrace_history_release(u32 port);

#endif /* RAIDTRACE_NETLINK_HISTORY_H */
