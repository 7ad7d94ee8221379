// SPDX-License-Identifier: GPL-2.0-only
/* Taking one consistent snapshot of a probe. */
#include "probe.h"

#include <linux/spinlock.h>

/**
 * raidtrace_probe_snapshot() - end counting in one account and begin in another, at one moment
 * @probe: that was started
 * @empty: account of zeroes to count in from now on
 * @reset: begin anew at that moment
 * @state: filled in with the state of that moment, before the reset
 *
 * Every event is in the account returned or comes after that moment; none is
 * split. A probe that was stopped has its moment when it was stopped.
 *
 * Return: the account counted in so far. Context: process; the caller is the
 * only one to do this with this probe.
 */
struct raidtrace_account *raidtrace_probe_snapshot(struct raidtrace_probe *probe,
						   struct raidtrace_account *empty, bool reset,
						   struct raidtrace_probe_state *state)
{
	struct raidtrace_engine *engine = &probe->engine;
	struct raidtrace_account *full = engine->account;
	unsigned long flags;
	u64 now_ns;

	/* What is left for the time with interrupts off is what was written meanwhile. */
	raidtrace_rings_catch_up(probe);
	raw_spin_lock_irqsave(&probe->lock, flags);
	now_ns = raidtrace_rings_take(probe);
	raidtrace_queue_advance(&engine->queue, full, now_ns);
	state->queue = engine->queue;
	state->streams_alive = raidtrace_streams_alive(&engine->arrival.streams, now_ns);
	state->streams_forgotten = engine->arrival.streams.forgotten;
	state->submitters = engine->submitters;
	engine->submitters.replaced = 0;
	if (reset)
		raidtrace_engine_reset(engine);
	engine->account = empty;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return full;
}
