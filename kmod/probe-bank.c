// SPDX-License-Identifier: GPL-2.0-only
/* Banks of per-CPU accounts, and taking one consistent snapshot of a probe. */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/slab.h>

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

/*
 * Wait until no handler counts in a bank that new handlers do not find any
 * more. A handler runs with interrupts off from when it says that it is busy
 * to when it is done, so this is a wait of a microsecond.
 */
static void wait_until_idle(struct raidtrace_probe *probe, const struct raidtrace_bank *bank)
{
	int cpu;

	for_each_possible_cpu(cpu)
		smp_cond_load_acquire(&per_cpu_ptr(probe->cpu, cpu)->busy, VAL != bank);
}

/**
 * raidtrace_probe_swap() - end counting in one bank and begin in another, at one moment
 * @probe: that has a bank
 * @empty: bank of zeroes to count in from now on
 * @reset: begin anew at that moment
 * @change: filled in with the time spent until that moment
 * @state: filled in with the state of that moment, before the reset
 *
 * Every event is in the bank returned or comes after that moment; none is
 * split. A probe that was stopped has its moment when it was stopped.
 *
 * Return: the bank counted in so far; nobody writes to it any more.
 * Context: process; the caller is the only one to swap this probe.
 */
struct raidtrace_bank *raidtrace_probe_swap(struct raidtrace_probe *probe,
					    struct raidtrace_bank *empty, bool reset,
					    struct raidtrace_change *change,
					    struct raidtrace_queue *state)
{
	struct raidtrace_bank *full;
	unsigned long flags;

	raw_spin_lock_irqsave(&probe->lock, flags);
	raidtrace_queue_settle(&probe->state, probe->stopped_ns ?: ktime_get_ns(), change);
	*state = probe->state;
	if (reset)
		raidtrace_queue_reset(&probe->state);
	full = probe->bank;
	probe->bank = empty;
	raw_spin_unlock_irqrestore(&probe->lock, flags);
	wait_until_idle(probe, full);
	return full;
}

/**
 * raidtrace_probe_queue_counters() - sum of the CPUs' counters of events before the issue
 * @probe: attached
 * @counters: filled in
 *
 * Context: process.
 */
void raidtrace_probe_queue_counters(struct raidtrace_probe *probe,
				    raidtrace_queue_counters counters)
{
	u64 *sum = &counters[0][0];
	unsigned int i, start;
	unsigned long flags;
	u64 value;
	int cpu;

	memset(sum, 0, sizeof(raidtrace_queue_counters));
	for_each_possible_cpu(cpu) {
		struct raidtrace_probe_cpu *from = per_cpu_ptr(probe->cpu, cpu);
		u64_stats_t *counter = &from->counter[0][0];

		for (i = 0; i < RAIDTRACE_DIRECTIONS * RAIDTRACE_QUEUE_COUNTERS; i++) {
			/* Interrupts off: before 6.3 a 32-bit UP kernel's reader needs that. */
			local_irq_save(flags);
			do {
				start = u64_stats_fetch_begin(&from->syncp);
				value = u64_stats_read(&counter[i]);
			} while (u64_stats_fetch_retry(&from->syncp, start));
			local_irq_restore(flags);
			sum[i] += value;
		}
	}
}
