/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the machine did while disks were recorded: processors, page cache, the
 * command with all its processes, interrupts of the controllers.  Rows are
 * differences between two looks; those that are zero are left out.
 */

#ifndef MACHINE_MACHINE_H
#define MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "disk/disk.h"
#include "machine/interrupts.h"
#include "machine/kernel-threads.h"
#include "machine/proc.h"
#include "machine/process-tree.h"
#include "store/machine.h"

/* Fields of the first line of /proc/stat, in its order. */
#define HOST_CPU_FIELDS	10
/* Counters of /proc/vmstat that are kept; the table is in machine.c. */
#define HOST_VM_COUNTERS 24

/* host_row_fn - is given a number about the machine; 0 or -errno */
typedef int host_row_fn(void *data, const struct host_row *row);

/**
 * struct host - the last look
 * @pcis: addresses of the controllers of the recorded disks
 * @nr_pcis: how many
 * @stat: /proc/stat
 * @vmstat: /proc/vmstat
 * @interrupts: /proc/interrupts
 * @ended: processes that were waited for
 * @looked_ns: when
 * @known_cpu: @cpu could be read
 * @cpu: time in each field, in ticks
 * @known_vm: by counter
 * @vm: counters of pages
 * @tree: the command
 * @lines: all interrupts
 * @kernel: threads that compute for md and dm-crypt
 */
struct host {
	char (*pcis)[DISK_NAME];
	size_t nr_pcis;
	struct proc_file stat;
	struct proc_file vmstat;
	struct proc_file interrupts;
	struct tree_use ended;
	uint64_t looked_ns;
	bool known_cpu;
	uint64_t cpu[HOST_CPU_FIELDS];
	bool known_vm[HOST_VM_COUNTERS];
	uint64_t vm[HOST_VM_COUNTERS];
	struct tree_use tree;
	struct interrupt_table lines;
	struct kernel_threads kernel;
};

/**
 * host_begin - take the first look
 * @host: to be given to host_end()
 * @disks: interrupts of their controllers are counted
 * @nr: how many
 * @now_ns: CLOCK_MONOTONIC
 *
 * From here on orphans of the command become children of this process, so
 * that nothing that it started is lost from sight.
 *
 * Return: 0 or -ENOMEM.
 */
int host_begin(struct host *host, const struct disk *disks, size_t nr,
	       uint64_t now_ns);

/**
 * host_look - what happened since the last look
 * @host: begun
 * @now_ns: end of the rows; CLOCK_MONOTONIC
 * @put: is given each row; what it returns other than 0 ends it
 * @data: for @put
 *
 * Return: 0 or what @put returned.
 */
int host_look(struct host *host, uint64_t now_ns, host_row_fn *put,
	      void *data);

/* host_available - sources that this machine has, separated by blanks */
void host_available(const struct host *host, char *ret, size_t size);

/* host_reaped - a child has ended and will be waited for next */
void host_reaped(struct host *host, pid_t pid);
void host_end(struct host *host);

/* host_clean - bytes of a name that are no printable ASCII become '?' */
void host_clean(char *text);

#endif
