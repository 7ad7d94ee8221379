// SPDX-License-Identifier: GPL-2.0-only
/* What a target is, and what the block layer says of its disk, in a message. */
#include "netlink-description.h"
#include "netlink-options.h"
#include "target.h"

#include <net/netlink.h>

static int put_string(struct sk_buff *skb, int attr, const char *text)
{
	return text[0] ? nla_put_string(skb, attr, text) : 0;
}

static int put_flag(struct sk_buff *skb, int attr, bool set)
{
	return set ? nla_put_flag(skb, attr) : 0;
}

static int put_identity(struct sk_buff *skb, struct raidtrace_target *target)
{
	return nla_put_u32(skb, RAIDTRACE_A_TARGET_ID, target->id) ?:
	       nla_put_string(skb, RAIDTRACE_A_TARGET_DISK, target->name) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MAJOR, MAJOR(target->dev)) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MINOR, MINOR(target->dev)) ?:
	       put_string(skb, RAIDTRACE_A_TARGET_DRIVER, target->driver) ?:
	       put_string(skb, RAIDTRACE_A_TARGET_PCI, target->pci) ?:
	       put_string(skb, RAIDTRACE_A_TARGET_HCTL, target->hctl) ?:
	       put_flag(skb, RAIDTRACE_A_TARGET_UNIT_3WARE, target->unit_3ware) ?:
	       put_flag(skb, RAIDTRACE_A_TARGET_BIO_BASED, target->bio_based) ?:
	       nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_ATTACHED_NS, target->attached_ns,
				 RAIDTRACE_A_TARGET_PAD) ?:
	       raidtrace_options_put(skb, target);
}

static int put_request_limits(struct sk_buff *skb, const struct raidtrace_limits *limits)
{
	return nla_put_u32(skb, RAIDTRACE_A_TARGET_NR_REQUESTS, limits->nr_requests) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_NR_HW_QUEUES, limits->nr_hw_queues) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_NR_TAGS, limits->nr_tags);
}

static int put_limits(struct sk_buff *skb, struct raidtrace_target *target)
{
	struct raidtrace_limits limits;
	int err;

	raidtrace_target_limits(target, &limits);
	err = nla_put_u32(skb, RAIDTRACE_A_TARGET_STATE, limits.state);
	if (err || limits.state == RAIDTRACE_STATE_GONE)
		return err;
	if (!target->bio_based) {
		err = put_request_limits(skb, &limits);
		if (err)
			return err;
	}
	return nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_CAPACITY_SECTORS,
				 limits.capacity_sectors, RAIDTRACE_A_TARGET_PAD) ?:
	       nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_READAHEAD_SECTORS,
				 limits.readahead_sectors, RAIDTRACE_A_TARGET_PAD) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MAX_SECTORS, limits.max_sectors) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MAX_HW_SECTORS, limits.max_hw_sectors) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MAX_SEGMENTS, limits.max_segments) ?:
	       put_flag(skb, RAIDTRACE_A_TARGET_ROTATIONAL, limits.rotational);
}

/**
 * raidtrace_description_put() - describe a target
 * @skb: the message
 * @target: that is not being freed
 *
 * Return: 0 or -EMSGSIZE. Context: needs no raidtrace_targets_lock().
 */
int raidtrace_description_put(struct sk_buff *skb, struct raidtrace_target *target)
{
	return put_identity(skb, target) ?: put_limits(skb, target);
}
