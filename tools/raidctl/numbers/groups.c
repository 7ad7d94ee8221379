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
 * @unit: of its values
 * @counted: of its counts
 * @needs: RT_COUNTER_BIT() of the counter whose events it has
 * @disk: RT_DISK_BIT() likewise
 * @late: ABI 1 did not have it
 */
struct kind {
	uint32_t group;
	const char *unit;
	const char *counted;
	uint64_t needs;
	uint32_t disk;
	bool late;
};

#define KIND(name)	RAIDTRACE_HISTOGRAM_KIND_##name
#define GROUP(name)	RAIDTRACE_GROUP_##name
#define BIT(name)	RT_COUNTER_BIT(name)

static const struct kind kinds[RT_KINDS] = {
	[KIND(SIZE)] = { GROUP(SIZE), "sectors", "requests", BIT(ISSUED), 0, false },
	[KIND(SEEK)] = { GROUP(SEEK), "sectors", "requests", BIT(ISSUED), 0, false },
	[KIND(DEPTH_TIME)] = { GROUP(DEPTH), "requests", "ns", BIT(IN_FLIGHT), 0, false },
	[KIND(DEPTH_ISSUE)] = { GROUP(DEPTH), "requests", "requests", BIT(IN_FLIGHT), 0, false },
	[KIND(D2C)] = { GROUP(LATENCY), "ns", "requests", BIT(D2C_SUM_NS), 0, false },
	[KIND(SEEK_QUEUED)] = { GROUP(SEEK), "sectors", "bios", BIT(SEQUENTIAL_QUEUED), 0, true },
	[KIND(I2D)] = { GROUP(LATENCY), "ns", "requests", BIT(I2D_SUM_NS), 0, true },
	[KIND(Q2C)] = { GROUP(LATENCY), "ns", "pieces", BIT(Q2C_SUM_NS), 0, true },
	[KIND(DEPTH_D2C)] = { GROUP(LATENCY), "ns", "requests", BIT(D2C_SUM_NS), 0, true },
	[KIND(PLACE)] = { GROUP(PLACE), "1/256 of the disk", "bytes", BIT(ISSUED), 0, true },
	[KIND(UNPLUG)] = { GROUP(PLUG), "requests", "unplugs", 0, RT_DISK_BIT(UNPLUGS_EXPLICIT), true },
	[KIND(BLAME)] = { GROUP(BLAME), "class", "requests", BIT(ISSUED), 0, true },
	[KIND(BLAME_DISTANCE)] = { GROUP(BLAME), "class", "sectors", BIT(ISSUED), 0, true },
	[KIND(RA_SYNC)] = { GROUP(READAHEAD), "sectors", "windows", 0, RT_DISK_BIT(RA_SYNC_SECTORS), true },
	[KIND(RA_ASYNC)] = { GROUP(READAHEAD), "sectors", "windows", 0, RT_DISK_BIT(RA_ASYNC_SECTORS), true },
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

static uint32_t group_of(const char *name, size_t len)
{
	for (unsigned int i = 0; rt_group_name(i); i++)
		if (strlen(rt_group_name(i)) == len &&
		    !strncmp(rt_group_name(i), name, len))
			return 1U << i;
	return 0;
}

uint32_t groups_parse(const char *text)
{
	uint32_t groups = 0;

	while (text && *text) {
		size_t len = strcspn(text, " ");

		groups |= group_of(text, len);
		text += len;
		text += strspn(text, " ");
	}
	return groups;
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

const char *kind_unit(unsigned int kind)
{
	return kinds[kind].unit;
}

const char *kind_counted(unsigned int kind)
{
	return kinds[kind].counted;
}
