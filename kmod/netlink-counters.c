// SPDX-License-Identifier: GPL-2.0-only
/* The reply to counters-get: one message, one snapshot. */
#include "netlink-counters.h"
#include "compat.h"
#include "netlink-histograms.h"
#include "netlink-owners.h"
#include "target.h"

#include <linux/build_bug.h>
#include <net/genetlink.h>

#define NR_DIRECTIONS	(RAIDTRACE_DIRECTION_MAX + 1)

/* Attribute of each u64 of struct raidtrace_flow, its group, and whether bios alone give it. */
static const struct {
	unsigned short attr;
	unsigned short offset;
	u16 group;
	bool bios;
} flow_attrs[] = {
#define FLOW(attr, member, group, bios) \
	{ RAIDTRACE_A_FLOW_##attr, offsetof(struct raidtrace_flow, member), \
	  RAIDTRACE_GROUP_##group, bios }
	FLOW(QUEUED, queued, FLOW, true),
	FLOW(BYTES_QUEUED, bytes_queued, FLOW, true),
	FLOW(AHEAD_QUEUED, ahead_queued, READAHEAD, true),
	FLOW(BYTES_AHEAD_QUEUED, bytes_ahead_queued, READAHEAD, true),
	FLOW(SEQUENTIAL_QUEUED, sequential_queued, SEEK, true),
	FLOW(SEEK_QUEUED_FORWARD_SECTORS, seek_queued_forward_sectors, SEEK, true),
	FLOW(SEEK_QUEUED_BACKWARD_SECTORS, seek_queued_backward_sectors, SEEK, true),
	FLOW(STREAM_QUEUED, stream_queued, STREAM, true),
	FLOW(REFUSED, refused, FLOW, true),
	FLOW(Q2C_SUM_NS, q2c_sum_ns, LATENCY, true),
	FLOW(Q2C_UNKNOWN, q2c_unknown, LATENCY, true),
	FLOW(ISSUED, issued, FLOW, false),
	FLOW(REISSUED, reissued, FLOW, false),
	FLOW(BYTES_ISSUED, bytes_issued, FLOW, false),
	FLOW(SEQUENTIAL, sequential, SEEK, false),
	FLOW(SEEK_FORWARD_SECTORS, seek_forward_sectors, SEEK, false),
	FLOW(SEEK_BACKWARD_SECTORS, seek_backward_sectors, SEEK, false),
	FLOW(STREAM, stream, STREAM, false),
	FLOW(I2D_SUM_NS, i2d_sum_ns, LATENCY, false),
	FLOW(REQUEUED, requeued, FLOW, false),
	FLOW(REQUEUED_UNISSUED, requeued_unissued, FLOW, false),
	FLOW(COMPLETED, completed, FLOW, false),
	FLOW(BYTES_COMPLETED, bytes_completed, FLOW, false),
	FLOW(D2C_SUM_NS, d2c_sum_ns, FLOW, false),
	FLOW(PARTIAL, partial, FLOW, false),
	FLOW(ERRORS, errors, FLOW, false),
	FLOW(UNMATCHED, unmatched, FLOW, false),
	FLOW(UNISSUED, unissued, FLOW, false),
	FLOW(ABANDONED, abandoned, FLOW, false),
#undef FLOW
};

static_assert(ARRAY_SIZE(flow_attrs) * sizeof(u64) == sizeof(struct raidtrace_flow));

static const unsigned short queue_attrs[RAIDTRACE_QUEUE_COUNTERS] = {
	[RAIDTRACE_GOT] = RAIDTRACE_A_FLOW_GOT,
	[RAIDTRACE_BACK_MERGES] = RAIDTRACE_A_FLOW_BACK_MERGES,
	[RAIDTRACE_FRONT_MERGES] = RAIDTRACE_A_FLOW_FRONT_MERGES,
	[RAIDTRACE_REQUEST_MERGES] = RAIDTRACE_A_FLOW_REQUEST_MERGES,
	[RAIDTRACE_SPLITS] = RAIDTRACE_A_FLOW_SPLITS,
	[RAIDTRACE_INSERTED] = RAIDTRACE_A_FLOW_INSERTED,
};

static const struct {
	unsigned short attr;
	u16 group;
} disk_attrs[RAIDTRACE_DISK_COUNTERS] = {
	[RAIDTRACE_PLUGS] = { RAIDTRACE_A_COUNTERS_PLUGS, RAIDTRACE_GROUP_PLUG },
	[RAIDTRACE_UNPLUGS_EXPLICIT] = { RAIDTRACE_A_COUNTERS_UNPLUGS_EXPLICIT,
					 RAIDTRACE_GROUP_PLUG },
	[RAIDTRACE_UNPLUGS_SCHEDULE] = { RAIDTRACE_A_COUNTERS_UNPLUGS_SCHEDULE,
					 RAIDTRACE_GROUP_PLUG },
	[RAIDTRACE_TAG_WAITS] = { RAIDTRACE_A_COUNTERS_TAG_WAITS, RAIDTRACE_GROUP_PLUG },
	[RAIDTRACE_RA_SYNC_SECTORS] = { RAIDTRACE_A_COUNTERS_RA_SYNC_SECTORS,
					RAIDTRACE_GROUP_READAHEAD },
	[RAIDTRACE_RA_ASYNC_SECTORS] = { RAIDTRACE_A_COUNTERS_RA_ASYNC_SECTORS,
					 RAIDTRACE_GROUP_READAHEAD },
};

/* Room that one u64 takes, alignment included. */
#define U64_ROOM	(nla_total_size_64bit(sizeof(u64)))
/* More than all counters take, however many pieces they are in. */
#define MOST_ROOM	(8 * sizeof(struct raidtrace_account))

#define FLOW_ROOM	(nla_total_size(0) + (RAIDTRACE_A_FLOW_MAX + 1) * U64_ROOM)

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

static int put_counted(struct sk_buff *skb, const struct raidtrace_target *target,
		       const struct raidtrace_flow *flow)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(flow_attrs) && !err; i++) {
		if (flow_attrs[i].group & target->options.groups &&
		    (flow_attrs[i].bios || !target->bio_based))
			err = put_u64(skb, flow_attrs[i].attr,
				      *(const u64 *)((const char *)flow + flow_attrs[i].offset));
	}
	return err;
}

