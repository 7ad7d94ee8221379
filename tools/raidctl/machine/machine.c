// SPDX-License-Identifier: GPL-2.0-or-later

/* The machine's activity while disks are recorded. */

#include "machine/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/base.h"

static const char *const cpu_fields[HOST_CPU_FIELDS] = {
	"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
	"guest", "guest_nice",
};

/* A counter of /proc/vmstat that grows. */
struct vm_counter {
	const char *name;
	const char *unit;
};

static const struct vm_counter vm_counters[HOST_VM_COUNTERS] = {
	{ "pgpgin", "KiB" },
	{ "pgpgout", "KiB" },
	{ "pswpin", "pages" },
	{ "pswpout", "pages" },
	{ "nr_dirtied", "pages" },
	{ "nr_written", "pages" },
	{ "pgfault", "faults" },
	{ "pgmajfault", "faults" },
	{ "pgactivate", "pages" },
	{ "pgdeactivate", "pages" },
	{ "pgscan_kswapd", "pages" },
	{ "pgscan_direct", "pages" },
	{ "pgsteal_kswapd", "pages" },
	{ "pgsteal_direct", "pages" },
	{ "allocstall_normal", "stalls" },
	{ "allocstall_movable", "stalls" },
	{ "workingset_refault_anon", "pages" },
	{ "workingset_refault_file", "pages" },
	{ "workingset_activate_file", "pages" },
	{ "workingset_restore_file", "pages" },
	{ "workingset_nodereclaim", "nodes" },
	{ "drop_pagecache", "times" },
	{ "drop_slab", "times" },
	{ "oom_kill", "processes" },
};

void host_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			*text = '?';
}

static uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void read_cpu(struct host *look)
{
	const char *text = proc_read(&look->stat);
	char *at;

	look->known_cpu = text && !strncmp(text, "cpu ", 4);
	if (!look->known_cpu)
		return;
	at = (char *)text + 4;
	for (int i = 0; i < HOST_CPU_FIELDS; i++)
		look->cpu[i] = strtoull(at, &at, 10);
}

static void read_vm(struct host *look)
{
	const char *line = proc_read(&look->vmstat);

	memset(look->known_vm, 0, sizeof(look->known_vm));
	for (; line; line = proc_line(line)) {
		size_t len = strcspn(line, " ");

		for (int i = 0; i < HOST_VM_COUNTERS; i++)
			if (!strncmp(line, vm_counters[i].name, len) &&
			    !vm_counters[i].name[len]) {
				look->vm[i] = strtoull(line + len, NULL, 10);
				look->known_vm[i] = true;
			}
	}
}

static void read_all(struct host *look)
{
	const char *text;

	read_cpu(look);
	read_vm(look);
	tree_read(getpid(), &look->ended, &look->tree);
	kernel_threads_look(&look->kernel);
	text = proc_read(&look->interrupts);
	memset(&look->lines, 0, sizeof(look->lines));
	if (text)
		interrupts_parse(text, &look->lines);
}

/* The rows of one reading. */
struct host_rows {
	struct host_row row;	/* common members of all rows */
	struct rows *to;
	int err;
};

/* A child that is waited for meanwhile is missing from one reading. The difference is then 0, not negative. */
static void put_row(struct host_rows *rows, const char *name, const char *unit,
		    uint64_t before, uint64_t after)
{
	struct host_row *row = &rows->row;

	if (rows->err || after <= before)
		return;
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	row->value = (int64_t)(after - before);
	rows->err = store_put_host(rows->to, row);
}

static void put_source(struct host_rows *rows, const char *source,
		       const char *subject)
{
	snprintf(rows->row.source, sizeof(rows->row.source), "%s", source);
	snprintf(rows->row.subject, sizeof(rows->row.subject), "%s", subject);
	host_clean(rows->row.subject);
}

static uint64_t at_least(uint64_t *now, uint64_t before)
{
	if (*now < before)
		*now = before;
	return *now;
}

#define IO_ROW(member, unit)						\
	put_row(rows, #member, unit, before->io.member,			\
		at_least(&after->io.member, before->io.member))

static void put_tree(struct host_rows *rows, const struct tree_use *before,
		     struct tree_use *after)
{
	put_source(rows, "command", "");
	put_row(rows, "cpu", "ns", ticks_ns(before->ticks),
		ticks_ns(at_least(&after->ticks, before->ticks)));
	put_row(rows, "major_faults", "faults", before->major_faults,
		at_least(&after->major_faults, before->major_faults));
	if (before->waited_known && after->waited_known)
		put_row(rows, "waited_for_processor", "ns", before->waited_ns,
			at_least(&after->waited_ns, before->waited_ns));
	if (!before->io_known || !after->io_known)
		return;
	IO_ROW(rchar, "bytes");
	IO_ROW(wchar, "bytes");
	IO_ROW(syscr, "calls");
	IO_ROW(syscw, "calls");
	IO_ROW(read_bytes, "bytes");
	IO_ROW(write_bytes, "bytes");
	IO_ROW(cancelled_write_bytes, "bytes");
}

static void put_looks(struct host_rows *rows, const struct looks *before, const struct looks *after)
{
	put_source(rows, "look", "");
	put_row(rows, "all", "looks", before->all, after->all);
	for (int i = 0; i < NR_LOOKS; i++)
		if (i != LOOK_KERNEL)
			put_row(rows, look_name((enum command_look)i), "looks", before->nr[i], after->nr[i]);
	for (size_t i = 0; i < after->nr_wchans; i++) {
		put_source(rows, "look", after->wchans[i].name);
		put_row(rows, look_name(LOOK_KERNEL), "looks", i < before->nr_wchans ? before->wchans[i].nr : 0,
			after->wchans[i].nr);
	}
}

