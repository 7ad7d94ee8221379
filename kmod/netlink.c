// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family, the module's only interface;
 * Documentation/netlink/specs/raidtrace.yaml describes it. Reading the group flow needs no
 * privilege, as its counters are like those of /proc/diskstats. Reading the rest needs CAP_PERFMON:
 * sizes, places and latencies, read often, are nearly a trace of other users, and the history is one.
 * Requests that change something need CAP_SYS_ADMIN.
 */
#include "netlink.h"
#include "compat.h"
#include "netlink-gen.h"
#include "target.h"
#include "version.h"

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>

static struct genl_family family;

/* All requests have the id of their target in the same attribute. */
static_assert((int)RAIDTRACE_A_TARGET_ID == (int)RAIDTRACE_A_COUNTERS_ID &&
	      (int)RAIDTRACE_A_TARGET_ID == (int)RAIDTRACE_A_HISTORY_ID);

static bool may_change(struct sk_buff *request)
{
	return netlink_capable(request, CAP_SYS_ADMIN);
}

/* As perfmon_capable(): what perf and BPF show of block tracepoints. */
static bool may_observe(struct sk_buff *request)
{
	return netlink_capable(request, CAP_PERFMON) || may_change(request);
}

static int check_privilege(u8 cmd, struct sk_buff *request, struct genl_info *info)
{
	switch (cmd) {
	case RAIDTRACE_CMD_INFO_GET:
	case RAIDTRACE_CMD_TARGET_GET:
	case RAIDTRACE_CMD_COUNTERS_GET:
		return 0;
	case RAIDTRACE_CMD_HISTORY_GET:
		return may_observe(request) ? 0 :
		       raidtrace_refuse(-EPERM, info->extack, "this needs CAP_PERFMON");
	default:
		return may_change(request) ? 0 :
		       raidtrace_refuse(-EPERM, info->extack, "this needs CAP_SYS_ADMIN");
	}
}

/* Refuse a request for an unknown target. */
static int no_target(struct genl_info *info, u32 id)
{
	NL_SET_BAD_ATTR(info->extack, info->attrs[RAIDTRACE_A_TARGET_ID]);
	return raidtrace_refuse(-ENOENT, info->extack, "there is no target %u", id);
}

/*
 * Before a request: finds its target for ->user_ptr[0], and holds its lock until after_request(). A
 * dump takes a lock itself.
 */
static int before_request(RAIDTRACE_GENL_OPS *ops, struct sk_buff *request,
			  struct genl_info *info)
{
	int err = check_privilege(ops->cmd, request, info);
	u32 id;

	if (err)
		return err;
	if (ops->cmd == RAIDTRACE_CMD_INFO_GET || ops->cmd == RAIDTRACE_CMD_TARGET_ADD)
		return 0;
	if (GENL_REQ_ATTR_CHECK(info, RAIDTRACE_A_TARGET_ID))
		return raidtrace_refuse(-EINVAL, info->extack, "the attribute id is missing");
	id = nla_get_u32(info->attrs[RAIDTRACE_A_TARGET_ID]);
	info->user_ptr[0] = raidtrace_target_get(id);
	return info->user_ptr[0] ? 0 : no_target(info, id);
}

/* Not called for a refused request. A target that was deleted is freed here. */
static void after_request(RAIDTRACE_GENL_OPS *ops, struct sk_buff *request,
			  struct genl_info *info)
{
	if (info->user_ptr[0])
		raidtrace_target_put(info->user_ptr[0]);
}

static int put_target(struct sk_buff *skb, struct raidtrace_target *target, u32 portid, u32 seq,
		      int flags, u8 cmd)
{
	void *header = genlmsg_put(skb, portid, seq, &family, flags, cmd);
	int err;

	if (!header)
		return -EMSGSIZE;
	err = raidtrace_description_put(skb, target);
	if (err)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return err;
}

static int reply_target(struct genl_info *info, struct raidtrace_target *target)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int err;

	if (!skb)
		return raidtrace_refuse(-ENOMEM, info->extack, "not enough memory for the reply");
	err = put_target(skb, target, info->snd_portid, info->snd_seq, 0, info->genlhdr->cmd);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return genlmsg_reply(skb, info);
}

static int put_info(struct sk_buff *skb)
{
	unsigned int cursor = 0;
	const char *name;
	int err;

	err = nla_put_u32(skb, RAIDTRACE_A_INFO_ABI, RAIDTRACE_ABI) ?:
	      nla_put_string(skb, RAIDTRACE_A_INFO_VERSION, RAIDTRACE_VERSION) ?:
	      nla_put_u32(skb, RAIDTRACE_A_INFO_NR_TARGETS, raidtrace_targets_count()) ?:
	      nla_put_u32(skb, RAIDTRACE_A_INFO_MAX_TARGETS, RAIDTRACE_MAX_TARGETS) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_INFO_NOW_NS, ktime_get_ns(),
				RAIDTRACE_A_INFO_PAD);
	while (!err && (name = raidtrace_probe_unavailable(&cursor)))
		err = nla_put_string(skb, RAIDTRACE_A_INFO_UNAVAILABLE, name);
	return err;
}

