// SPDX-License-Identifier: GPL-2.0-only
/* The reply to counters-get: one message, one snapshot. */
#include "netlink-counters.h"
#include "compat.h"
#include "target.h"

#include <linux/build_bug.h>
#include <net/genetlink.h>

#define NR_DIRECTIONS	(RAIDTRACE_DIRECTION_MAX + 1)
#define NR_KINDS	(RAIDTRACE_HISTOGRAM_KIND_MAX + 1)

/* Attribute of each u64 of struct raidtrace_flow. */
static const struct {
	unsigned short attr;
	unsigned short offset;
} flow_attrs[] = {
#define FLOW(attr, member) { RAIDTRACE_A_FLOW_##attr, offsetof(struct raidtrace_flow, member) }
	FLOW(ISSUED, issued),
	FLOW(REQUEUED, requeued),
	FLOW(REQUEUED_UNISSUED, requeued_unissued),
	FLOW(COMPLETED, completed),
	FLOW(PARTIAL, partial),
	FLOW(ERRORS, errors),
	FLOW(UNMATCHED, unmatched),
	FLOW(UNISSUED, unissued),
	FLOW(ABANDONED, abandoned),
	FLOW(BYTES_ISSUED, bytes_issued),
	FLOW(BYTES_COMPLETED, bytes_completed),
	FLOW(SEQUENTIAL, sequential),
	FLOW(SEEK_FORWARD_SECTORS, seek_forward_sectors),
	FLOW(SEEK_BACKWARD_SECTORS, seek_backward_sectors),
	FLOW(D2C_SUM_NS, d2c_sum_ns),
#undef FLOW
};

static_assert(ARRAY_SIZE(flow_attrs) * sizeof(u64) == sizeof(struct raidtrace_flow));

static const unsigned short queue_attrs[RAIDTRACE_QUEUE_COUNTERS] = {
	[RAIDTRACE_QUEUED] = RAIDTRACE_A_FLOW_QUEUED,
	[RAIDTRACE_BYTES_QUEUED] = RAIDTRACE_A_FLOW_BYTES_QUEUED,
	[RAIDTRACE_GOT] = RAIDTRACE_A_FLOW_GOT,
	[RAIDTRACE_BACK_MERGES] = RAIDTRACE_A_FLOW_BACK_MERGES,
	[RAIDTRACE_FRONT_MERGES] = RAIDTRACE_A_FLOW_FRONT_MERGES,
	[RAIDTRACE_REQUEST_MERGES] = RAIDTRACE_A_FLOW_REQUEST_MERGES,
	[RAIDTRACE_SPLITS] = RAIDTRACE_A_FLOW_SPLITS,
	[RAIDTRACE_INSERTED] = RAIDTRACE_A_FLOW_INSERTED,
};

/* Room that one u64 takes, alignment included. */
#define U64_ROOM	(nla_total_size_64bit(sizeof(u64)))
#define FLOW_ROOM	(nla_total_size(0) + (RAIDTRACE_A_FLOW_MAX + 1) * U64_ROOM)
#define HISTOGRAM_ROOM	(nla_total_size(0) + 4 * nla_total_size(sizeof(u32)))

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, RAIDTRACE_A_FLOW_PAD);
}

/* A counter whose tracepoint this kernel lacks is left out: it is not zero, it is not known. */
static int put_queued(struct sk_buff *skb, const struct raidtrace_target *target,
		      const u64 *counter)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < RAIDTRACE_QUEUE_COUNTERS && !err; i++) {
		if (raidtrace_probe_counts(i, target->bio_based))
			err = put_u64(skb, queue_attrs[i], counter[i]);
	}
	return err;
}

static int put_issued(struct sk_buff *skb, const struct raidtrace_flow *flow)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(flow_attrs) && !err; i++)
		err = put_u64(skb, flow_attrs[i].attr,
			      *(const u64 *)((const char *)flow + flow_attrs[i].offset));
	return err;
}

static int put_in_flight(struct sk_buff *skb, const struct raidtrace_queue *state,
			 enum raidtrace_direction direction)
{
	return nla_put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT, state->in_flight[direction]) ?:
	       nla_put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX, state->in_flight_max[direction]);
}

static int put_flow(struct sk_buff *skb, const struct raidtrace_target *target,
		    const struct raidtrace_snapshot *snapshot, enum raidtrace_direction direction)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_FLOW);
	bool single = direction < RAIDTRACE_DIRECTIONS;
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_FLOW_DIRECTION, direction);
	if (!err && single)
		err = put_queued(skb, target, snapshot->queued.count[direction]);
	if (!err && single && snapshot->account)
		err = put_issued(skb, &snapshot->account->flow[direction]) ?:
		      put_u64(skb, RAIDTRACE_A_FLOW_CARRIED, snapshot->state.carried[direction]);
	if (!err && snapshot->account)
		err = put_in_flight(skb, &snapshot->state, direction);
	nla_nest_end(skb, nest);
	return err;
}

