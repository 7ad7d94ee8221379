// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmod/clock.c as a program: from a processor's counter to nanoseconds, against a
 * machine whose counter, rate and kernel clock are made here.
 */
#include <stdint.h>
#include <stdio.h>

#include "clock.h"

static u64 counter, kernel_cycles;
static double rate;	/* ticks of the counter in a nanosecond */
static u64 ns;
static unsigned int passed, failed;

u64 rdtsc_ordered(void)
{
	return counter += 30;
}

u64 ktime_get_ns(void)
{
	return ns;
}

/* The kernel reads the counter itself, or has another clock. */
void ktime_get_snapshot(struct system_time_snapshot *snapshot)
{
	snapshot->cycles = kernel_cycles ? kernel_cycles : (counter += 30);
}

static void say(bool ok, const char *what)
{
	printf("%sok - %s\n", ok ? "" : "not ", what);
	*(ok ? &passed : &failed) += 1;
}

static void pass(u64 more_ns)
{
	ns += more_ns;
	counter += (u64)((double)more_ns * rate);
}

static u64 off(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Moments of a second are where they were, to what three readings of the counter take. */
static void moments(double of_rate, u64 begin, u64 span, const char *what)
{
	struct raidtrace_clock clock;
	u64 ticks[64], moment[64], worst = 0, last = 0;
	/* Four readings of the counter, and the slope, which has 32 bits. */
	const u64 slack = (u64)(120 / of_rate) + 2 + (span >> 32);
	bool grows = true, by_counter;

	rate = of_rate;
	counter = begin;
	ns = 1000000007;
	kernel_cycles = 0;
	by_counter = raidtrace_clock_start(&clock);
	for (unsigned int turn = 0; turn < 3; turn++) {
		for (unsigned int i = 0; i < 64; i++) {
			pass(span / 64);
			moment[i] = ns;
			ticks[i] = raidtrace_clock_read(by_counter);
		}
		by_counter &= raidtrace_clock_now(&clock);
		for (unsigned int i = 0; i < 64; i++) {
			u64 is = raidtrace_clock_ns(&clock, ticks[i]);

			worst = off(is, moment[i]) > worst ? off(is, moment[i]) : worst;
			grows &= is >= last;
			last = is;
		}
		raidtrace_clock_pass(&clock);
	}
	printf("# %s: off by %llu ns at most\n", what, (unsigned long long)worst);
	say(by_counter && ticks[0] & RAIDTRACE_CLOCK_COUNTER, what);
	say(worst <= slack && grows, "it is where it was, and times grow");
}

/* What was not on the line: before it, behind it; and a machine that slept, whose counter began anew. */
static void beyond(void)
{
	struct raidtrace_clock clock;
	u64 early, late;

	rate = 3;
	counter = 1ULL << 40;
	ns = 5000;
	kernel_cycles = 0;
	raidtrace_clock_start(&clock);
	early = raidtrace_clock_read(true);
	pass(1000000);
	raidtrace_clock_now(&clock);
	raidtrace_clock_pass(&clock);
	say(raidtrace_clock_ns(&clock, early) == clock.ns, "one that comes late is of the moment up to which all were taken");
	pass(3000);
	late = raidtrace_clock_read(true);
	say(off(raidtrace_clock_ns(&clock, late), ns) < 200 && raidtrace_clock_ns(&clock, late) > clock.ns,
	    "one from beyond the end is behind it, by the slope");
	counter = 1000;
	ns += 7000000000;
	raidtrace_clock_now(&clock);
	say(clock.from_ns == ns && raidtrace_clock_ns(&clock, RAIDTRACE_CLOCK_COUNTER | 1000) == ns,
	    "after a sleep the line begins anew");
}

/* Where the kernel keeps its time by another clock the counter is not used, from then on. */
static void another_clock(void)
{
	struct raidtrace_clock clock;

	rate = 2;
	counter = 1 << 20;
	ns = 100;
	kernel_cycles = 12345;
	say(!raidtrace_clock_start(&clock), "a kernel with another clock source");
	say(raidtrace_clock_read(false) == 100 && raidtrace_clock_ns(&clock, 100) == 100, "its own time is taken as it is");
	kernel_cycles = 0;
	say(raidtrace_clock_now(&clock), "one that comes to the counter");
	kernel_cycles = counter + (1 << 30);
	say(!raidtrace_clock_now(&clock), "and that leaves it");
}

int main(void)
{
	moments(3.0, 1ULL << 40, 1000000000, "3 GHz, a second");
	moments(2.4, 0, 20000, "2.4 GHz from 0, 20 us");
	moments(0.024, 1ULL << 50, 10000000000, "24 MHz, ten seconds");
	moments(5.0, (1ULL << 62) - (1ULL << 20), 300000000000, "5 GHz across 2^62, five minutes");
	beyond();
	another_clock();
	return failed != 0;
}
