// SPDX-License-Identifier: GPL-2.0-or-later

/* The module as a source: the requests to raidtrace.ko, one function for each. */

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netlink.h>

#include "internal.h"

static int info_get(struct rt_client *client, struct rt_info *ret)
{
	struct nl_msg *msg = rt_request(client, RAIDTRACE_CMD_INFO_GET,
					NLM_F_ACK);

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	return rt_exchange(client, msg, rt_parse_info, ret);
}

static int put_extent(struct nl_msg *msg, const struct rt_extent *extent)
{
	struct nlattr *nest = nla_nest_start(msg, RAIDTRACE_A_TARGET_JOURNAL);

	if (!nest ||
	    nla_put_u64(msg, RAIDTRACE_A_EXTENT_SECTOR, extent->sector) ||
	    nla_put_u64(msg, RAIDTRACE_A_EXTENT_NR_SECTORS, extent->nr_sectors))
		return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_options(struct nl_msg *msg, const struct rt_options *options)
{
	if (options->groups &&
	    nla_put_u32(msg, RAIDTRACE_A_TARGET_GROUPS, options->groups))
		return -ENOMEM;
	if (options->streams &&
	    nla_put_u32(msg, RAIDTRACE_A_TARGET_STREAMS, options->streams))
		return -ENOMEM;
	if (options->history &&
	    nla_put_u64(msg, RAIDTRACE_A_TARGET_HISTORY_NS, options->history_ns))
		return -ENOMEM;
	for (size_t i = 0; i < options->nr_journal; i++)
		if (put_extent(msg, &options->journal[i]))
			return -ENOMEM;
	return 0;
}

static int target_add(struct rt_client *client, int fd,
		      const struct rt_options *options, struct rt_target *ret)
{
	struct nl_msg *msg = rt_request(client, RAIDTRACE_CMD_TARGET_ADD,
					NLM_F_ACK);
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	if (nla_put_u32(msg, RAIDTRACE_A_TARGET_FD, (uint32_t)fd) ||
	    (options && put_options(msg, options))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	err = rt_exchange(client, msg, rt_parse_target, ret);
	if (!err)
		rt_target_describe(ret);
	return err;
}

/* A request with the target's id as its only attribute. */
static struct nl_msg *new_id_request(struct rt_client *client, uint8_t command,
				     int flags, int attribute, uint32_t id)
{
	struct nl_msg *msg = rt_request(client, command, flags);

	if (msg && nla_put_u32(msg, attribute, id)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int target_del(struct rt_client *client, uint32_t id)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_DEL, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	return msg ? rt_exchange(client, msg, NULL, NULL) : -ENOMEM;
}

static int target_set_journal(struct rt_client *client, uint32_t id,
			      const struct rt_extent *journal, size_t nr)
{
	struct rt_options options = { .journal = journal, .nr_journal = nr };
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_SET, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	if (msg && put_options(msg, &options)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg ? rt_exchange(client, msg, NULL, NULL) : -ENOMEM;
}

static int target_reset(struct rt_client *client, uint32_t id)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_TARGET_RESET, NLM_F_ACK,
					    RAIDTRACE_A_TARGET_ID, id);

	return msg ? rt_exchange(client, msg, NULL, NULL) : -ENOMEM;
}

/* Targets of a dump so far. */
struct target_array {
	struct rt_target *targets;
	size_t nr;
};

static int parse_target_of_dump(struct nlmsghdr *nlh, void *ret)
{
	struct target_array *array = ret;
	struct rt_target *more = reallocarray(array->targets, array->nr + 1,
					      sizeof(*more));

	if (!more)
		return -ENOMEM;
	array->targets = more;
	memset(&more[array->nr], 0, sizeof(*more));
	return rt_parse_target(nlh, &more[array->nr++]);
}

static int compare_targets(const void *a, const void *b)
{
	uint32_t x = ((const struct rt_target *)a)->id;
	uint32_t y = ((const struct rt_target *)b)->id;

	return (x > y) - (x < y);
}

static int target_list(struct rt_client *client, size_t *nr,
		       struct rt_target **ret)
{
	struct target_array array;
	struct nl_msg *msg;
	int err;

	/* A dump that a change cut in two is taken again. */
	do {
		memset(&array, 0, sizeof(array));
		msg = rt_request(client, RAIDTRACE_CMD_TARGET_GET,
				 NLM_F_DUMP);
		if (!msg)
			return -ENOMEM;
		err = rt_exchange(client, msg, parse_target_of_dump, &array);
		if (err)
			free(array.targets);
	} while (err == -EINTR);
	if (err)
		return err;
	if (array.nr)
		qsort(array.targets, array.nr, sizeof(*array.targets),
		      compare_targets);
	for (size_t i = 0; i < array.nr; i++)
		rt_target_describe(&array.targets[i]);
	*nr = array.nr;
	*ret = array.targets;
	return 0;
}

static int counters_get(struct rt_client *client, uint32_t id,
			struct rt_counters *ret)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_COUNTERS_GET, 0,
					    RAIDTRACE_A_COUNTERS_ID, id);
	int err;

	memset(ret, 0, sizeof(*ret));
	if (!msg)
		return -ENOMEM;
	err = rt_exchange(client, msg, rt_parse_counters, ret);
	if (err)
		rt_counters_free(ret);
	return err;
}

/* The reply contains the counters that changed. @last is updated only after the whole reply was parsed. */
static int counters_advance(struct rt_client *client, uint32_t id,
			    struct rt_counters *last, struct rt_counters *span)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_COUNTERS_GET, 0,
					    RAIDTRACE_A_COUNTERS_ID, id);
	struct rt_advance advance = { .last = last };
	int err;

	if (msg && last->snapshot &&
	    nla_put_u64(msg, RAIDTRACE_A_COUNTERS_SNAPSHOT, last->snapshot)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	err = msg ? rt_exchange(client, msg, rt_parse_advance, &advance) : -ENOMEM;
	/* Large structures are set once: a recorder does this for each sample of a disk. */
	if (!err)
		err = rt_advance_apply(&advance, last, span);
	else
		memset(span, 0, sizeof(*span));
	if (err)
		rt_counters_free(&advance.now);
	return err;
}

static int history_get(struct rt_client *client, uint32_t id, uint64_t after,
		       struct rt_history *ret)
{
	struct nl_msg *msg = new_id_request(client, RAIDTRACE_CMD_HISTORY_GET, 0,
					    RAIDTRACE_A_HISTORY_ID, id);

	memset(ret, 0, sizeof(*ret));
	if (msg && nla_put_u64(msg, RAIDTRACE_A_HISTORY_AFTER, after)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg ? rt_exchange(client, msg, rt_parse_history, ret) : -ENOMEM;
}

const struct rt_source rt_module_source = {
	.name = "module",
	.info_get = info_get,
	.target_add = target_add,
	.target_del = target_del,
	.target_set_journal = target_set_journal,
	.target_reset = target_reset,
	.target_list = target_list,
	.counters_get = counters_get,
	.counters_advance = counters_advance,
	.history_get = history_get,
	.close = rt_exchange_close,
};
