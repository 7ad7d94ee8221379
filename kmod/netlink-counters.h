/* SPDX-License-Identifier: GPL-2.0-only */
/* The reply to counters-get. */
#ifndef RAIDTRACE_NETLINK_COUNTERS_H
#define RAIDTRACE_NETLINK_COUNTERS_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct raidtrace_target;
struct sk_buff;

struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family, bool named);

#endif /* RAIDTRACE_NETLINK_COUNTERS_H */
