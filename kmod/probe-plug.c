// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of requests that a task holds back and sends together, and of waits for tags. */
#include "probe-handlers.h"

static void count(struct raidtrace_probe *probe, enum raidtrace_disk_counter counter)
{
	this_cpu_inc(probe->queued->disk[counter]);
}

static struct raidtrace_probe *plug_probe_of(const struct request_queue *queue)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(queue);

	return probe && probe->groups & RAIDTRACE_GROUP_PLUG ? probe : NULL;
}

void raidtrace_on_plug(void *data, struct request_queue *queue)
{
	struct raidtrace_probe *probe = plug_probe_of(queue);

	if (probe)
		count(probe, RAIDTRACE_PLUGS);
}

void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit)
{
	struct raidtrace_probe *probe = plug_probe_of(queue);

	if (!probe)
		return;
	count(probe, explicit ? RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE);
	this_cpu_inc(probe->queued->unplug[raidtrace_depth_bin(depth)]);
}

void raidtrace_on_tag_wait(void *data, struct request_queue *queue, struct blk_mq_hw_ctx *hctx,
			   bool scheduler_tag, unsigned int flags)
{
	struct raidtrace_probe *probe = plug_probe_of(queue);

	if (probe)
		count(probe, RAIDTRACE_TAG_WAITS);
}