int raidtrace_nl_info_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *abi = info->attrs[RAIDTRACE_A_INFO_ABI];
	struct sk_buff *skb;
	void *header;

	if (abi && nla_get_u32(abi) != RAIDTRACE_ABI) {
		NL_SET_BAD_ATTR(info->extack, abi);
		return raidtrace_refuse(-EPROTONOSUPPORT, info->extack,
					"the module speaks ABI %u, the client ABI %u",
					RAIDTRACE_ABI, nla_get_u32(abi));
	}
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	header = skb ? genlmsg_put_reply(skb, info, &family, 0, info->genlhdr->cmd) : NULL;
	if (!header || put_info(skb)) {
		nlmsg_free(skb);
		return raidtrace_refuse(-ENOMEM, info->extack, "not enough memory for the reply");
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* Add a target. A caller that gets no reply does not know the id, so then nothing is added. */
static int add_target(struct genl_info *info, struct block_device *bdev,
		      struct raidtrace_options *options)
{
	struct raidtrace_target *target = raidtrace_target_add(bdev, options, info->extack);
	int err;

	if (IS_ERR(target))
		return PTR_ERR(target);
	err = reply_target(info, target);
	if (err)
		raidtrace_target_del(target);
	raidtrace_target_put(target);
	return err;
}

/*
 * The block device of an open file (NULL for none) as long as the file is held, or ERR_PTR(-errno).
 * The file shows that the caller may read the device. The module opens nothing: opening waits for
 * the driver, and other callers would wait, too.
 */
static struct block_device *bdev_of_file(struct file *file, struct netlink_ext_ack *extack)
{
	if (!file || !(file->f_mode & FMODE_READ))
		return ERR_PTR(raidtrace_refuse(-EBADF, extack,
						"fd is not a file that is open for reading"));
	if (!S_ISBLK(file_inode(file)->i_mode))
		return ERR_PTR(raidtrace_refuse(-ENOTBLK, extack, "fd is not a block device"));
	return I_BDEV(file->f_mapping->host);
}

int raidtrace_nl_target_add_doit(struct sk_buff *request, struct genl_info *info)
{
	struct raidtrace_options options = {};
	struct nlattr *fd = info->attrs[RAIDTRACE_A_TARGET_FD];
	struct block_device *bdev;
	struct file *file;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RAIDTRACE_A_TARGET_FD))
		return raidtrace_refuse(-EINVAL, info->extack, "the attribute fd is missing");
	err = raidtrace_options_get(info, &options);
	if (err)
		return err;
	file = fget(nla_get_u32(fd));
	bdev = bdev_of_file(file, info->extack);
	err = IS_ERR(bdev) ? PTR_ERR(bdev) : add_target(info, bdev, &options);
	if (file)
		fput(file);
	kfree(options.journal);
	return err;
}

int raidtrace_nl_target_del_doit(struct sk_buff *request, struct genl_info *info)
{
	raidtrace_target_del(info->user_ptr[0]);
	return 0;
}

int raidtrace_nl_target_get_doit(struct sk_buff *request, struct genl_info *info)
{
	return reply_target(info, info->user_ptr[0]);
}

/* Ids only grow: the last one that was sent is the place to continue. */
int raidtrace_nl_target_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct raidtrace_target *target;
	u32 last = cb->args[0];

	mutex_lock(&raidtrace_targets_mutex);
	cb->seq = raidtrace_targets_generation();
	while ((target = raidtrace_target_next(last))) {
		struct nlmsghdr *message = (struct nlmsghdr *)skb_tail_pointer(skb);

		if (put_target(skb, target, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			       NLM_F_MULTI, RAIDTRACE_CMD_TARGET_GET))
			break;
		/* Sets NLM_F_DUMP_INTR when the list has changed since the dump began. */
		nl_dump_check_consistent(cb, message);
		last = target->id;
	}
	mutex_unlock(&raidtrace_targets_mutex);
	cb->args[0] = last;
	return skb->len;
}

int raidtrace_nl_target_reset_doit(struct sk_buff *request, struct genl_info *info)
{
	raidtrace_target_reset(info->user_ptr[0]);
	return 0;
}

int raidtrace_nl_target_set_doit(struct sk_buff *request, struct genl_info *info)
{
	struct raidtrace_target *target = info->user_ptr[0];
	struct raidtrace_journal *journal;
	int err = raidtrace_journal_get(info, &journal);

	if (!err)
		raidtrace_probe_set_journal(&target->probe, journal);
	return err;
}

int raidtrace_nl_counters_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct sk_buff *skb = raidtrace_counters_message(info->user_ptr[0], info, &family,
							 may_observe(request));

	return IS_ERR(skb) ? PTR_ERR(skb) : genlmsg_reply(skb, info);
}

int raidtrace_nl_history_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct sk_buff *skb = raidtrace_history_message(info->user_ptr[0], info, &family);

	return IS_ERR(skb) ? PTR_ERR(skb) : genlmsg_reply(skb, info);
}

static struct genl_family family __ro_after_init = {
	.name = RAIDTRACE_FAMILY_NAME,
	.version = RAIDTRACE_FAMILY_VERSION,
	.module = THIS_MODULE,
	/* Adding a target takes milliseconds; other families do not wait. */
	.parallel_ops = true,
	.ops = raidtrace_nl_ops,
	.n_ops = ARRAY_SIZE(raidtrace_nl_ops),
	.pre_doit = before_request,
	.post_doit = after_request,
};

/* Register the family. Returns 0 or -errno. */
int __init raidtrace_netlink_init(void)
{
	return genl_register_family(&family);
}

/* Unregister the family. No request runs after this, and none can come. */
void raidtrace_netlink_exit(void)
{
	genl_unregister_family(&family);
}
