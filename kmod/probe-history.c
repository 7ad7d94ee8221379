// SPDX-License-Identifier: GPL-2.0-only
/* Reading the history of a probe, and saying when it is to end. */
#include "probe.h"

#include <linux/spinlock.h>

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