/* Depth over time is followed of some directions alone. */
static int put_depth_sum(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot,
			 enum raidtrace_direction direction)
{
	const u64 *sum = snapshot->account->depth_sum_ns;

	switch (direction) {
	case RAIDTRACE_DIRECTION_READ:
		return put_u64(skb, RAIDTRACE_A_FLOW_DEPTH_SUM_NS, sum[RAIDTRACE_DEPTH_READ]);
	case RAIDTRACE_DIRECTION_WRITE:
		return put_u64(skb, RAIDTRACE_A_FLOW_DEPTH_SUM_NS, sum[RAIDTRACE_DEPTH_WRITE]);
	case RAIDTRACE_DIRECTION_ALL:
		return put_u64(skb, RAIDTRACE_A_FLOW_DEPTH_SUM_NS, sum[RAIDTRACE_DEPTH_ALL]);
	default:
		return 0;
	}
}

static int put_in_flight(struct sk_buff *skb, const struct raidtrace_target *target,
			 const struct raidtrace_snapshot *snapshot,
			 enum raidtrace_direction direction)
{
	const struct raidtrace_queue *state = &snapshot->state.queue;
	int err = nla_put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT, state->in_flight[direction]) ?:
		  nla_put_u32(skb, RAIDTRACE_A_FLOW_IN_FLIGHT_MAX,
			      state->in_flight_max[direction]);

	if (!err && target->options.groups & RAIDTRACE_GROUP_DEPTH)
		err = put_depth_sum(skb, snapshot, direction);
	return err;
}

