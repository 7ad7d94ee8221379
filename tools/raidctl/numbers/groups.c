// SPDX-License-Identifier: GPL-2.0-or-later

/* Groups of counters of a source, and their histograms. */

#include "numbers/numbers.h"

#include <stdio.h>
#include <string.h>

/* A kind of histogram. */
struct kind {
	uint64_t needs;	/* RT_COUNTER_BIT() of the counter of its events */
	uint32_t disk;	/* RT_DISK_BIT() of this counter */
};

#define KIND(name)	RAIDTRACE_HISTOGRAM_KIND_##name
#define BIT(name)	RT_COUNTER_BIT(name)

static const struct kind kinds[RT_KINDS] = {
	[KIND(SIZE)] = { BIT(ISSUED), 0 },
	[KIND(SEEK)] = { BIT(ISSUED), 0 },
	[KIND(DEPTH_TIME)] = { BIT(IN_FLIGHT), 0 },
	[KIND(DEPTH_ISSUE)] = { BIT(IN_FLIGHT), 0 },
	[KIND(D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_QUEUED)] = { BIT(SEQUENTIAL_QUEUED), 0 },
	[KIND(I2D)] = { BIT(I2D_SUM_NS), 0 },
	[KIND(Q2C)] = { BIT(Q2C_SUM_NS), 0 },
	[KIND(DEPTH_D2C)] = { BIT(D2C_SUM_NS) | BIT(IN_FLIGHT), 0 },
	[KIND(DEPTH_D2C_NS)] = { BIT(D2C_SUM_NS) | BIT(IN_FLIGHT), 0 },
	[KIND(SIZE_D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SIZE_D2C_NS)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_D2C)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(SEEK_D2C_NS)] = { BIT(D2C_SUM_NS), 0 },
	[KIND(PLACE)] = { BIT(ISSUED), 0 },
	[KIND(UNPLUG)] = { 0, RT_DISK_BIT(UNPLUGS_EXPLICIT) },
	[KIND(BLAME)] = { BIT(ISSUED), 0 },
	[KIND(BLAME_DISTANCE)] = { BIT(ISSUED), 0 },
	[KIND(RA_SYNC)] = { 0, RT_DISK_BIT(RA_SYNC_SECTORS) },
	[KIND(RA_ASYNC)] = { 0, RT_DISK_BIT(RA_ASYNC_SECTORS) },
};

char *groups_text(char *ret, uint32_t groups)
{
	size_t used = 0;

	ret[0] = '\0';
	for (unsigned int i = 0; rt_group_name(i); i++)
		if (groups & (1U << i))
			used += (size_t)snprintf(ret + used, GROUPS_TEXT - used,
						 "%s%s", used ? " " : "",
						 rt_group_name(i));
	return ret;
}

bool kind_is_unknown(unsigned int kind, uint64_t unknown, uint32_t disk_unknown)
{
	return (unknown & kinds[kind].needs) || (disk_unknown & kinds[kind].disk);
}

bool origin_unknown(uint64_t unknown, size_t offset)
{
	return unknown & RT_COUNTER_BIT(ISSUED) &&
	       offset >= offsetof(struct rt_origin, issued);
}
