// SPDX-License-Identifier: GPL-2.0-or-later

/* The last requests of a disk that ended: the requests for them, and what answers say. */

#include "exchange.h"

#include <errno.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

static int parse_ended(struct nlattr *nest, struct rt_history *history)
{
	struct nlattr *attrs[RAIDTRACE_A_ENDED_MAX + 1];
	struct rt_ended *e;

	if (history->nr == RT_HISTORY_MOST ||
	    nla_parse_nested(attrs, RAIDTRACE_A_ENDED_MAX, nest, NULL))
		return -EBADMSG;
	e = &history->ended[history->nr];
	*e = (struct rt_ended){
		.number = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_NUMBER]),
		.queued_ns = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_QUEUED_NS]),
		.inserted_ns = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_INSERTED_NS]),
		.issued_ns = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_ISSUED_NS]),
		.completed_ns = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_COMPLETED_NS]),
		.sector = rt_attr_u64(attrs[RAIDTRACE_A_ENDED_SECTOR]),
		.bytes = rt_attr_u32(attrs[RAIDTRACE_A_ENDED_BYTES]),
		.direction = rt_attr_u32(attrs[RAIDTRACE_A_ENDED_DIRECTION]),
		.class_ = rt_attr_u32(attrs[RAIDTRACE_A_ENDED_CLASS]),
		.depth = rt_attr_u32(attrs[RAIDTRACE_A_ENDED_DEPTH]),
		.known = attrs[RAIDTRACE_A_ENDED_PID],
		.pid = rt_attr_u32(attrs[RAIDTRACE_A_ENDED_PID]),
		.error = attrs[RAIDTRACE_A_ENDED_ERROR],
		.again = attrs[RAIDTRACE_A_ENDED_AGAIN],
	};
	if (!e->number || e->direction >= RAIDTRACE_DIRECTION_ALL ||
	    e->class_ >= RT_CLASSES || e->issued_ns > e->completed_ns)
		return -EBADMSG;
	if (attrs[RAIDTRACE_A_ENDED_COMM])
		nla_strlcpy(e->comm, attrs[RAIDTRACE_A_ENDED_COMM], sizeof(e->comm));
	history->nr++;
	return 0;
}

int rt_parse_history(struct nlmsghdr *nlh, void *ret)
{
	struct nlattr *attrs[RAIDTRACE_A_HISTORY_MAX + 1], *attr;
	struct rt_history *history = ret;
	int rest, err = 0;

	if (genlmsg_parse(nlh, 0, attrs, RAIDTRACE_A_HISTORY_MAX, NULL) ||
	    !attrs[RAIDTRACE_A_HISTORY_NR])
		return -EBADMSG;
	history->total = rt_attr_u64(attrs[RAIDTRACE_A_HISTORY_NR]);
	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rest)
		if (!err && nla_type(attr) == RAIDTRACE_A_HISTORY_ENDED)
			err = parse_ended(attr, history);
	return err;
}

int rt_history_get(struct rt_client *client, uint32_t id, uint64_t after,
		   struct rt_history *ret)
{
	struct nl_msg *msg = rt_request(client, RAIDTRACE_CMD_HISTORY_GET, 0);

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	if (nla_put_u32(msg, RAIDTRACE_A_HISTORY_ID, id) ||
	    nla_put_u64(msg, RAIDTRACE_A_HISTORY_AFTER, after)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return rt_exchange(client, msg, rt_parse_history, ret);
}
