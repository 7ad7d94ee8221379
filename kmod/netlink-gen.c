// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/raidtrace.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/linux/raidtrace.h>

/* Common nested types */
const struct nla_policy raidtrace_extent_nl_policy[RAIDTRACE_A_EXTENT_PAD + 1] = {
	[RAIDTRACE_A_EXTENT_SECTOR] = { .type = NLA_U64, },
	[RAIDTRACE_A_EXTENT_NR_SECTORS] = { .type = NLA_U64, },
};

/* RAIDTRACE_CMD_INFO_GET - do */
const struct nla_policy raidtrace_info_get_nl_policy[RAIDTRACE_A_INFO_ABI + 1] = {
	[RAIDTRACE_A_INFO_ABI] = { .type = NLA_U32, },
};

/* RAIDTRACE_CMD_TARGET_ADD - do */
const struct nla_policy raidtrace_target_add_nl_policy[RAIDTRACE_A_TARGET_HISTORY_NS + 1] = {
	[RAIDTRACE_A_TARGET_FD] = { .type = NLA_U32, },
	[RAIDTRACE_A_TARGET_GROUPS] = NLA_POLICY_MASK(NLA_U32, 0x1fff),
	[RAIDTRACE_A_TARGET_STREAMS] = NLA_POLICY_RANGE(NLA_U32, 1, 64),
	[RAIDTRACE_A_TARGET_JOURNAL] = NLA_POLICY_NESTED(raidtrace_extent_nl_policy),
	[RAIDTRACE_A_TARGET_HISTORY_NS] = { .type = NLA_U64, },
};

/* RAIDTRACE_CMD_TARGET_DEL - do */
const struct nla_policy raidtrace_target_del_nl_policy[RAIDTRACE_A_TARGET_ID + 1] = {
	[RAIDTRACE_A_TARGET_ID] = { .type = NLA_U32, },
};

/* RAIDTRACE_CMD_TARGET_GET - do */
const struct nla_policy raidtrace_target_get_nl_policy[RAIDTRACE_A_TARGET_ID + 1] = {
	[RAIDTRACE_A_TARGET_ID] = { .type = NLA_U32, },
};

/* RAIDTRACE_CMD_TARGET_RESET - do */
const struct nla_policy raidtrace_target_reset_nl_policy[RAIDTRACE_A_TARGET_ID + 1] = {
	[RAIDTRACE_A_TARGET_ID] = { .type = NLA_U32, },
};

/* RAIDTRACE_CMD_COUNTERS_GET - do */
const struct nla_policy raidtrace_counters_get_nl_policy[RAIDTRACE_A_COUNTERS_SNAPSHOT + 1] = {
	[RAIDTRACE_A_COUNTERS_ID] = { .type = NLA_U32, },
	[RAIDTRACE_A_COUNTERS_SNAPSHOT] = { .type = NLA_U64, },
};

/* RAIDTRACE_CMD_TARGET_SET - do */
const struct nla_policy raidtrace_target_set_nl_policy[RAIDTRACE_A_TARGET_JOURNAL + 1] = {
	[RAIDTRACE_A_TARGET_ID] = { .type = NLA_U32, },
	[RAIDTRACE_A_TARGET_JOURNAL] = NLA_POLICY_NESTED(raidtrace_extent_nl_policy),
};

/* RAIDTRACE_CMD_HISTORY_GET - do */
const struct nla_policy raidtrace_history_get_nl_policy[RAIDTRACE_A_HISTORY_AFTER + 1] = {
	[RAIDTRACE_A_HISTORY_ID] = { .type = NLA_U32, },
	[RAIDTRACE_A_HISTORY_AFTER] = { .type = NLA_U64, },
};

/* Ops table for raidtrace */
const struct genl_ops raidtrace_nl_ops[8] = {
	{
		.cmd		= RAIDTRACE_CMD_INFO_GET,
		.doit		= raidtrace_nl_info_get_doit,
		.policy		= raidtrace_info_get_nl_policy,
		.maxattr	= RAIDTRACE_A_INFO_ABI,
	},
	{
		.cmd		= RAIDTRACE_CMD_TARGET_ADD,
		.doit		= raidtrace_nl_target_add_doit,
		.policy		= raidtrace_target_add_nl_policy,
		.maxattr	= RAIDTRACE_A_TARGET_HISTORY_NS,
	},
	{
		.cmd		= RAIDTRACE_CMD_TARGET_DEL,
		.doit		= raidtrace_nl_target_del_doit,
		.policy		= raidtrace_target_del_nl_policy,
		.maxattr	= RAIDTRACE_A_TARGET_ID,
	},
	{
		.cmd		= RAIDTRACE_CMD_TARGET_GET,
		.doit		= raidtrace_nl_target_get_doit,
		.dumpit		= raidtrace_nl_target_get_dumpit,
		.policy		= raidtrace_target_get_nl_policy,
		.maxattr	= RAIDTRACE_A_TARGET_ID,
	},
	{
		.cmd		= RAIDTRACE_CMD_TARGET_RESET,
		.doit		= raidtrace_nl_target_reset_doit,
		.policy		= raidtrace_target_reset_nl_policy,
		.maxattr	= RAIDTRACE_A_TARGET_ID,
	},
	{
		.cmd		= RAIDTRACE_CMD_COUNTERS_GET,
		.doit		= raidtrace_nl_counters_get_doit,
		.policy		= raidtrace_counters_get_nl_policy,
		.maxattr	= RAIDTRACE_A_COUNTERS_SNAPSHOT,
	},
	{
		.cmd		= RAIDTRACE_CMD_TARGET_SET,
		.doit		= raidtrace_nl_target_set_doit,
		.policy		= raidtrace_target_set_nl_policy,
		.maxattr	= RAIDTRACE_A_TARGET_JOURNAL,
	},
	{
		.cmd		= RAIDTRACE_CMD_HISTORY_GET,
		.doit		= raidtrace_nl_history_get_doit,
		.policy		= raidtrace_history_get_nl_policy,
		.maxattr	= RAIDTRACE_A_HISTORY_AFTER,
	},
};
