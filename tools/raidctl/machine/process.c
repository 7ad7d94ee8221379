// SPDX-License-Identifier: GPL-2.0-or-later

/* What lines of /proc tell of a process or a disk. */

#include "machine/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int parse_process(const char *text, struct process *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t user, system, waited_user, waited_system, faults, waited_faults;

	memset(ret, 0, sizeof(*ret));
	if (!open || !close || close < open)
		return -EINVAL;
	ret->pid = atoi(text);
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(close - open - 1),
		 open + 1);
	/* From state on: ppid, five fields, faults, four times, four fields, start. */
	if (sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %*u %*u %*u %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %*d %*d %*d %*d %" SCNu64,
		   &ret->parent, &faults, &waited_faults, &user, &system,
		   &waited_user, &waited_system, &ret->start) != 8)
		return -EINVAL;
	ret->ticks = user + system + waited_user + waited_system;
	ret->major_faults = faults + waited_faults;
	return 0;
}

int parse_disk_use(const char *text, struct disk_use *ret)
{
	uint64_t reads, read_sectors, writes, written_sectors;
	uint64_t discards = 0, discarded_sectors = 0, flushes = 0;
	/* Discards came with Linux 4.18, flushes with 5.5. */
	int nr = sscanf(text,
			" %*u %*u %63s %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			" %*u %" SCNu64 " %*u %*u %*u %*u %" SCNu64
			" %*u %" SCNu64 " %*u %" SCNu64,
			ret->name, &reads, &read_sectors, &writes,
			&written_sectors, &discards, &discarded_sectors,
			&flushes);

	if (nr < 5)
		return -EINVAL;
	ret->requests = reads + writes + discards + flushes;
	ret->bytes = (read_sectors + written_sectors + discarded_sectors) *
		     SECTOR_BYTES;
	return 0;
}