/* The bins from the first to the last that is not zero. */
static const u64 *used_bins(const struct raidtrace_snapshot *snapshot,
			    enum raidtrace_histogram_kind kind,
			    enum raidtrace_direction direction, u32 *first, u32 *nr)
{
	const u64 *bins = raidtrace_account_bins(snapshot->account, kind, direction);
	u32 end = raidtrace_hist_bins(kind);
	u32 begin = 0;

	if (!bins)
		return NULL;
	while (end && !bins[end - 1])
		end--;
	if (!end)
		return NULL;
	while (!bins[begin])
		begin++;
	*first = begin;
	*nr = end - begin;
	return bins + begin;
}

static int put_histogram(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot,
			 enum raidtrace_histogram_kind kind, enum raidtrace_direction direction)
{
	struct nlattr *nest;
	const u64 *bins;
	u32 first, nr;
	int err;

	bins = used_bins(snapshot, kind, direction, &first, &nr);
	if (!bins)
		return 0;
	nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_HISTOGRAM);
	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_KIND, kind) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_DIRECTION, direction) ?:
	      nla_put_u32(skb, RAIDTRACE_A_HISTOGRAM_FIRST_BIN, first) ?:
	      nla_put(skb, RAIDTRACE_A_HISTOGRAM_COUNTS, nr * sizeof(*bins), bins);
	nla_nest_end(skb, nest);
	return err;
}

static size_t message_room(const struct raidtrace_snapshot *snapshot)
{
	size_t room = (RAIDTRACE_A_COUNTERS_MAX + 1) * U64_ROOM + NR_DIRECTIONS * FLOW_ROOM;
	unsigned int kind, direction;
	u32 first, nr;

	if (!snapshot->account)
		return room;
	for (kind = 0; kind < NR_KINDS; kind++) {
		for (direction = 0; direction < NR_DIRECTIONS; direction++) {
			if (used_bins(snapshot, kind, direction, &first, &nr))
				room += HISTOGRAM_ROOM + nla_total_size(nr * sizeof(u64));
		}
	}
	return room;
}

static int put_head(struct sk_buff *skb, struct raidtrace_target *target,
		    const struct raidtrace_snapshot *snapshot)
{
	struct raidtrace_limits limits;
	int err;

	raidtrace_target_limits(target, &limits);
	err = nla_put_u32(skb, RAIDTRACE_A_COUNTERS_ID, target->id) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_SINCE_NS, snapshot->since_ns,
				RAIDTRACE_A_COUNTERS_PAD) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_NOW_NS, snapshot->now_ns,
				RAIDTRACE_A_COUNTERS_PAD) ?:
	      nla_put_u32(skb, RAIDTRACE_A_COUNTERS_RESETS, target->resets) ?:
	      nla_put_u32(skb, RAIDTRACE_A_COUNTERS_STATE, limits.state);
	if (err || limits.state == RAIDTRACE_STATE_GONE)
		return err;
	return nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS,
				 limits.readahead_sectors, RAIDTRACE_A_COUNTERS_PAD);
}

static int put_counters(struct sk_buff *skb, struct raidtrace_target *target,
			const struct raidtrace_snapshot *snapshot)
{
	unsigned int kind, direction;
	int err = put_head(skb, target, snapshot);

	for (direction = 0; direction < NR_DIRECTIONS && !err; direction++)
		err = put_flow(skb, target, snapshot, direction);
	if (!snapshot->account)
		return err;
	for (kind = 0; kind < NR_KINDS; kind++) {
		for (direction = 0; direction < NR_DIRECTIONS && !err; direction++)
			err = put_histogram(skb, snapshot, kind, direction);
	}
	return err;
}

/**
 * raidtrace_counters_message() - snapshot of a target as the reply to a request
 * @target: to take the snapshot of
 * @info: the request
 * @family: of the message
 *
 * Return: the message or ERR_PTR(-errno), with the reason in @info. Context:
 * process, holds raidtrace_targets_lock().
 */
struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family)
{
	struct raidtrace_snapshot *snapshot = kmalloc(sizeof(*snapshot), GFP_KERNEL);
	struct sk_buff *skb = NULL;
	void *header = NULL;

	if (snapshot) {
		raidtrace_target_snapshot(target, snapshot);
		skb = genlmsg_new(message_room(snapshot), GFP_KERNEL);
	}
	if (skb)
		header = genlmsg_put_reply(skb, info, family, 0, info->genlhdr->cmd);
	if (!header || put_counters(skb, target, snapshot)) {
		nlmsg_free(skb);
		kfree(snapshot);
		raidtrace_refuse(info->extack, "not enough memory for the reply");
		return ERR_PTR(-ENOMEM);
	}
	kfree(snapshot);
	genlmsg_end(skb, header);
	return skb;
}
