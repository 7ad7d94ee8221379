// SPDX-License-Identifier: GPL-2.0-only
/* The last requests of a target that ended, in messages. */
#include "netlink.h"
#include "compat.h"
#include "target.h"

#include <linux/slab.h>
#include <net/genetlink.h>

/* Requests with all their attributes that fit a message of two pages. */
#define MESSAGE_BYTES	SKB_WITH_OVERHEAD(8192)
#define MOST_ENDED	32

static int put_time(struct sk_buff *skb, int attr, u64 ns)
{
	return ns ? nla_put_u64_64bit(skb, attr, ns, RAIDTRACE_A_ENDED_PAD) : 0;
}

static int put_process(struct sk_buff *skb, const struct raidtrace_known_ended *known)
{
	char comm[TASK_COMM_LEN];
	int err;

	if (!known->ended.queued_ns || known->ended.row == RAIDTRACE_SUBMITTER_REST)
		return 0;
	err = nla_put_u32(skb, RAIDTRACE_A_ENDED_PID, known->ended.pid);
	if (err || !known->named)
		return err;
	strscpy(comm, (const char *)known->task.comm, sizeof(comm));
	return nla_put_string(skb, RAIDTRACE_A_ENDED_COMM, comm);
}

static int put_request(struct sk_buff *skb, const struct raidtrace_known_ended *known)
{
	const struct raidtrace_ended *ended = &known->ended;

	return nla_put_u64_64bit(skb, RAIDTRACE_A_ENDED_NUMBER, known->number,
				 RAIDTRACE_A_ENDED_PAD) ?:
	       put_time(skb, RAIDTRACE_A_ENDED_QUEUED_NS, ended->queued_ns) ?:
	       put_time(skb, RAIDTRACE_A_ENDED_INSERTED_NS, ended->inserted_ns) ?:
	       put_time(skb, RAIDTRACE_A_ENDED_ISSUED_NS, ended->issued_ns) ?:
	       put_time(skb, RAIDTRACE_A_ENDED_COMPLETED_NS, ended->completed_ns) ?:
	       nla_put_u64_64bit(skb, RAIDTRACE_A_ENDED_SECTOR, ended->sector,
				 RAIDTRACE_A_ENDED_PAD) ?:
	       nla_put_u32(skb, RAIDTRACE_A_ENDED_BYTES, ended->bytes) ?:
	       nla_put_u32(skb, RAIDTRACE_A_ENDED_DIRECTION, ended->direction) ?:
	       nla_put_u32(skb, RAIDTRACE_A_ENDED_CLASS, ended->class) ?:
	       nla_put_u32(skb, RAIDTRACE_A_ENDED_DEPTH, ended->depth) ?:
	       (ended->error ? nla_put_flag(skb, RAIDTRACE_A_ENDED_ERROR) : 0) ?:
	       (ended->again ? nla_put_flag(skb, RAIDTRACE_A_ENDED_AGAIN) : 0) ?:
	       put_process(skb, known);
}

static int put_ended(struct sk_buff *skb, const struct raidtrace_known_ended *known)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_HISTORY_ENDED);
	int err = nest ? put_request(skb, known) : -EMSGSIZE;

	if (err)
		nla_nest_cancel(skb, nest);
	else
		nla_nest_end(skb, nest);
	return err;
}

/* The message, NULL without memory. */
static struct sk_buff *message_of(struct genl_info *info, const struct genl_family *family, u32 id,
				  u64 last, const struct raidtrace_known_ended *known,
				  unsigned int nr)
{
	struct sk_buff *skb = nlmsg_new(MESSAGE_BYTES - NLMSG_HDRLEN, GFP_KERNEL);
	unsigned int i;
	void *header;
	int err;

	if (!skb)
		return NULL;
	header = genlmsg_put_reply(skb, info, family, 0, info->genlhdr->cmd);
	err = !header ? -EMSGSIZE :
	      nla_put_u32(skb, RAIDTRACE_A_HISTORY_ID, id) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_HISTORY_NR, last, RAIDTRACE_A_HISTORY_PAD);
	for (i = 0; i < nr && !err; i++)
		err = put_ended(skb, &known[i]);
	if (err) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, header);
	return skb;
}

static int refuse_without(const struct raidtrace_target *target, struct genl_info *info)
{
	if (target->bio_based)
		return raidtrace_refuse(-EOPNOTSUPP, info->extack,
					"%s has no requests, only bios: name the disks below it",
					target->name);
	if (!target->probe.engine.history)
		return raidtrace_refuse(-EOPNOTSUPP, info->extack,
					"%s was attached without a history of its requests",
					target->name);
	return 0;
}

/*
 * Requests of a target's history as the reply to a request, or ERR_PTR(-errno) with the reason in
 * @info. Context: process, target's lock.
 */
struct sk_buff *raidtrace_history_message(struct raidtrace_target *target, struct genl_info *info,
					  const struct genl_family *family)
{
	struct nlattr *after = info->attrs[RAIDTRACE_A_HISTORY_AFTER];
	struct raidtrace_known_ended *known;
	struct sk_buff *skb = NULL;
	unsigned int nr;
	u64 last;
	int err = refuse_without(target, info);

	if (err)
		return ERR_PTR(err);
	known = kvmalloc_array(MOST_ENDED, sizeof(*known), GFP_KERNEL);
	if (known) {
		nr = raidtrace_probe_history(&target->probe, after ? nla_get_u64(after) : 0, known,
					     MOST_ENDED, &last);
		skb = message_of(info, family, target->id, last, known, nr);
	}
	kvfree(known);
	if (skb)
		return skb;
	return ERR_PTR(raidtrace_refuse(-ENOMEM, info->extack,
					"not enough memory for the reply"));
}
