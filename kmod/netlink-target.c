// SPDX-License-Identifier: GPL-2.0-only
/* Description and options of a target in messages. */
#include "netlink.h"
#include "compat.h"
#include "netlink-gen.h"
#include "target.h"

#include <linux/slab.h>
#include <net/genetlink.h>

static int add_extent(struct raidtrace_journal *journal, struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[RAIDTRACE_A_EXTENT_MAX + 1];
	struct raidtrace_extent *extent;
	int err;

	if (journal->nr == RAIDTRACE_JOURNAL_MAX)
		return raidtrace_refuse(-E2BIG, extack, "a journal may have %u ranges at most",
					RAIDTRACE_JOURNAL_MAX);
	err = nla_parse_nested(attrs, RAIDTRACE_A_EXTENT_PAD, nest, raidtrace_extent_nl_policy,
			       extack);
	if (err)
		return err;
	if (!attrs[RAIDTRACE_A_EXTENT_SECTOR] || !attrs[RAIDTRACE_A_EXTENT_NR_SECTORS])
		return raidtrace_refuse(-EINVAL, extack, "a range needs sector and nr-sectors");
	extent = &journal->extent[journal->nr++];
	extent->sector = nla_get_u64(attrs[RAIDTRACE_A_EXTENT_SECTOR]);
	extent->nr_sectors = nla_get_u64(attrs[RAIDTRACE_A_EXTENT_NR_SECTORS]);
	if (extent->nr_sectors && extent->sector + extent->nr_sectors > extent->sector)
		return 0;
	return raidtrace_refuse(-EINVAL, extack,
				"empty or too long: %llu sectors from sector %llu",
				extent->nr_sectors, extent->sector);
}

/*
 * The journal in a request, to be freed, NULL for none. Returns 0 or -errno with the reason in
 * @info.
 */
int raidtrace_journal_get(struct genl_info *info, struct raidtrace_journal **ret)
{
	struct raidtrace_journal *journal = NULL;
	struct nlattr *attr;
	int rest, err = 0;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(attr) != RAIDTRACE_A_TARGET_JOURNAL)
			continue;
		if (!journal)
			journal = kzalloc(sizeof(*journal), GFP_KERNEL);
		if (!journal)
			return raidtrace_refuse(-ENOMEM, info->extack,
						"not enough memory for the journal");
		err = add_extent(journal, attr, info->extack);
		if (err)
			break;
	}
	if (err) {
		kfree(journal);
		return err;
	}
	*ret = journal;
	return 0;
}

/*
 * The options in a request; the default groups without any, and always flow. Returns 0 or -errno
 * with the reason in @info.
 */
int raidtrace_options_get(struct genl_info *info, struct raidtrace_options *options)
{
	struct nlattr *groups = info->attrs[RAIDTRACE_A_TARGET_GROUPS];
	struct nlattr *streams = info->attrs[RAIDTRACE_A_TARGET_STREAMS];
	struct nlattr *history = info->attrs[RAIDTRACE_A_TARGET_HISTORY_NS];

	options->groups = (groups ? nla_get_u32(groups) : RAIDTRACE_GROUPS_DEFAULT) |
			  RAIDTRACE_GROUP_FLOW;
	if (history) {
		options->history = true;
		options->history_ns = nla_get_u64(history);
	}
	options->streams = streams ? nla_get_u32(streams) : RAIDTRACE_STREAMS_DEFAULT;
	return raidtrace_journal_get(info, &options->journal);
}

static int put_options(struct sk_buff *skb, struct raidtrace_target *target)
{
	int err = nla_put_u32(skb, RAIDTRACE_A_TARGET_GROUPS, target->options.groups);

	if (!err && target->options.groups & RAIDTRACE_GROUP_STREAM)
		err = nla_put_u32(skb, RAIDTRACE_A_TARGET_STREAMS, target->options.streams);
	if (!err && target->options.groups & RAIDTRACE_GROUP_PLACE && !target->bio_based)
		err = nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_PLACE_SECTORS,
					target->probe.engine.place.sectors, RAIDTRACE_A_TARGET_PAD);
	if (!err && target->probe.engine.history)
		err = nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_HISTORY_NS,
					target->options.history_ns, RAIDTRACE_A_TARGET_PAD);
	return err;
}

/* Returns 0 or -EMSGSIZE. Context: any lock or none. */
int raidtrace_description_put(struct sk_buff *skb, struct raidtrace_target *target)
{
	return nla_put_u32(skb, RAIDTRACE_A_TARGET_ID, target->id) ?:
	       nla_put_string(skb, RAIDTRACE_A_TARGET_DISK, target->name) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MAJOR, MAJOR(target->dev)) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_MINOR, MINOR(target->dev)) ?:
	       (target->bio_based ? nla_put_flag(skb, RAIDTRACE_A_TARGET_BIO_BASED) : 0) ?:
	       nla_put_u32(skb, RAIDTRACE_A_TARGET_STATE, READ_ONCE(target->state)) ?:
	       nla_put_u64_64bit(skb, RAIDTRACE_A_TARGET_ATTACHED_NS, target->attached_ns,
				 RAIDTRACE_A_TARGET_PAD) ?:
	       put_options(skb, target);
}
