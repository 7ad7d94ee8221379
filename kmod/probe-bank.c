// SPDX-License-Identifier: GPL-2.0-only
/* Banks of per-CPU accounts, and taking one consistent snapshot of a probe. */
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "account-lot.h"
#include "probe.h"

/**
 * raidtrace_bank_alloc() - a bank of zeroes
 *
 * An account is larger than what alloc_percpu() gives out.
 *
 * Return: the bank, NULL when memory is short.
 */
struct raidtrace_bank *raidtrace_bank_alloc(void)
{
	struct raidtrace_bank *bank;
	int cpu;

	bank = kzalloc(struct_size(bank, cpu, nr_cpu_ids), GFP_KERNEL);
	if (!bank)
		return NULL;
	for_each_possible_cpu(cpu) {
		bank->cpu[cpu] = kvzalloc_node(sizeof(*bank->cpu[cpu]), GFP_KERNEL,
					       cpu_to_node(cpu));
		if (!bank->cpu[cpu]) {
			raidtrace_bank_free(bank);
			return NULL;
		}
	}
	return bank;
}

/**
 * raidtrace_bank_free() - give a bank back
 * @bank: may be NULL
 */
void raidtrace_bank_free(struct raidtrace_bank *bank)
{
	int cpu;

	if (!bank)
		return;
	for_each_possible_cpu(cpu)
		kvfree(bank->cpu[cpu]);
	kfree(bank);
}

/**
 * raidtrace_probe_swap() - end counting in one bank and begin in another, at one moment
 * @probe: that has a bank
 * @empty: bank of zeroes to count in from now on
 * @reset: begin anew at that moment
 * @moment: filled in with the states of that moment, before the reset
 *
 * Every event is in the bank returned or comes after that moment; none is
 * split. A probe that was stopped has its moment when it was stopped.
 *
 * Return: the bank counted in so far; nobody writes to it any more.
 * Context: process; the caller is the only one to swap this probe.
 */
struct raidtrace_bank *raidtrace_probe_swap(struct raidtrace_probe *probe,
					    struct raidtrace_bank *empty, bool reset,
					    struct raidtrace_moment *moment)
{
	struct raidtrace_bank *full;
	unsigned long flags;

	raw_spin_lock_irqsave(&probe->arrival_lock, flags);
	raw_spin_lock(&probe->lock);
	raidtrace_queue_settle(&probe->state, probe->stopped_ns ?: ktime_get_ns(),
			       &moment->settled);
	moment->queue = probe->state;
	moment->streams_alive = raidtrace_streams_alive(&probe->arrival.streams);
	moment->submitters = probe->submitters;
	if (reset) {
		raidtrace_queue_reset(&probe->state);
		raidtrace_arrival_reset(&probe->arrival);
		memset(&probe->submitters, 0, sizeof(probe->submitters));
	}
	full = probe->bank;
	probe->bank = empty;
	raw_spin_unlock(&probe->lock);
	raw_spin_unlock_irqrestore(&probe->arrival_lock, flags);
	return full;
}

/* What one CPU counted, to be added; run on that CPU where a u64 is two words. */
struct one_cpu {
	const struct raidtrace_queue_counters *from;
	struct raidtrace_queue_counters *sum;
};

static void add_one_cpu(void *info)
{
	const struct one_cpu *one = info;
	const unsigned int whole = sizeof(*one->sum) / sizeof(u64) / RAIDTRACE_LOT;
	const u64 *from = (const u64 *)one->from;
	const u64 *end = (const u64 *)(one->from + 1);
	u64 *sum = (u64 *)one->sum;
	unsigned int lot, i;

	for (lot = 0; lot < whole; lot++, from += RAIDTRACE_LOT, sum += RAIDTRACE_LOT) {
		/* An event that is missed because its lot was empty comes after this look. */
		barrier();
		if (raidtrace_lot_empty(from))
			continue;
		for (i = 0; i < RAIDTRACE_LOT; i++)
			sum[i] += READ_ONCE(from[i]);
	}
	for (; from < end; from++, sum++)
		*sum += READ_ONCE(*from);
}

/**
 * raidtrace_probe_queue_counters() - sum of the CPUs' counters of events before the issue
 * @probe: attached
 * @sum: filled in
 *
 * Context: process.
 */
void raidtrace_probe_queue_counters(struct raidtrace_probe *probe,
				    struct raidtrace_queue_counters *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		struct one_cpu one = { per_cpu_ptr(probe->queued, cpu), sum };

		/* A CPU that comes or goes keeps nobody waiting where no CPU is asked. */
		if (IS_ENABLED(CONFIG_64BIT)) {
			add_one_cpu(&one);
			continue;
		}
		cpus_read_lock();
		if (cpu_online(cpu))
			smp_call_function_single(cpu, add_one_cpu, &one, true);
		else
			add_one_cpu(&one);
		cpus_read_unlock();
	}
}
