// SPDX-License-Identifier: GPL-2.0-or-later

/* Rules about what would run beside a benchmark, or instead of it. */

#include "check/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

/*
 * Where a judgement turns.  The white paper asks for 40 times the memory and
 * shows that twice still reads from the cache; the others say how much is too
 * little to be seen beside one disk of some 50 MB/s.
 */
#define DATA_TIMES_RAM		40.0
#define DATA_TIMES_RAM_CACHED	2.0
#define UNWRITTEN_WARN_BYTES	(4.0 * 1024 * 1024)
#define UNWRITTEN_FAIL_BYTES	(64.0 * 1024 * 1024)
#define CPU_WARN_PERCENT	5.0
#define CPU_FAIL_PERCENT	25.0
#define INTERRUPTS_WARN_PER_S	10.0

/* How many of the busiest are named. */
#define NR_NAMED		3

JUDGE_MACHINE(data_set)
{
	char data[UNITS_TEXT], ram[UNITS_TEXT], least[UNITS_TEXT];
	double times;

	(void)disks;
	(void)nr_disks;
	if (facts->ram_bytes <= 0) {
		finding_unknown(ret, "/proc/meminfo does not tell the memory");
		return;
	}
	format_bytes(ram, (double)facts->ram_bytes);
	format_bytes(least, DATA_TIMES_RAM * (double)facts->ram_bytes);
	if (!facts->data_bytes) {
		finding_unknown(ret, "nobody said how much the benchmark reads or writes; memory is %s", ram);
		finding_remedy(ret, "say it: raidctl check --data-size SIZE; it should be %s or more", least);
		return;
	}
	times = (double)facts->data_bytes / (double)facts->ram_bytes;
	finding_is(ret, times >= DATA_TIMES_RAM ? VERDICT_PASS :
		   times > DATA_TIMES_RAM_CACHED ? VERDICT_WARN : VERDICT_FAIL,
		   times, "times the memory");
	finding_seen(ret, "%s is %.3g times the memory of %s",
		     format_bytes(data, (double)facts->data_bytes), times, ram);
	if (ret->verdict != VERDICT_PASS)
		finding_remedy(ret, "use %s or more, or boot with less memory: mem=SIZE on the kernel's command line",
			       least);
}

JUDGE_MACHINE(unwritten)
{
	char dirty[UNITS_TEXT], writeback[UNITS_TEXT];
	double bytes;

	(void)disks;
	(void)nr_disks;
	if (facts->dirty_bytes < 0 || facts->writeback_bytes < 0) {
		finding_unknown(ret, "/proc/meminfo does not tell dirty pages");
		return;
	}
	bytes = (double)facts->dirty_bytes + (double)facts->writeback_bytes;
	finding_above(ret, bytes, UNWRITTEN_WARN_BYTES, UNWRITTEN_FAIL_BYTES,
		      "bytes");
	finding_seen(ret, "%s dirty, %s in writeback",
		     format_bytes(dirty, (double)facts->dirty_bytes),
		     format_bytes(writeback, (double)facts->writeback_bytes));
	if (ret->verdict != VERDICT_PASS)
		finding_remedy(ret, "write them before the run: sync");
}

static double use_of(const struct process_use *process, bool by_io)
{
	return by_io ? (double)process->io_bytes : process->cpu_percent;
}

/* Of those that are not named yet, the one with most; NULL when all idle. */
static const struct process_use *busiest(const struct facts *facts, bool by_io,
					 const struct process_use *const *named,
					 size_t nr_named)
{
	const struct process_use *most = NULL;

	for (size_t i = 0; i < facts->nr_processes; i++) {
		const struct process_use *p = &facts->processes[i];
		size_t before = 0;

		while (before < nr_named && named[before] != p)
			before++;
		if (before == nr_named &&
		    use_of(p, by_io) > (most ? use_of(most, by_io) : 0))
			most = p;
	}
	return most;
}

/* ": name (pid) 12.3 %, ..." */
static void name_processes(const struct facts *facts, bool by_io,
			   struct finding *ret)
{
	const struct process_use *named[NR_NAMED];
	char rate[UNITS_TEXT];

	for (size_t i = 0; i < NR_NAMED; i++) {
		named[i] = busiest(facts, by_io, named, i);
		if (!named[i])
			return;
		if (by_io)
			format_bytes(rate, use_of(named[i], true) / facts->seconds);
		else
			snprintf(rate, sizeof(rate), "%.1f %%",
				 use_of(named[i], false));
		finding_more(ret, "%s%s (%d) %s%s", i ? ", " : ": ",
			     named[i]->name, named[i]->pid, rate,
			     by_io ? "/s" : "");
	}
}

JUDGE_MACHINE(processor)
{
	double percent = 0;

	(void)disks;
	(void)nr_disks;
	if (facts->cpu_is_free) {
		finding_unknown(ret, "time is simulated, and processors take none of it");
		return;
	}
	if (!facts->processes_known) {
		finding_unknown(ret, "processes of others are hidden from this user");
		finding_remedy(ret, "run it as root: sudo raidctl check");
		return;
	}
	for (size_t i = 0; i < facts->nr_processes; i++)
		percent += facts->processes[i].cpu_percent;
	finding_above(ret, percent, CPU_WARN_PERCENT, CPU_FAIL_PERCENT,
		      "per cent of one processor");
	finding_seen(ret, "%.1f %% of one processor in %.1f s", percent,
		     facts->seconds);
	name_processes(facts, false, ret);
	if (ret->verdict != VERDICT_PASS)
		finding_remedy(ret, "end what is not needed, or wait until it is done");
}

