/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family: the only interface to user space. */
#ifndef RAIDTRACE_NETLINK_H
#define RAIDTRACE_NETLINK_H

#include <linux/types.h>

struct genl_family;
struct genl_info;
struct raidtrace_journal;
struct raidtrace_options;
struct raidtrace_snapshot;
struct raidtrace_target;
struct sk_buff;

int raidtrace_netlink_init(void);
void raidtrace_netlink_exit(void);

/* netlink-target.c: what a target is, and how it is to be counted */
int raidtrace_description_put(struct sk_buff *skb, struct raidtrace_target *target);
int raidtrace_options_get(struct genl_info *info, struct raidtrace_options *options);
int raidtrace_journal_get(struct genl_info *info, struct raidtrace_journal **ret);

/* netlink-counters.c, with -histograms.c and -owners.c: the reply to counters-get */
struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family, bool privileged);
int raidtrace_histograms_put(struct sk_buff *skb, const struct raidtrace_target *target,
			     const struct raidtrace_snapshot *snapshot);
int raidtrace_owners_put(struct sk_buff *skb, const struct raidtrace_target *target,
			 const struct raidtrace_snapshot *snapshot);

/**
 * struct raidtrace_counter - a u64 of a structure that is nothing but counters
 * @attr: that tells it
 * @offset: of it
 * @group: that it belongs to
 * @event: that it counts, which a kernel may lack; RAIDTRACE_EVENT_COUNTERS for none
 * @bios: a disk without requests has it
 */
struct raidtrace_counter {
	u16 attr;
	u16 offset;
	u16 group;
	u8 event;
	bool bios;
};

#define RAIDTRACE_COUNTER(set, attr_, type, member, group_, bios_, event_) \
	{ .attr = RAIDTRACE_A_##set##_##attr_, .offset = offsetof(type, member), \
	  .group = RAIDTRACE_GROUP_##group_, .event = event_, .bios = bios_ }

bool raidtrace_snapshot_tells(const struct raidtrace_snapshot *snapshot, u32 group, bool bios);
int raidtrace_put_counters(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot,
			   const struct raidtrace_counter *counter, unsigned int nr,
			   const void *counters, int pad);

/* netlink-history.c: the last requests of a target that ended */
struct sk_buff *raidtrace_history_message(struct raidtrace_target *target, struct genl_info *info,
					  const struct genl_family *family);
int raidtrace_history_set(struct raidtrace_target *target, struct genl_info *info);
void raidtrace_history_release(u32 port);

#endif /* RAIDTRACE_NETLINK_H */
