// SPDX-License-Identifier: GPL-2.0-only
/* Reading a probe: one consistent snapshot of its counters, the last requests. */
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

/**
 * raidtrace_probe_history() - requests that ended, in the order of their ends
 * @probe: that was started
 * @after: number of a request; those behind it
 * @known: filled in
 * @most: how many at most
 * @history: set to how the history stands; its requests are not to be read
 *
 * Return: how many. Context: process.
 */
unsigned int raidtrace_probe_history(struct raidtrace_probe *probe, u64 after,
				     struct raidtrace_known_ended *known, unsigned int most,
				     struct raidtrace_history *history)
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
	*history = engine->history;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	return nr;
}

/**
 * raidtrace_probe_set_history() - when the history is to end
 * @probe: that was started
 * @slower_ns: with the first request that takes so long, 0 for whatever it takes
 * @failed: with the first that fails
 */
void raidtrace_probe_set_history(struct raidtrace_probe *probe, u64 slower_ns, bool failed)
{
	struct raidtrace_history *history = &probe->engine.history;
	unsigned long flags;

	/* What ended until now is judged by what was said before. */
	raidtrace_rings_catch_up(probe);
	raw_spin_lock_irqsave(&probe->lock, flags);
	history->slower_ns = slower_ns;
	history->failed = failed;
	history->frozen = false;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
}
