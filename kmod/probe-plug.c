// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of requests that a task holds back and sends together, and of waits for tags. */
#include "probe-handlers.h"

static noinline void count(const struct request_queue *queue, enum raidtrace_disk_counter counter,
			   u32 amount)
{
	struct raidtrace_probe *probe = raidtrace_probe_of(queue);

	if (probe && probe->groups & RAIDTRACE_GROUP_PLUG)
		raidtrace_write_count(probe, 0, RAIDTRACE_QUEUE_COUNTERS + counter, amount);
}

void raidtrace_on_plug(void *data, struct request_queue *queue)
{
	count(queue, RAIDTRACE_PLUGS, 0);
}

void raidtrace_on_unplug(void *data, struct request_queue *queue, unsigned int depth,
			 bool explicit)
{
	count(queue, explicit ? RAIDTRACE_UNPLUGS_EXPLICIT : RAIDTRACE_UNPLUGS_SCHEDULE, depth);
}

void raidtrace_on_tag_wait(void *data, struct request_queue *queue, struct blk_mq_hw_ctx *hctx,
			   bool scheduler_tag, unsigned int flags)
{
	count(queue, RAIDTRACE_TAG_WAITS, 0);
}
