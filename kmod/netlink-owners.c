// SPDX-License-Identifier: GPL-2.0-only
/* Whose bios and requests they were, in the reply to counters-get: classes and processes. */
#include "netlink-owners.h"
#include "target.h"

#include <net/netlink.h>

#define U64_ROOM	(nla_total_size_64bit(sizeof(u64)))
#define ORIGIN_ROOM	(nla_total_size(0) + (RAIDTRACE_A_ORIGIN_MAX + 1) * U64_ROOM)
#define SUBMITTER_ROOM \
	(nla_total_size(TASK_COMM_LEN) + (RAIDTRACE_A_SUBMITTER_MAX + 1) * U64_ROOM)

static int put_u64(struct sk_buff *skb, int attr, u64 value, int pad)
{
	return nla_put_u64_64bit(skb, attr, value, pad);
}

static int put_issued(struct sk_buff *skb, const struct raidtrace_origin *origin)
{
	int pad = RAIDTRACE_A_ORIGIN_PAD;

	return put_u64(skb, RAIDTRACE_A_ORIGIN_ISSUED, origin->issued, pad) ?:
	       put_u64(skb, RAIDTRACE_A_ORIGIN_BYTES_ISSUED, origin->bytes_issued, pad) ?:
	       put_u64(skb, RAIDTRACE_A_ORIGIN_SEEKS, origin->seeks, pad) ?:
	       put_u64(skb, RAIDTRACE_A_ORIGIN_SEEK_SECTORS, origin->seek_sectors, pad);
}

static int put_origin(struct sk_buff *skb, const struct raidtrace_target *target,
		      enum raidtrace_class class, const struct raidtrace_origin *origin)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_ORIGIN);
	int pad = RAIDTRACE_A_ORIGIN_PAD;
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_ORIGIN_CLASS, class) ?:
	      put_u64(skb, RAIDTRACE_A_ORIGIN_QUEUED, origin->queued, pad) ?:
	      put_u64(skb, RAIDTRACE_A_ORIGIN_BYTES_QUEUED, origin->bytes_queued, pad) ?:
	      put_u64(skb, RAIDTRACE_A_ORIGIN_SEEKS_QUEUED, origin->seeks_queued, pad);
	if (!err && !target->bio_based)
		err = put_issued(skb, origin);
	nla_nest_end(skb, nest);
	return err;
}

/* The row of all that found the table full has no process. */
static int put_process(struct sk_buff *skb, const struct raidtrace_task *process)
{
	char comm[TASK_COMM_LEN];

	strscpy(comm, (const char *)process->comm, sizeof(comm));
	return nla_put_u32(skb, RAIDTRACE_A_SUBMITTER_PID, process->pid) ?:
	       nla_put_string(skb, RAIDTRACE_A_SUBMITTER_COMM, comm) ?:
	       (process->cgroup ? put_u64(skb, RAIDTRACE_A_SUBMITTER_CGROUP, process->cgroup,
					  RAIDTRACE_A_SUBMITTER_PAD) : 0);
}

static int put_submitter(struct sk_buff *skb, u32 index, const struct raidtrace_task *process,
			 const struct raidtrace_submitted *submitted)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_SUBMITTER);
	int pad = RAIDTRACE_A_SUBMITTER_PAD;
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_SUBMITTER_INDEX, index);
	if (!err && process)
		err = put_process(skb, process);
	if (!err)
		err = put_u64(skb, RAIDTRACE_A_SUBMITTER_QUEUED, submitted->queued, pad) ?:
		      put_u64(skb, RAIDTRACE_A_SUBMITTER_BYTES_QUEUED, submitted->bytes_queued,
			      pad) ?:
		      put_u64(skb, RAIDTRACE_A_SUBMITTER_SEEKS_QUEUED, submitted->seeks_queued,
			      pad);
	nla_nest_end(skb, nest);
	return err;
}

static bool is_row_changed(const struct raidtrace_snapshot *snapshot, unsigned int row)
{
	const struct raidtrace_submitted *submitted = &snapshot->account->submitted[row];

	return submitted->queued &&
	       raidtrace_snapshot_changed(snapshot, (const u64 *)submitted,
					  sizeof(*submitted) / sizeof(u64));
}

/* Each process with its row. */
static int put_processes(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot)
{
	const struct raidtrace_task *process = snapshot->state.submitters.task;
	unsigned int i;
	int err = 0;

	for (i = 0; i < RAIDTRACE_SUBMITTER_ROWS && !err; i++) {
		if (is_row_changed(snapshot, i))
			err = put_submitter(skb, i,
					    i == RAIDTRACE_SUBMITTER_REST ? NULL : &process[i],
					    &snapshot->account->submitted[i]);
	}
	return err;
}

/* To who may not know them all processes are one row, that of the rest. */
static int put_unnamed(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot)
{
	struct raidtrace_submitted sum = {};
	bool changed = false;
	unsigned int i;

	for (i = 0; i < RAIDTRACE_SUBMITTER_ROWS; i++) {
		const struct raidtrace_submitted *row = &snapshot->account->submitted[i];

		sum.queued += row->queued;
		sum.bytes_queued += row->bytes_queued;
		sum.seeks_queued += row->seeks_queued;
		changed |= is_row_changed(snapshot, i);
	}
	return changed ? put_submitter(skb, RAIDTRACE_SUBMITTER_REST, NULL, &sum) : 0;
}

/**
 * raidtrace_owners_room() - bytes that classes and processes take in a message
 * @target: whose they are
 * @snapshot: that they are of
 *
 * Return: the number of bytes, at most.
 */
size_t raidtrace_owners_room(const struct raidtrace_target *target,
			     const struct raidtrace_snapshot *snapshot)
{
	size_t room = 0;
	unsigned int i;

	if (target->options.groups & RAIDTRACE_GROUP_ORIGIN)
		room += RAIDTRACE_CLASSES * ORIGIN_ROOM;
	if (target->options.groups & RAIDTRACE_GROUP_SUBMITTER) {
		for (i = 0; i < RAIDTRACE_SUBMITTER_ROWS; i++)
			room += snapshot->account->submitted[i].queued ? SUBMITTER_ROOM : 0;
	}
	return room;
}

/**
 * raidtrace_owners_put() - put classes and processes in a message
 * @skb: the message
 * @target: whose they are
 * @snapshot: that they are of
 *
 * Return: 0 or -EMSGSIZE.
 */
int raidtrace_owners_put(struct sk_buff *skb, const struct raidtrace_target *target,
			 const struct raidtrace_snapshot *snapshot)
{
	const struct raidtrace_origin *origin = snapshot->account->origin;
	unsigned int i;
	int err = 0;

	if (target->options.groups & RAIDTRACE_GROUP_ORIGIN) {
		for (i = 0; i < RAIDTRACE_CLASSES && !err; i++) {
			if (raidtrace_snapshot_changed(snapshot, (const u64 *)&origin[i],
						       sizeof(*origin) / sizeof(u64)))
				err = put_origin(skb, target, i, &origin[i]);
		}
	}
	if (!err && target->options.groups & RAIDTRACE_GROUP_SUBMITTER)
		err = snapshot->named ? put_processes(skb, snapshot) : put_unnamed(skb, snapshot);
	return err;
}
