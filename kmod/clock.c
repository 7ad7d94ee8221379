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

/* A line begins. Returns whether the counter can be used. */
bool raidtrace_clock_start(struct raidtrace_clock *clock)
{
	bool by_counter = read_both(&clock->counter, &clock->ns);

	raidtrace_clock_pass(clock);
	return by_counter;
}

/*
 * The line goes on to now, which its ns is after this. Returns whether the counter can be
 * used.
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

/*
 * The line begins anew where it ends: records until there were taken, one that comes late
 * is of that moment.
 */
void raidtrace_clock_pass(struct raidtrace_clock *clock)
{
	clock->from_counter = clock->counter;
	clock->from_ns = clock->ns;
}

/*
 * raidtrace_clock_ns() of a record that is not on the line; one that came late is of its
 * begin.
 */
u64 raidtrace_clock_ns_beyond(const struct raidtrace_clock *clock, u64 counter)
{
	if (counter < clock->from_counter)
		return clock->from_ns;
	return clock->ns + 1 + mul_u64_u64_shr(counter - clock->counter, clock->slope,
					       RAIDTRACE_CLOCK_SLOPE_BITS);
}
