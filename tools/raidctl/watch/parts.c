// SPDX-License-Identifier: GPL-2.0-or-later

/* Parts of a look that come from one text each. */

#include "watch/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk/disk.h"
#include "machine/machine.h"

int64_t look_pressure(const char *text)
{
	const char *total = text && !strncmp(text, "some ", 5) ?
			    strstr(text, " total=") : NULL;

	return total ? strtoll(total + 7, NULL, 10) : FACT_UNKNOWN;
}

void look_steal(const char *text, struct look *ret)
{
	ret->steal_ticks = FACT_UNKNOWN;
	if (!text || sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNd64,
			    &ret->steal_ticks) != 1)
		return;
	while ((text = proc_line(text)) && !strncmp(text, "cpu", 3))
		ret->nr_processors++;
}

/* Is it a recorded disk, above or below one, or not a whole disk? */
static bool leave_out(const struct look_scope *scope, const char *name)
{
	if (!proc_whole_disk(name))
		return true;
	for (size_t i = 0; i < scope->nr_disks; i++) {
		const char *recorded = scope->disks[i].name;

		if (!strcmp(recorded, name) || stack_lies_on(name, recorded) ||
		    stack_lies_on(recorded, name))
			return true;
	}
	return false;
}

static void classify_disk(const struct look_scope *scope,
			  const struct look *before, struct look_disk *disk)
{
	for (size_t i = 0; before && i < before->nr_disks; i++) {
		const struct look_disk *last = &before->disks[i];

		if (strcmp(last->use.name, disk->use.name))
			continue;
		disk->left_out = last->left_out;
		disk->holds_recording = last->holds_recording;
		return;
	}
	disk->left_out = leave_out(scope, disk->use.name);
	disk->holds_recording = !strcmp(disk->use.name, scope->recording);
}

int look_disks(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret)
{
	struct look_disk *more, disk = { 0 };

	ret->disks_known = text;
	while (proc_disk_use(&text, &disk.use)) {
		if (!disk.use.requests)
			continue;
		classify_disk(scope, before, &disk);
		more = reallocarray(ret->disks, ret->nr_disks + 1,
				    sizeof(*more));
		if (!more)
			return -ENOMEM;
		ret->disks = more;
		more[ret->nr_disks++] = disk;
	}
	return 0;
}

static bool is_ours(const struct look_scope *scope, unsigned int line)
{
	if (interrupts_of_pci(scope->recording_pci, line))
		return true;
	for (size_t i = 0; i < scope->nr_disks; i++)
		if (interrupts_of_pci(scope->disks[i].above.pci, line))
			return true;
	return false;
}

static void classify_line(const struct look_scope *scope,
			  const struct look *before, struct look_line *line)
{
	for (size_t i = 0; before && i < before->nr_lines; i++) {
		const struct look_line *last = &before->lines[i];

		if (last->number != line->number ||
		    strcmp(last->devices, line->devices))
			continue;
		line->left_out = last->left_out;
		line->network = last->network;
		return;
	}
	/*
	 * The machine's timer is always there, so it is not a disturbance. In User Mode Linux, SIGCHLD reports the end
	 * of the kernel's own processes.
	 */
	line->left_out = strstr(line->devices, "timer") ||
			 strstr(line->devices, "SIGCHLD") ||
			 is_ours(scope, line->number);
	line->network = interrupts_of_network(line->number);
}

static void add_line(const struct look_scope *scope, const struct look *before,
		     const struct interrupt_table *table, size_t i,
		     struct look *ret)
{
	struct look_line *line = &ret->lines[ret->nr_lines++];

	line->number = table->lines[i].number;
	memcpy(line->devices, table->lines[i].devices, sizeof(line->devices));
	host_clean(line->devices);
	line->count = interrupts_sum(table, i);
	classify_line(scope, before, line);
}

int look_lines(const char *text, const struct look_scope *scope,
	       const struct look *before, struct look *ret)
{
	struct interrupt_table table;
	int err;

	if (!text)
		return 0;
	err = interrupts_parse(text, &table);
	if (err)
		return err == -ENOMEM ? err : 0;
	ret->lines = calloc(table.nr + 1, sizeof(*ret->lines));
	ret->lines_known = ret->lines;
	for (size_t i = 0; i < table.nr && ret->lines; i++)
		add_line(scope, before, &table, i, ret);
	interrupts_free(&table);
	return ret->lines ? 0 : -ENOMEM;
}
