// SPDX-License-Identifier: GPL-2.0-or-later

/* What happened between two looks at /proc; pure. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/activity.h"

/* struct change - of one process; below 0 what counted for a child before */
struct change {
	int64_t ticks;
	int64_t io_bytes;
};

static const struct process *same(const struct activity *in,
				  const struct process *process)
{
	for (size_t i = 0; i < in->nr_processes; i++)
		if (in->processes[i].pid == process->pid &&
		    in->processes[i].start == process->start)
			return &in->processes[i];
	return NULL;
}

static const struct process *of_pid(const struct activity *in, int pid)
{
	for (size_t i = 0; i < in->nr_processes; i++)
		if (in->processes[i].pid == pid)
			return &in->processes[i];
	return NULL;
}

/*
 * A process that ended: its parent, or the next one up that is still there,
 * now has all its time and I/O, of which a part was before the first look.
 */
static void take_back(const struct activity *before,
		      const struct activity *after,
		      const struct process *ended, struct change *changes)
{
	const struct process *heir = ended, *there = NULL;

	for (int depth = 0; heir && !there && depth < 64; depth++) {
		heir = of_pid(before, heir->parent);
		there = heir ? same(after, heir) : NULL;
	}
	if (!there)
		return;
	changes[there - after->processes].ticks -= (int64_t)ended->ticks;
	changes[there - after->processes].io_bytes -= (int64_t)ended->io_bytes;
}

static void change_all(const struct activity *before,
		       const struct activity *after, struct change *changes)
{
	for (size_t i = 0; i < after->nr_processes; i++) {
		const struct process *now = &after->processes[i];
		const struct process *then = same(before, now);

		changes[i].ticks = (int64_t)(now->ticks - (then ? then->ticks : 0));
		if (now->io_known && (!then || then->io_known))
			changes[i].io_bytes = (int64_t)(now->io_bytes -
							(then ? then->io_bytes : 0));
	}
	for (size_t i = 0; i < before->nr_processes; i++)
		if (!same(after, &before->processes[i]))
			take_back(before, after, &before->processes[i],
				  changes);
}

static int processes_between(const struct activity *before,
			     const struct activity *after, int self,
			     double ticks_per_second, struct facts *facts)
{
	size_t nr = after->nr_processes;
	struct change *changes = calloc(nr + 1, sizeof(*changes));

	facts->processes = calloc(nr + 1, sizeof(*facts->processes));
	if (!changes || !facts->processes) {
		free(changes);
		return -ENOMEM;
	}
	change_all(before, after, changes);
	for (size_t i = 0; i < nr; i++) {
		const struct process *process = &after->processes[i];
		struct process_use *use;

		if (process->pid == self)
			continue;
		use = &facts->processes[facts->nr_processes++];
		use->pid = process->pid;
		memcpy(use->name, process->name, sizeof(use->name));
		if (changes[i].ticks > 0)
			use->cpu_percent = 100 * (double)changes[i].ticks /
					   ticks_per_second / facts->seconds;
		if (changes[i].io_bytes > 0)
			use->io_bytes = (uint64_t)changes[i].io_bytes;
		facts->nr_io_hidden += !process->io_known;
	}
	free(changes);
	return 0;
}

static int disks_between(const struct activity *before,
			 const struct activity *after, struct facts *facts)
{
	facts->disk_uses = calloc(after->nr_disks + 1,
				  sizeof(*facts->disk_uses));
	if (!facts->disk_uses)
		return -ENOMEM;
	for (size_t i = 0; i < after->nr_disks; i++) {
		struct disk_use *use = &facts->disk_uses[facts->nr_disk_uses++];

		*use = after->disks[i];
		for (size_t j = 0; j < before->nr_disks; j++) {
			const struct disk_use *then = &before->disks[j];

			/* Less than before: another disk of the same name. */
			if (strcmp(then->name, use->name) ||
			    then->requests > use->requests ||
			    then->bytes > use->bytes)
				continue;
			use->requests -= then->requests;
			use->bytes -= then->bytes;
			break;
		}
	}
	return 0;
}

int activity_between(const struct activity *before,
		     const struct activity *after, int self,
		     double ticks_per_second, struct facts *facts)
{
	int err;

	facts->seconds = (double)(after->time_ns - before->time_ns) / NS_PER_S;
	facts->processes_known = before->processes_known &&
				 after->processes_known;
	facts->io_accounted = before->io_accounted && after->io_accounted;
	facts->disk_uses_known = before->disks_known && after->disks_known;
	facts->swapped_pages = FACT_UNKNOWN;
	if (before->swapped_pages >= 0 && after->swapped_pages >= 0)
		facts->swapped_pages = after->swapped_pages -
				       before->swapped_pages;
	err = processes_between(before, after, self, ticks_per_second, facts);
	return err ? err : disks_between(before, after, facts);
}

uint64_t activity_interrupts(const struct activity *before,
			     const struct activity *after, unsigned int number,
			     bool *shared)
{
	const struct interrupt_table *looks[2] = { &before->interrupts, &after->interrupts };
	uint64_t counts[2] = { 0, 0 };

	for (int look = 0; look < 2; look++)
		for (size_t i = 0; i < looks[look]->nr; i++) {
			const struct interrupt_line *line = &looks[look]->lines[i];

			if (line->number != number)
				continue;
			counts[look] += interrupts_sum(looks[look], i);
			/* Names of drivers that share a line are separated by ", ". */
			*shared |= !!strstr(line->devices, ", ");
		}
	return counts[1] > counts[0] ? counts[1] - counts[0] : 0;
}
