// SPDX-License-Identifier: GPL-2.0-or-later

/* Streams, latencies, classes, processes, plugs and places of one span: JSON. */

#include "report/sections.h"

#include "format/format.h"
#include "numbers/numbers.h"

static void add_groups(struct json_object *to, const struct rt_counters *c)
{
	struct json_object *groups = json_new_array();
	struct json_object *kinds = json_new_array();

	for (unsigned int i = 0; rt_group_name(i); i++)
		if (counts_group(c, 1U << i))
			json_element(groups, json_new_string(rt_group_name(i)));
	for (unsigned int k = 0; k < RT_KINDS; k++)
		if (!counts_kind(c, k))
			json_element(kinds, json_new_string(rt_kind_name(k)));
	json_member(to, "groups", groups);
	json_member(to, "histograms_not_counted", kinds);
}

static void add_disk(struct json_object *to, const struct rt_counters *c)
{
	struct json_object *object = json_new_object();
	uint32_t unknown = c->groups ? c->disk.unknown : ~0U;

#define X(member, attribute, ...)					\
	json_add_known(object, #member,					\
		       unknown & RT_DISK_BIT(attribute), c->disk.member);
	RT_DISK_COUNTERS(X)
	X(streams_alive, STREAMS_ALIVE)
	X(streams_alive_queued, STREAMS_ALIVE_QUEUED)
#undef X
	json_member(to, "disk_counters", object);
}

static struct json_object *origin_object(const struct rt_counters *c)
{
	struct json_object *object;

	if (!c->groups || !counts_group(c, RAIDTRACE_GROUP_ORIGIN))
		return NULL;
	object = json_new_object();
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
		struct json_object *row = json_new_object();

#define X(member, attribute, ...)					\
		json_add_known(row, #member,				\
			       origin_unknown(c->unknown, offsetof(struct rt_origin, member)), \
			       c->origin[i].member);
		RT_ORIGIN_COUNTERS(X)
#undef X
		json_member(object, rt_class_name(i), row);
	}
	return object;
}

static struct json_object *submitters_object(const struct rt_counters *c)
{
	struct json_object *array;

	if (!c->groups || !counts_group(c, RAIDTRACE_GROUP_SUBMITTER))
		return NULL;
	array = json_new_array();
	for (size_t i = 0; i < c->nr_submitters; i++) {
		const struct rt_submitter *s = &c->submitters[i];
		struct json_object *row = json_new_object();

		json_add_known(row, "pid", s->rest, s->pid);
		json_add_text(row, "comm", s->comm);
		json_add_text(row, "cgroup", s->path);
#define X(member, attribute, ...) json_add_count(row, #member, s->member);
		RT_SUBMITTER_COUNTERS(X)
#undef X
		json_element(array, row);
	}
	return array;
}

static struct json_object *hwqs_object(const struct rt_counters *c)
{
	struct json_object *array;

	if (!c->groups || !counts_group(c, RAIDTRACE_GROUP_HWQ))
		return NULL;
	array = json_new_array();
	for (unsigned int i = 0; i < c->nr_hwqs; i++) {
		const struct rt_hwq *hwq = &c->hwq[i];
		struct json_object *row;

		if (!(hwq->issued | hwq->depth_sum_ns))
			continue;
		row = json_new_object();
		json_add_count(row, "hwq", i);
#define X(member, attribute, ...) json_add_count(row, #member, hwq->member);
		RT_HWQ_COUNTERS(X)
		X(in_flight, IN_FLIGHT)
		X(in_flight_max, IN_FLIGHT_MAX)
#undef X
		json_element(array, row);
	}
	return array;
}

void json_groups(struct json_object *to, const struct rt_counters *c)
{
	add_groups(to, c);
	add_disk(to, c);
	json_member(to, "origin", origin_object(c));
	json_member(to, "submitters", submitters_object(c));
	json_member(to, "hwqs", hwqs_object(c));
}
