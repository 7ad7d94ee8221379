/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of the handlers: where the kernel keeps its own time by the processor's
 * counter the counter itself, in order; else CLOCK_MONOTONIC. The counter costs a third,
 * and becomes nanoseconds when events are taken, along a line between two moments
 * at which both clocks were read.
 */
#ifndef RAIDTRACE_CLOCK_H
#define RAIDTRACE_CLOCK_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

/* In the time of a record: it is of the counter. */
#define RAIDTRACE_CLOCK_COUNTER	BIT_ULL(63)

#define RAIDTRACE_CLOCK_SLOPE_BITS	32

/**
 * struct raidtrace_clock - from times in records to CLOCK_MONOTONIC; under the probe's lock
 * @counter: the counter when the line ends
 * @ns: CLOCK_MONOTONIC at that moment
 * @from_counter: where the line begins
 * @from_ns: likewise
 * @slope: nanoseconds per 2^32 of the counter
 */
struct raidtrace_clock {
	u64 counter;
	u64 ns;
	u64 from_counter;
	u64 from_ns;
	u64 slope;
};

bool raidtrace_clock_start(struct raidtrace_clock *clock);
bool raidtrace_clock_now(struct raidtrace_clock *clock);
void raidtrace_clock_pass(struct raidtrace_clock *clock);
u64 raidtrace_clock_ns_beyond(const struct raidtrace_clock *clock, u64 counter);

/*
 * The time of a record; @by_counter is what raidtrace_clock_now() said last.
 * Context: any.
 */
static __always_inline u64 raidtrace_clock_read(bool by_counter)
{
#ifdef CONFIG_X86
	if (likely(by_counter))
		return rdtsc_ordered() | RAIDTRACE_CLOCK_COUNTER;
#endif
	return ktime_get_ns();
}

/*
 * CLOCK_MONOTONIC of a record, later than the end of the line for one that is. The line
 * was drawn until now after the record was seen, or before.
 */
static inline u64 raidtrace_clock_ns(const struct raidtrace_clock *clock, u64 time)
{
	u64 counter = time & ~RAIDTRACE_CLOCK_COUNTER;

	if (!(time & RAIDTRACE_CLOCK_COUNTER))
		return time;
	if (unlikely(counter - clock->from_counter > clock->counter - clock->from_counter))
		return raidtrace_clock_ns_beyond(clock, counter);
	return clock->from_ns + mul_u64_u64_shr(counter - clock->from_counter, clock->slope,
						RAIDTRACE_CLOCK_SLOPE_BITS);
}

#endif /* RAIDTRACE_CLOCK_H */
