// SPDX-License-Identifier: GPL-2.0-only
/* Whose bios and requests they were, in the reply to counters-get: classes and processes. */
#include "netlink.h"
#include "target.h"

#include <net/netlink.h>

#define ORIGIN(attr, member, bios) \
	RAIDTRACE_COUNTER(ORIGIN, attr, struct raidtrace_origin, member, ORIGIN, bios, \
			  RAIDTRACE_EVENT_COUNTERS)
#define SUBMITTER(attr, member) \
	RAIDTRACE_COUNTER(SUBMITTER, attr, struct raidtrace_submitted, member, SUBMITTER, true, \
			  RAIDTRACE_EVENT_COUNTERS)

static const struct raidtrace_counter origin_counters[] = {
	ORIGIN(QUEUED, queued, true),
	ORIGIN(BYTES_QUEUED, bytes_queued, true),
	ORIGIN(SEEKS_QUEUED, seeks_queued, true),
	ORIGIN(ISSUED, issued, false),
	ORIGIN(BYTES_ISSUED, bytes_issued, false),
	ORIGIN(SEEKS, seeks, false),
	ORIGIN(SEEK_SECTORS, seek_sectors, false),
};

static const struct raidtrace_counter submitter_counters[] = {
	SUBMITTER(QUEUED, queued),
	SUBMITTER(BYTES_QUEUED, bytes_queued),
	SUBMITTER(SEEKS_QUEUED, seeks_queued),
};

static int put_origin(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot,
		      enum raidtrace_class class, const struct raidtrace_origin *origin)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_ORIGIN);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_ORIGIN_CLASS, class) ?:
	      raidtrace_put_counters(skb, snapshot, origin_counters, ARRAY_SIZE(origin_counters),
				     origin, RAIDTRACE_A_ORIGIN_PAD);
	nla_nest_end(skb, nest);
	return err;
}

static int put_process(struct sk_buff *skb, const struct raidtrace_task *process)
{
	char comm[TASK_COMM_LEN];

	strscpy(comm, (const char *)process->comm, sizeof(comm));
	return nla_put_u32(skb, RAIDTRACE_A_SUBMITTER_PID, process->pid) ?:
	       nla_put_string(skb, RAIDTRACE_A_SUBMITTER_COMM, comm) ?:
	       (process->cgroup ? nla_put_u64_64bit(skb, RAIDTRACE_A_SUBMITTER_CGROUP,
						    process->cgroup,
						    RAIDTRACE_A_SUBMITTER_PAD) : 0);
}

/* The row of all that found the table full has no process. */
static int put_submitter(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot, u32 row,
			 const struct raidtrace_submitted *submitted)
{
	struct nlattr *nest = nla_nest_start(skb, RAIDTRACE_A_COUNTERS_SUBMITTER);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_u32(skb, RAIDTRACE_A_SUBMITTER_INDEX, row) ?:
	      (row == RAIDTRACE_SUBMITTER_REST ? 0 :
	       put_process(skb, &snapshot->target->at_snapshot.submitters.task[row])) ?:
	      raidtrace_put_counters(skb, snapshot, submitter_counters,
				     ARRAY_SIZE(submitter_counters), submitted,
				     RAIDTRACE_A_SUBMITTER_PAD);
	nla_nest_end(skb, nest);
	return err;
}

/* Each process with its row. */
static int put_submitters(struct sk_buff *skb, const struct raidtrace_snapshot *snapshot)
{
	const struct raidtrace_submitted *row = snapshot->target->total->submitted;
	unsigned int i;
	int err = 0;

	for (i = 0; i < RAIDTRACE_SUBMITTER_ROWS && !err; i++) {
		if (row[i].queued && raidtrace_target_changed(snapshot->target, snapshot->base,
							      &row[i], sizeof(row[i])))
			err = put_submitter(skb, snapshot, i, &row[i]);
	}
	return err;
}

/* Put classes and processes in a message. Returns 0 or -EMSGSIZE. */
int raidtrace_owners_put(struct sk_buff *skb, const struct raidtrace_target *target,
			 const struct raidtrace_snapshot *snapshot)
{
	const struct raidtrace_origin *origin = target->total->origin;
	unsigned int i;
	int err = 0;

	for (i = 0; raidtrace_snapshot_tells(snapshot, RAIDTRACE_GROUP_ORIGIN, true) &&
	     i < RAIDTRACE_CLASSES && !err; i++) {
		if (raidtrace_target_changed(target, snapshot->base, &origin[i], sizeof(*origin)))
			err = put_origin(skb, snapshot, i, &origin[i]);
	}
	if (!err && raidtrace_snapshot_tells(snapshot, RAIDTRACE_GROUP_SUBMITTER, true))
		err = put_submitters(skb, snapshot);
	return err;
}