JUDGE_MACHINE(process_io)
{
	double rate = 0;
	char text[UNITS_TEXT];

	(void)disks;
	(void)nr_disks;
	if (!facts->io_accounted) {
		finding_unknown(ret, "this kernel does not account the I/O of processes (CONFIG_TASK_IO_ACCOUNTING)");
		return;
	}
	if (!facts->processes_known || facts->seconds <= 0) {
		finding_unknown(ret, "processes of others are hidden from this user");
		finding_remedy(ret, "run it as root: sudo raidctl check");
		return;
	}
	for (size_t i = 0; i < facts->nr_processes; i++)
		rate += (double)facts->processes[i].io_bytes / facts->seconds;
	finding_above(ret, rate, IO_WARN_BYTES_PER_S, IO_FAIL_BYTES_PER_S,
		      "bytes/s");
	finding_seen(ret, "%s/s read from and written to disks",
		     format_bytes(text, rate));
	name_processes(facts, true, ret);
	if (ret->verdict != VERDICT_PASS) {
		finding_remedy(ret, "end what is not needed, or wait until it is done");
		return;
	}
	if (!facts->nr_io_hidden)
		return;
	/* What is seen is little, but it is not all. */
	finding_unknown(ret, "only root may read the I/O of %zu of %zu processes; the others: %s/s",
			facts->nr_io_hidden, facts->nr_processes, text);
	finding_remedy(ret, "run it as root: sudo raidctl check");
}

static bool is_among(const char *name, const struct disk *disks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(disks[i].name, name))
			return true;
	return false;
}

JUDGE_MACHINE(other_disks)
{
	double rate = 0;
	size_t nr = 0;
	char text[UNITS_TEXT];

	if (!facts->disk_uses_known || facts->seconds <= 0) {
		finding_unknown(ret, "/proc/diskstats cannot be read");
		return;
	}
	for (size_t i = 0; i < facts->nr_disk_uses; i++) {
		const struct disk_use *use = &facts->disk_uses[i];

		if (is_among(use->name, disks, nr_disks))
			continue;
		nr++;
		rate += (double)use->bytes / facts->seconds;
	}
	finding_above(ret, rate, IO_WARN_BYTES_PER_S, IO_FAIL_BYTES_PER_S,
		      "bytes/s");
	finding_seen(ret, "%s/s on %zu other disk%s", format_bytes(text, rate),
		     nr, nr == 1 ? "" : "s");
	nr = 0;
	for (size_t i = 0; i < facts->nr_disk_uses; i++) {
		const struct disk_use *use = &facts->disk_uses[i];

		if (!use->bytes || is_among(use->name, disks, nr_disks) ||
		    nr == 2 * NR_NAMED)
			continue;
		finding_more(ret, "%s%s %s/s", nr++ ? ", " : ": ", use->name,
			     format_bytes(text, (double)use->bytes / facts->seconds));
	}
	if (ret->verdict != VERDICT_PASS)
		finding_remedy(ret, "they share bus and processors: end what uses them; see who: raidctl check as root, rule process-io");
}

JUDGE_MACHINE(swap)
{
	char used[UNITS_TEXT], all[UNITS_TEXT];

	(void)disks;
	(void)nr_disks;
	if (facts->swap_bytes < 0 || facts->swap_used_bytes < 0) {
		finding_unknown(ret, "/proc/meminfo does not tell swap");
		return;
	}
	finding_is(ret, facts->swapped_pages > 0 ? VERDICT_FAIL :
		   facts->swap_used_bytes ? VERDICT_WARN : VERDICT_PASS,
		   (double)facts->swap_used_bytes, "bytes");
	if (!facts->swap_bytes)
		finding_seen(ret, "there is no swap space");
	else
		finding_seen(ret, "%s of %s in use",
			     format_bytes(used, (double)facts->swap_used_bytes),
			     format_bytes(all, (double)facts->swap_bytes));
	if (facts->swapped_pages > 0)
		finding_more(ret, ", %lld page%s moved in %.1f s",
			     (long long)facts->swapped_pages,
			     facts->swapped_pages == 1 ? "" : "s",
			     facts->seconds);
	if (ret->verdict != VERDICT_PASS)
		finding_remedy(ret, "end what needs the memory, then: swapoff -a");
}

JUDGE_MACHINE(drivers)
{
	uint64_t interrupts = 0;
	double rate;

	(void)disks;
	(void)nr_disks;
	if (!facts->modules_known || facts->seconds <= 0) {
		finding_unknown(ret, "/proc/modules or /proc/interrupts cannot be read");
		return;
	}
	for (size_t i = 0; i < facts->nr_modules; i++)
		interrupts += facts->modules[i].interrupts;
	rate = (double)interrupts / facts->seconds;
	finding_is(ret, rate > INTERRUPTS_WARN_PER_S ? VERDICT_WARN :
		   VERDICT_PASS, rate, "interrupts/s");
	finding_seen(ret, "%.1f interrupts/s from devices of %zu module%s that nothing uses",
		     rate, facts->nr_modules,
		     facts->nr_modules == 1 ? "" : "s");
	for (size_t i = 0, named = 0; i < facts->nr_modules; i++) {
		const struct module_use *use = &facts->modules[i];

		if (!use->interrupts || named == 2 * NR_NAMED)
			continue;
		finding_more(ret, "%s%s %.1f/s%s", named++ ? ", " : ": ",
			     use->name, (double)use->interrupts / facts->seconds,
			     use->shared ? " (shared)" : "");
	}
	if (ret->verdict == VERDICT_WARN)
		finding_remedy(ret, "unload what the run does not need: modprobe -r MODULE");
}
