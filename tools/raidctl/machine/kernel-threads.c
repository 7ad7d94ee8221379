// SPDX-License-Identifier: GPL-2.0-or-later

/* Processor time of kernel threads that compute for disks. */

#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "disk/disk.h"

#define KTHREADD	2 /* parent of all kernel threads */

struct kernel_thread {
	int pid;
	uint64_t start;
	uint64_t ticks;
};

const char *kernel_work_name(enum kernel_work work)
{
	static const char *const names[NR_KERNEL_WORKS] = {
		[WORK_CRYPT] = "kcryptd", [WORK_MD] = "md",
	};

	return names[work];
}

enum kernel_work kernel_work_of(const char *name)
{
	if (strstr(name, "kcryptd") || strstr(name, "dmcrypt_write"))
		return WORK_CRYPT;
	if (strstr(name, "raid5wq"))
		return WORK_MD;
	/* md127_raid6, md_d0_resync; not the workqueue md_misc */
	if (!strncmp(name, "md", 2) &&
	    (strstr(name, "_raid") || strstr(name, "_resync") ||
	     strstr(name, "_reshape")))
		return WORK_MD;
	return NR_KERNEL_WORKS;
}

void kernel_threads_begin(struct kernel_threads *all, const struct disk *disks,
			  size_t nr)
{
	memset(all, 0, sizeof(*all));
	for (size_t i = 0; i < nr && !all->needed; i++)
		all->needed = stack_has_layers(disks[i].name);
}

/* The threads of this reading and of the last one. */
struct look {
	const struct kernel_threads *before;
	struct kernel_thread *threads;
	size_t nr;
	uint64_t ticks[NR_KERNEL_WORKS];
};

/* Processes are listed in order of their ids, so the next one is near. */
static uint64_t ticks_before(const struct look *look, int pid, uint64_t start)
{
	const struct kernel_thread *threads = look->before->threads;
	size_t low = 0, high = look->before->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (threads[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < look->before->nr && threads[low].pid == pid &&
	    threads[low].start == start)
		return threads[low].ticks;
	return 0;
}

static int take_thread(void *data, int pid)
{
	struct look *look = data;
	struct kernel_thread *more;
	struct process process;
	enum kernel_work work;

	if (!proc_process_read(pid, &process) || process.parent != KTHREADD)
		return 0;
	more = reallocarray(look->threads, look->nr + 1, sizeof(*more));
	if (!more)
		return 1;
	look->threads = more;
	more[look->nr++] = (struct kernel_thread){
		.pid = pid, .start = process.start, .ticks = process.ticks,
	};
	work = kernel_work_of(process.name);
	if (work != NR_KERNEL_WORKS && look->before->begun) {
		uint64_t before = ticks_before(look, pid, process.start);

		if (process.ticks > before)
			look->ticks[work] += process.ticks - before;
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct kernel_thread *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

void kernel_threads_look(struct kernel_threads *all)
{
	struct look look = { .before = all };

	if (!all->needed)
		return;
	if (proc_each_pid(take_thread, &look)) {
		free(look.threads);
		return;
	}
	if (look.nr)
		qsort(look.threads, look.nr, sizeof(*look.threads), by_pid);
	free(all->threads);
	all->threads = look.threads;
	all->nr = look.nr;
	all->begun = true;
	for (int i = 0; i < NR_KERNEL_WORKS; i++)
		all->ticks[i] += look.ticks[i];
}

void kernel_threads_end(struct kernel_threads *all)
{
	free(all->threads);
	memset(all, 0, sizeof(*all));
}
