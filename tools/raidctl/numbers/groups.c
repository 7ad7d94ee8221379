// SPDX-License-Identifier: GPL-2.0-or-later

/* Groups of counters: which a source counts, and what belongs to which. */

#include "numbers/groups.h"

#include <stdio.h>
#include <string.h>

/* What ABI 1 counted, and what it had of the group latency. */
#define FIRST_GROUPS	(RAIDTRACE_GROUP_FLOW | RAIDTRACE_GROUP_SIZE |	\
			 RAIDTRACE_GROUP_SEEK | RAIDTRACE_GROUP_DEPTH |	\
			 RAIDTRACE_GROUP_LATENCY)

/**
 * struct kind - what is to be known of a kind of histogram
 * @group: that it belongs to
 * @needs: RT_COUNTER_BIT() of the counter of its events
 * @disk: RT_DISK_BIT() likewise
 * @late: ABI 1 did not have it
 */
struct kind {
	uint32_t group;
	uint64_t needs;
	uint32_t disk;
	bool late;
};

#define KIND(name)	RAIDTRACE_HISTOGRAM_KIND_##name
#define GROUP(name)	RAIDTRACE_GROUP_##name
#define BIT(name)	RT_COUNTER_BIT(name)

static const struct kind kinds[RT_KINDS] = {
	[KIND(SIZE)] = { GROUP(SIZE), BIT(ISSUED), 0, false },
	[KIND(SEEK)] = { GROUP(SEEK), BIT(ISSUED), 0, false },
	[KIND(DEPTH_TIME)] = { GROUP(DEPTH), BIT(IN_FLIGHT), 0, false },
	[KIND(DEPTH_ISSUE)] = { GROUP(DEPTH), BIT(IN_FLIGHT), 0, false },
	[KIND(D2C)] = { GROUP(LATENCY), BIT(D2C_SUM_NS), 0, false },
	[KIND(SEEK_QUEUED)] = { GROUP(SEEK), BIT(SEQUENTIAL_QUEUED), 0, true },
	[KIND(I2D)] = { GROUP(LATENCY), BIT(I2D_SUM_NS), 0, true },
	[KIND(Q2C)] = { GROUP(LATENCY), BIT(Q2C_SUM_NS), 0, true },
	[KIND(DEPTH_D2C)] = { GROUP(LATENCY), BIT(D2C_SUM_NS), 0, true },
	[KIND(PLACE)] = { GROUP(PLACE), BIT(ISSUED), 0, true },
	[KIND(UNPLUG)] = { GROUP(PLUG), 0, RT_DISK_BIT(UNPLUGS_EXPLICIT), true },
	[KIND(BLAME)] = { GROUP(BLAME), BIT(ISSUED), 0, true },
	[KIND(BLAME_DISTANCE)] = { GROUP(BLAME), BIT(ISSUED), 0, true },
	[KIND(RA_SYNC)] = { GROUP(READAHEAD), 0, RT_DISK_BIT(RA_SYNC_SECTORS), true },
	[KIND(RA_ASYNC)] = { GROUP(READAHEAD), 0, RT_DISK_BIT(RA_ASYNC_SECTORS), true },
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

bool counts_group(const struct rt_counters *c, uint32_t group)
{
	return (c->groups ? c->groups : FIRST_GROUPS) & group;
}

bool counts_kind(const struct rt_counters *c, unsigned int kind)
{
	const struct kind *k = &kinds[kind];

	return counts_group(c, k->group) && !(k->late && !c->groups) &&
	       !(c->unknown & k->needs) && !(c->disk.unknown & k->disk);
}

bool origin_unknown(uint64_t unknown, size_t offset)
{
	return unknown & RT_COUNTER_BIT(ISSUED) &&
	       offset >= offsetof(struct rt_origin, issued);
}

uint64_t kind_needs(unsigned int kind)
{
	return kinds[kind].needs;
}

uint32_t kind_needs_disk(unsigned int kind)
{
	return kinds[kind].disk;
}
