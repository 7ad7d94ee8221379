// SPDX-License-Identifier: GPL-2.0-only
/* From the processor's counter to CLOCK_MONOTONIC. */
#include "clock.h"

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/timekeeping.h>

/*
 * Read both clocks. Whether the kernel keeps its time by the counter shows by
 * what it reads itself between two readings of it.
 */
static bool read_both(u64 *counter, u64 *ns)
{
	bool by_counter = false;

	*counter = 0;
#ifdef CONFIG_X86
	{
		struct system_time_snapshot kernel;
		u64 before = rdtsc_ordered();

#ifdef RAIDTRACE_HAS_SNAPSHOT_ID
		ktime_get_snapshot_id(CLOCK_MONOTONIC, &kernel);
#else
		ktime_get_snapshot(&kernel);
#endif
		*counter = rdtsc_ordered();
		by_counter = kernel.cycles - before <= *counter - before;
	}
#endif
	*ns = ktime_get_ns();
	return by_counter;
}

/**
 * raidtrace_clock_start() - a line begins
 * @clock: filled in
 *
 * Return: whether the counter can be used.
 */
bool raidtrace_clock_start(struct raidtrace_clock *clock)
{
	bool by_counter = read_both(&clock->counter, &clock->ns);

	raidtrace_clock_pass(clock);
	return by_counter;
}

/**
 * raidtrace_clock_now() - the line goes on to now
 * @clock: its ns is now after this
 *
 * Return: whether the counter can be used.
 */
bool raidtrace_clock_now(struct raidtrace_clock *clock)
{
	bool by_counter = read_both(&clock->counter, &clock->ns);
	u64 ns = clock->ns - clock->from_ns, counter = clock->counter - clock->from_counter;
	unsigned int shift = max(fls64(ns), 32) - 32;

	/* It begins anew when the machine slept. */
	if (clock->counter < clock->from_counter)
		raidtrace_clock_pass(clock);
	else if (counter >> shift)
		clock->slope = div64_u64(ns >> shift << RAIDTRACE_CLOCK_SLOPE_BITS, counter >> shift);
	return by_counter;
}

/**
 * raidtrace_clock_pass() - the line begins anew where it ends
 * @clock: all records until there were taken; one that comes late is of that moment
 */
void raidtrace_clock_pass(struct raidtrace_clock *clock)
{
	clock->from_counter = clock->counter;
	clock->from_ns = clock->ns;
}

/**
 * raidtrace_clock_ns_beyond() - time of a record that is not on the line
 * @clock: drawn until now after the record was seen, or before
 * @counter: of the record
 *
 * Return: as raidtrace_clock_ns(); for one that came late where the line begins.
 */
u64 raidtrace_clock_ns_beyond(const struct raidtrace_clock *clock, u64 counter)
{
	if (counter < clock->from_counter)
		return clock->from_ns;
	return clock->ns + 1 + mul_u64_u64_shr(counter - clock->counter, clock->slope,
					       RAIDTRACE_CLOCK_SLOPE_BITS);
}