/* What lies beside a flow that changed seems to have changed too; most flows never did. */
static bool is_flow_changed(const struct raidtrace_snapshot *snapshot,
			    enum raidtrace_direction direction)
{
	const u64 *flow = (const u64 *)&snapshot->account->flow[direction];
	const u64 *queued = snapshot->account->queue[direction];
	unsigned int counters = sizeof(snapshot->account->flow[direction]) / sizeof(u64);

	if (!snapshot->base)
		return true;
	return (raidtrace_snapshot_changed(snapshot, flow, counters) && raidtrace_any(flow, counters)) ||
	       (raidtrace_snapshot_changed(snapshot, queued, RAIDTRACE_QUEUE_COUNTERS) &&
		raidtrace_any(queued, RAIDTRACE_QUEUE_COUNTERS));
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
		err = put_queued(skb, target, snapshot->account->queue[direction]) ?:
		      put_counted(skb, target, &snapshot->account->flow[direction]);
	if (!err && single && !target->bio_based)
		err = put_u64(skb, RAIDTRACE_A_FLOW_CARRIED, snapshot->state.queue.carried[direction]);
	if (!err && !target->bio_based)
		err = put_in_flight(skb, target, snapshot, direction);
	nla_nest_end(skb, nest);
	return err;
}

static int put_streams(struct sk_buff *skb, const struct raidtrace_target *target,
		       const struct raidtrace_snapshot *snapshot)
{
	const struct raidtrace_streams *streams = &snapshot->state.queue.streams;
	int err;

	if (!(target->options.groups & RAIDTRACE_GROUP_STREAM))
		return 0;
	err = nla_put_u32(skb, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE_QUEUED,
			  snapshot->state.streams_alive) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_STREAMS_FORGOTTEN_QUEUED,
				snapshot->state.streams_forgotten, RAIDTRACE_A_COUNTERS_PAD);
	if (err || target->bio_based)
		return err;
	return nla_put_u32(skb, RAIDTRACE_A_COUNTERS_STREAMS_ALIVE,
			   raidtrace_streams_alive(streams, snapshot->now_ns)) ?:
	       nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_STREAMS_FORGOTTEN, streams->forgotten,
				 RAIDTRACE_A_COUNTERS_PAD);
}

static int put_undirected(struct sk_buff *skb, const struct raidtrace_target *target,
			  const struct raidtrace_snapshot *snapshot)
{
	u32 groups = target->options.groups;
	unsigned int i;
	int err = 0;

	for (i = 0; i < RAIDTRACE_DISK_COUNTERS && !err; i++) {
		if (disk_attrs[i].group & groups &&
		    raidtrace_probe_counts_disk(i, target->bio_based))
			err = nla_put_u64_64bit(skb, disk_attrs[i].attr, snapshot->account->disk[i],
						RAIDTRACE_A_COUNTERS_PAD);
	}
	return err ?: put_streams(skb, target, snapshot);
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
	      nla_put_u32(skb, RAIDTRACE_A_COUNTERS_STATE, limits.state) ?:
	      nla_put_u32(skb, RAIDTRACE_A_COUNTERS_GROUPS, target->options.groups) ?:
	      nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_SNAPSHOT, snapshot->number,
				RAIDTRACE_A_COUNTERS_PAD);
	if (!err && snapshot->base)
		err = nla_put_flag(skb, RAIDTRACE_A_COUNTERS_PARTIAL);
	if (err || limits.state == RAIDTRACE_STATE_GONE)
		return err;
	return nla_put_u64_64bit(skb, RAIDTRACE_A_COUNTERS_READAHEAD_SECTORS,
				 limits.readahead_sectors, RAIDTRACE_A_COUNTERS_PAD);
}

