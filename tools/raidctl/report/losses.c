// SPDX-License-Identifier: GPL-2.0-or-later

/* Losses of a source of counters, as text and JSON. */

#include "report/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attach/source.h"
#include "base/base.h"
#include "format/format.h"

#define LOSSES_TEXT	1024

int losses_get(struct rt_client *client, uint32_t id, const struct rt_counters *counters, struct losses *ret)
{
	int err = rt_lost_get(client, id, &ret->lost);

	ret->undelivered = 0;
	for (unsigned int d = 0; d < RAIDTRACE_DIRECTION_ALL && source_is_own(client); d++)
		ret->undelivered += counters->flow[d].abandoned;
	return err;
}

static uint64_t records(const struct losses *losses)
{
	uint64_t sum = 0;

	for (unsigned int kind = 0; kind < RT_RECORDS; kind++)
		sum += losses->lost.records[kind];
	return sum;
}

uint64_t losses_sum(const struct losses *losses)
{
	return records(losses) + losses->lost.missed + losses->undelivered;
}

static size_t add(char *ret, size_t used, uint64_t nr, const char *what)
{
	return nr ? used + (size_t)snprintf(ret + used, LOSSES_TEXT - used, "%s%" PRIu64 " %s", used ? ", " : "",
					    nr, what) : used;
}

/* Without the record of an end and of the next issue, the time of a request is too long, and it stays in flight. */
void losses_note(const char *disk, const struct losses *losses)
{
	char text[LOSSES_TEXT];
	size_t used = 0;

	for (unsigned int kind = 0; kind < RT_RECORDS; kind++)
		used = add(text, used, losses->lost.records[kind], rt_record_name(kind));
	if (used)
		used += (size_t)snprintf(text + used, LOSSES_TEXT - used, " (a buffer was full: depths and times may be wrong)");
	used = add(text, used, losses->undelivered, "ends of requests (not delivered by the kernel)");
	used = add(text, used, losses->lost.missed, "of any disk (missed: they interrupted another)");
	if (used)
		note("%s: %" PRIu64 " events were lost: %s; the counters lack them", disk, losses_sum(losses), text);
}

void losses_json(struct json_object *to, const struct losses *losses)
{
	struct json_object *kinds = json_new_object();

	for (unsigned int kind = 0; kind < RT_RECORDS; kind++)
		if (losses->lost.records[kind])
			json_add_count(kinds, rt_record_name(kind), losses->lost.records[kind]);
	json_member(to, "lost_records", kinds);
	json_add_count(to, "missed_events", losses->lost.missed);
	json_add_count(to, "undelivered_ends", losses->undelivered);
}