static void put_kernel_threads(struct host_rows *rows,
			       const struct kernel_threads *before,
			       const struct kernel_threads *after)
{
	put_source(rows, "kernel", "");
	for (int i = 0; i < NR_KERNEL_WORKS; i++)
		put_row(rows, kernel_work_name((enum kernel_work)i), "ns",
			ticks_ns(before->ticks[i]), ticks_ns(after->ticks[i]));
}

static bool is_controller(const struct host *host, unsigned int line)
{
	for (size_t i = 0; i < host->nr_pcis; i++)
		if (interrupts_of_pci(host->pcis[i], line))
			return true;
	return false;
}

static void put_interrupts(struct host_rows *rows, const struct host *before,
			   const struct host *after)
{
	for (size_t i = 0; i < after->lines.nr; i++) {
		const struct interrupt_line *line = &after->lines.lines[i];
		const uint64_t *now = &after->lines.counts[line->first];
		const uint64_t *then = interrupts_of(&before->lines,
						     line->number);
		char subject[HOST_SUBJECT];

		/* A line without interrupts has no row, and its device is slow to find. */
		if (!then ||
		    before->lines.nr_processors != after->lines.nr_processors ||
		    !memcmp(then, now, after->lines.nr_processors * sizeof(*now)) ||
		    !is_controller(after, line->number))
			continue;
		snprintf(subject, sizeof(subject), "%u %.48s", line->number,
			 line->devices);
		put_source(rows, "interrupt", subject);
		for (size_t cpu = 0; cpu < after->lines.nr_processors; cpu++) {
			char name[HOST_NAME];

			snprintf(name, sizeof(name), "cpu%u",
				 after->lines.processors[cpu]);
			put_row(rows, name, "interrupts", then[cpu], now[cpu]);
		}
	}
}

int host_look(struct host *host, uint64_t now_ns, struct rows *to)
{
	struct host before = *host;
	struct host_rows rows = {
		.row = { .start_ns = before.looked_ns, .end_ns = now_ns },
		.to = to,
	};

	read_all(host);
	host->looked_ns = now_ns;
	put_source(&rows, "cpu", "");
	for (int i = 0; i < HOST_CPU_FIELDS; i++)
		if (before.known_cpu && host->known_cpu)
			put_row(&rows, cpu_fields[i], "ns",
				ticks_ns(before.cpu[i]), ticks_ns(host->cpu[i]));
	put_source(&rows, "vmstat", "");
	for (int i = 0; i < HOST_VM_COUNTERS; i++)
		if (before.known_vm[i] && host->known_vm[i])
			put_row(&rows, vm_counters[i].name,
				vm_counters[i].unit, before.vm[i],
				host->vm[i]);
	put_tree(&rows, &before.tree, &host->tree);
	put_looks(&rows, &before.looks_put, &host->looks);
	host->looks_put = host->looks;
	put_kernel_threads(&rows, &before.kernel, &host->kernel);
	put_interrupts(&rows, &before, host);
	interrupts_free(&before.lines);
	return rows.err;
}

void host_glimpse(struct host *host)
{
	looks_take(&host->looks, getpid());
}

static int take_pcis(struct host *host, const struct disk *disks, size_t nr)
{
	host->pcis = calloc(nr + 1, sizeof(*host->pcis));
	if (!host->pcis)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		bool known = !disks[i].above.pci[0];

		for (size_t j = 0; j < host->nr_pcis && !known; j++)
			known = !strcmp(host->pcis[j], disks[i].above.pci);
		if (!known)
			memcpy(host->pcis[host->nr_pcis++], disks[i].above.pci,
			       sizeof(disks[i].above.pci));
	}
	return 0;
}

int host_begin(struct host *host, const struct disk *disks, size_t nr,
	       uint64_t now_ns)
{
	int err;

	memset(host, 0, sizeof(*host));
	proc_open(&host->stat, "/proc/stat");
	proc_open(&host->vmstat, "/proc/vmstat");
	proc_open(&host->interrupts, "/proc/interrupts");
	err = take_pcis(host, disks, nr);
	if (err)
		return err;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	host->looked_ns = now_ns;
	if (!strcmp(lab_time(), "simulated"))
		host->looks.next_ns = UINT64_MAX;	/* computing takes no time there, and each look memory */
	kernel_threads_begin(&host->kernel, disks, nr);
	read_all(host);
	return 0;
}

void host_available(const struct host *host, char *ret, size_t size)
{
	bool vm = false, interrupts = false;

	for (int i = 0; i < HOST_VM_COUNTERS; i++)
		vm |= host->known_vm[i];
	for (size_t i = 0; i < host->lines.nr; i++)
		interrupts |= is_controller(host, host->lines.lines[i].number);
	snprintf(ret, size, "%s%scommand-cpu%s%s%s%s%s", host->known_cpu ? "cpu " : "",
		 vm ? "vmstat " : "", host->looks.next_ns < UINT64_MAX ? " looks" : "",
		 host->tree.waited_known ? " command-wait" : "",
		 host->tree.io_known ? " command-io" : "",
		 interrupts ? " interrupt" : "",
		 host->kernel.begun ? " kernel-threads" : "");
}

void host_reaped(struct host *host, pid_t pid)
{
	tree_add_ended(pid, &host->ended);
}

void host_end(struct host *host)
{
	if (!host->pcis)
		return;
	proc_close(&host->stat);
	proc_close(&host->vmstat);
	proc_close(&host->interrupts);
	interrupts_free(&host->lines);
	kernel_threads_end(&host->kernel);
	free(host->pcis);
	memset(host, 0, sizeof(*host));
}