/* How many are in flight changes with what is counted of a direction, and with nothing else. */
static int put_flows(struct sk_buff *skb, const struct raidtrace_target *target,
		     const struct raidtrace_snapshot *snapshot)
{
	enum raidtrace_direction direction;
	bool any = !snapshot->base;
	int err = 0;

	for (direction = 0; direction < RAIDTRACE_DIRECTIONS && !err; direction++) {
		if (!is_flow_changed(snapshot, direction))
			continue;
		any = true;
		err = put_flow(skb, target, snapshot, direction);
	}
	return err || !any ? err : put_flow(skb, target, snapshot, RAIDTRACE_DIRECTION_ALL);
}

static size_t whole_room(const struct raidtrace_target *target,
			 struct raidtrace_snapshot *snapshot)
{
	return (RAIDTRACE_A_COUNTERS_MAX + 1) * U64_ROOM + NR_DIRECTIONS * FLOW_ROOM +
	       raidtrace_owners_room(target, snapshot) +
	       raidtrace_histograms_room(target, snapshot);
}

static int put_counters(struct sk_buff *skb, struct raidtrace_target *target,
			const struct raidtrace_snapshot *snapshot)
{
	return put_head(skb, target, snapshot) ?:
	       put_undirected(skb, target, snapshot) ?:
	       put_flows(skb, target, snapshot) ?:
	       raidtrace_owners_put(skb, target, snapshot) ?:
	       raidtrace_histograms_put(skb, target, snapshot);
}

/* The message, NULL when memory is short, ERR_PTR(-EMSGSIZE) when @room is too small. */
static struct sk_buff *message_of(struct raidtrace_target *target,
				  const struct raidtrace_snapshot *snapshot,
				  struct genl_info *info, const struct genl_family *family,
				  size_t room)
{
	/* More than a few pages in one piece may take the kernel some trouble. */
	struct sk_buff *skb = genlmsg_new(room, GFP_KERNEL | __GFP_RETRY_MAYFAIL);
	void *header;
	int err;

	if (!skb)
		return NULL;
	header = genlmsg_put_reply(skb, info, family, 0, info->genlhdr->cmd);
	err = header ? put_counters(skb, target, snapshot) : -EMSGSIZE;
	if (err) {
		nlmsg_free(skb);
		return ERR_PTR(err);
	}
	genlmsg_end(skb, header);
	return skb;
}

/* What changed since a moment ago fits two pages as good as always. */
static struct sk_buff *partial_message(struct raidtrace_target *target,
				       const struct raidtrace_snapshot *snapshot,
				       struct genl_info *info, const struct genl_family *family)
{
	size_t room = SKB_WITH_OVERHEAD(8192) - nlmsg_total_size(genlmsg_total_size(0));
	struct sk_buff *skb;

	do {
		skb = message_of(target, snapshot, info, family, room);
		room *= 2;
	} while (IS_ERR(skb) && room < MOST_ROOM);
	return skb;
}

/**
 * raidtrace_counters_message() - snapshot of a target as the reply to a request
 * @target: to take the snapshot of
 * @info: the request
 * @family: of the message
 * @named: who asks may know who the processes are
 *
 * Return: the message or ERR_PTR(-errno), with the reason in @info. Context:
 * process, holds raidtrace_targets_lock().
 */
struct sk_buff *raidtrace_counters_message(struct raidtrace_target *target,
					   struct genl_info *info,
					   const struct genl_family *family, bool named)
{
	/*
	 * raidtrace_targets_lock(). Allocated for each message it would be cleared each time
	 * where the kernel clears all that it allocates.
	 */
	static struct raidtrace_snapshot snapshot;
	struct nlattr *base = info->attrs[RAIDTRACE_A_COUNTERS_SNAPSHOT];
	struct sk_buff *skb;

	snapshot.named = named;
	raidtrace_target_snapshot(target, base ? nla_get_u64(base) : 0, &snapshot);
	if (snapshot.base)
		skb = partial_message(target, &snapshot, info, family);
	else
		skb = message_of(target, &snapshot, info, family, whole_room(target, &snapshot));
	if (!IS_ERR_OR_NULL(skb))
		return skb;
	raidtrace_refuse(info->extack, "not enough memory for the reply");
	return ERR_PTR(-ENOMEM);
}
