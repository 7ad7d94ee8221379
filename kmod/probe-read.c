// SPDX-License-Identifier: GPL-2.0-only
/* Reading a probe: one consistent snapshot of its counters, the last requests. */
#include "probe.h"

#include <linux/spinlock.h>

/*
 * End counting in one account, which is returned, and begin in the @empty one, at one
 * moment, of which @state is; with @reset begin anew. Every event is in the account
 * returned or comes after that moment; none is split. A probe that was stopped has its
 * moment when it was stopped. Context: process; the caller is the only one to do this with
 * this probe.
 */
struct raidtrace_account *raidtrace_probe_snapshot(struct raidtrace_probe *probe,
						   struct raidtrace_account *empty, bool reset,
						   struct raidtrace_probe_state *state)
{
	struct raidtrace_engine *engine = &probe->engine;
	struct raidtrace_account *full = engine->account;
	unsigned long flags;
	u64 now_ns = raidtrace_rings_catch_up(probe);

	raw_spin_lock_irqsave(&probe->lock, flags);
	/* A writer or another reader may have counted later events: the moment is theirs then. */
	raidtrace_engine_advance(engine, probe->stopped_ns ?: now_ns);
	state->queue = engine->queue;
	state->streams_alive = raidtrace_streams_alive(&engine->arrival.streams, now_ns);
	state->streams_forgotten = engine->arrival.streams.forgotten;
	state->submitters = engine->submitters;
	engine->submitters.replaced = 0;
	engine->account = empty;
	if (reset)
		raidtrace_engine_reset(engine);
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return full;
}

/*
 * Copy the oldest requests that ended behind number @after, @most of them at most, and the
 * number of the last one that ended. Returns how many were copied. Context: process.
 */
unsigned int raidtrace_probe_history(struct raidtrace_probe *probe, u64 after,
				     struct raidtrace_known_ended *known, unsigned int most,
				     u64 *last)
{
	struct raidtrace_engine *engine = &probe->engine;
	const struct raidtrace_ended *ended;
	unsigned long flags;
	unsigned int nr = 0;

	raidtrace_rings_catch_up(probe);
	raw_spin_lock_irqsave(&probe->lock, flags);
	while (nr < most && (ended = raidtrace_history_next(&engine->history, &after))) {
		known[nr].number = after;
		known[nr].ended = *ended;
		known[nr].named = ended->row < RAIDTRACE_SUBMITTERS &&
				  engine->submitters.task[ended->row].pid == ended->pid;
		if (known[nr].named)
			known[nr].task = engine->submitters.task[ended->row];
		nr++;
	}
	*last = engine->history.nr;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return nr;
}
