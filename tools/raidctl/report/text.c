// SPDX-License-Identifier: GPL-2.0-or-later

/* Text of raidctl list and status, at most 100 columns. */

#include "report/report.h"

#include <inttypes.h>

#include "base/base.h"

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "-";
}

/* Hardware queues and the requests of each. */
static const char *queues_text(char *ret, const struct disk *disk)
{
	if (!disk->nr_queues || disk->nr_requests < 0)
		return "n/a";
	snprintf(ret, UNITS_TEXT, "%ux%" PRId64, disk->nr_queues,
		 disk->nr_requests);
	return ret;
}

/* Print attributes that hardly change: driver, firmware, sizes. */
static void disk_details(FILE *to, const struct disk *disk)
{
	char largest[UNITS_TEXT], optimal[UNITS_TEXT];

	terminal_print(to, "    %s%s%srequests of at most %s",
		       disk->above.driver,
		       disk->above.unit_3ware ? " (unit of a 3ware 9000 controller)" : "",
		       disk->above.driver[0] ? ", " : "",
		       format_bytes(largest, (double)disk->max_sectors_kb * 1024));
	if (disk->firmware[0])
		terminal_print(to, ", firmware %s", disk->firmware);
	if (disk->queue_depth >= 0)
		terminal_print(to, ", queue depth %" PRId64, disk->queue_depth);
	if (disk->optimal_io_bytes)
		terminal_print(to, ", optimal I/O %s",
			       format_bytes(optimal, (double)disk->optimal_io_bytes));
	fputc('\n', to);
}

static void disk_line(FILE *to, const struct disk *disk)
{
	char size[UNITS_TEXT], readahead[UNITS_TEXT], queues[UNITS_TEXT];

	terminal_print(to, "%-9s %-8s %-20.20s %9s %9s %8s  %s\n", disk->name,
		       disk->kind, or_none(disk->model),
		       format_bytes(size, (double)disk->capacity_sectors *
					  SECTOR_BYTES),
		       format_bytes(readahead,
				    (double)disk->readahead_kib * 1024),
		       queues_text(queues, disk), or_none(disk->scheduler));
	disk_details(to, disk);
	terminal_print(to, "    setra %" PRIu64 ": %s\n",
		       disk->readahead_kib * 1024 / SECTOR_BYTES,
		       disk_readahead_from(disk));
	for (size_t i = 0; i < disk->nr_mounts; i++)
		terminal_print(to, "    %s on %s type %s\n",
			       disk->mounts[i].device, disk->mounts[i].dir,
			       disk->mounts[i].fstype);
}

void text_disks(FILE *to, const struct disk *disks, size_t nr)
{
	if (!nr) {
		fputs("No disks.\n", to);
		return;
	}
	terminal_print(to, "%s%-9s %-8s %-20s %9s %9s %8s  %s%s\n", bold(to),
		       "DISK", "KIND", "MODEL", "SIZE", "READAHEAD", "QUEUES",
		       "SCHEDULER", plain(to));
	for (size_t i = 0; i < nr; i++)
		disk_line(to, &disks[i]);
	fputs("QUEUES: hardware queues x requests of each\n", to);
}

static void target_line(FILE *to, const struct rt_target *t)
{
	char size[UNITS_TEXT], readahead[SECTORS_TEXT];

	format_sectors(readahead, t->readahead_sectors);
	terminal_print(to, "  %-10s target %-3" PRIu32 " %-12s %9s  readahead %s%s%s\n",
		       t->disk, t->id, or_none(t->above.driver),
		format_bytes(size, (double)t->capacity_sectors * SECTOR_BYTES),
		readahead, t->above.unit_3ware ? "  3ware unit" : "",
		t->gone ? "  GONE" : "");
}

void text_status(FILE *to, const struct status *s)
{
	if (s->simulated)
		terminal_print(to, "simulated  this machine is a guest of the lab, profile %s\n",
			       or_none(s->profile));
	if (!s->loaded) {
		fputs("raidtrace  not loaded; load it with: raidctl load (as root)\n", to);
	} else {
		terminal_print(to, "raidtrace  %s loaded, ABI %" PRIu32 "\n",
			       s->info.version, s->info.abi);
		if (s->info.unavailable[0])
			terminal_print(to, "           this kernel lacks the tracepoints: %s\n",
				       s->info.unavailable);
		terminal_print(to, "targets    %" PRIu32 " of at most %" PRIu32 "\n",
			       s->info.nr_targets, s->info.max_targets);
	}
	for (size_t i = 0; i < s->nr_targets; i++)
		target_line(to, &s->targets[i]);
	for (size_t i = 0; i < s->nr_recordings; i++)
		if (s->recordings[i].detached)
			terminal_print(to, "recording  %d to %s, detached; end it with: raidctl record --stop %d\n",
				       (int)s->recordings[i].pid, s->recordings[i].file, (int)s->recordings[i].pid);
		else
			terminal_print(to, "recording  %d to %s\n", (int)s->recordings[i].pid, s->recordings[i].file);
	if (s->settings_left > 0)
		fputs("settings   not restored, because raidctl why or sweep was killed; "
		      "restore them with: sudo raidctl why restore\n", to);
	terminal_print(to, "3ware      %zu unit%s; see all disks: raidctl list\n",
		       s->nr_units, s->nr_units == 1 ? "" : "s");
}
