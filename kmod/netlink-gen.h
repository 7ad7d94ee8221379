/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/raidtrace.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_RAIDTRACE_GEN_H
#define _LINUX_RAIDTRACE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/raidtrace.h>

/* Common nested types */
extern const struct nla_policy raidtrace_extent_nl_policy[RAIDTRACE_A_EXTENT_PAD + 1];

extern const struct nla_policy raidtrace_info_get_nl_policy[RAIDTRACE_A_INFO_ABI + 1];

extern const struct nla_policy raidtrace_target_add_nl_policy[RAIDTRACE_A_TARGET_HISTORY_NS + 1];

extern const struct nla_policy raidtrace_target_del_nl_policy[RAIDTRACE_A_TARGET_ID + 1];

extern const struct nla_policy raidtrace_target_get_nl_policy[RAIDTRACE_A_TARGET_ID + 1];

extern const struct nla_policy raidtrace_target_reset_nl_policy[RAIDTRACE_A_TARGET_ID + 1];

extern const struct nla_policy raidtrace_counters_get_nl_policy[RAIDTRACE_A_COUNTERS_SNAPSHOT + 1];

extern const struct nla_policy raidtrace_target_set_nl_policy[RAIDTRACE_A_TARGET_JOURNAL + 1];

extern const struct nla_policy raidtrace_history_get_nl_policy[RAIDTRACE_A_HISTORY_AFTER + 1];

/* Ops table for raidtrace */
extern const struct genl_ops raidtrace_nl_ops[8];

int raidtrace_nl_info_get_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_target_add_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_target_del_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_target_get_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_target_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int raidtrace_nl_target_reset_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_counters_get_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_target_set_doit(struct sk_buff *skb, struct genl_info *info);
int raidtrace_nl_history_get_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* _LINUX_RAIDTRACE_GEN_H */
