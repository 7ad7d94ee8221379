// SPDX-License-Identifier: GPL-2.0-or-later

/* A recording as read back. */

#include "store/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/groups.h"
#include "store/db.h"

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

/* Whether both texts could be copied. */
static int copied(const char *a, const char *b)
{
	return a && b ? 0 : -ENOMEM;
}

static int take_meta(void *data, int columns, const char *const *values)
{
	struct recording *r = data;
	struct pair *more = reallocarray(r->meta, r->nr_meta + 1,
					 sizeof(*more));

	(void)columns;
	if (!more)
		return -ENOMEM;
	r->meta = more;
	more += r->nr_meta++;
	*more = (struct pair){ .name = copy(values[0]),
			       .value = copy(values[1]) };
	return copied(more->name, more->value);
}

static int take_setting(void *data, int columns, const char *const *values)
{
	struct recording *r = data;
	struct pair *more = reallocarray(r->settings, r->nr_settings + 1,
					 sizeof(*more));

	(void)columns;
	if (!more)
		return -ENOMEM;
	r->settings = more;
	more += r->nr_settings++;
	*more = (struct pair){
		.time_ns = number(values[0]),
		.target = (uint32_t)number(values[1]),
		.name = copy(values[2]),
		.value = copy(values[3]),
	};
	return copied(more->name, more->value);
}

static void copy_name(char *to, const char *text)
{
	snprintf(to, RT_NAME_MAX, "%s", text ? text : "");
}

static int take_target(void *data, int columns, const char *const *values)
{
	struct recording *r = data;
	struct rt_target *more = reallocarray(r->targets, r->nr_targets + 1,
					      sizeof(*more));
	struct rt_target *t;

	(void)columns;
	if (!more)
		return -ENOMEM;
	r->targets = more;
	t = &more[r->nr_targets++];
	memset(t, 0, sizeof(*t));
	t->id = (uint32_t)number(values[0]);
	copy_name(t->disk, values[1]);
	t->name_only = !values[5];
	copy_name(t->driver, values[2]);
	copy_name(t->pci, values[3]);
	copy_name(t->hctl, values[4]);
	t->unit_3ware = number(values[5]);
	t->bio_based = number(values[6]);
	t->rotational = number(values[7]);
	t->capacity_sectors = number(values[8]);
	t->max_sectors = (uint32_t)number(values[9]);
	t->max_hw_sectors = (uint32_t)number(values[10]);
	t->max_segments = (uint32_t)number(values[11]);
	t->nr_requests = (uint32_t)number(values[12]);
	t->nr_hw_queues = (uint32_t)number(values[13]);
	t->nr_tags = (uint32_t)number(values[14]);
	t->attached_ns = number(values[15]);
	t->groups = groups_parse(values[16]);
	t->streams = (uint32_t)number(values[17]);
	t->place_sectors = number(values[18]);
	return 0;
}

static int take_span(void *data, int columns, const char *const *values)
{
	struct recording *r = data;
	struct span *more = reallocarray(r->spans, r->nr_spans + 1,
					 sizeof(*more));
	struct span *span;

	(void)columns;
	if (!more)
		return -ENOMEM;
	r->spans = more;
	span = &more[r->nr_spans++];
	memset(span, 0, sizeof(*span));
	span->number = (uint32_t)number(values[0]);
	span->phase = copy(values[1]);
	span->counters.id = (uint32_t)number(values[2]);
	span->disk = copy(values[3]);
	return copied(span->phase, span->disk);
}

/* Of a disk that is given bios alone nothing tells that, where it had none. */
static uint64_t never_counted(const struct recording *r, uint32_t target)
{
	for (size_t i = 0; i < r->nr_targets; i++)
		if (r->targets[i].id == target && r->targets[i].bio_based)
			return RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) |
			       RT_COUNTER_BIT(IN_FLIGHT);
	return 0;
}

static int sum_spans(struct store *store, struct recording *r)
{
	for (size_t i = 0; i < r->nr_spans; i++) {
		struct span *span = &r->spans[i];
		uint32_t target = span->counters.id;
		int err = store_sum(store, span->number, target,
				    &span->counters);

		if (err)
			return err;
		span->counters.id = target;
		span->counters.unknown |= never_counted(r, target);
	}
	return 0;
}

/*
 * What its recorder wrote is believed when it says more than that they hold. One that was
 * killed wrote nothing; without a sample there is nothing to say.
 */
static int judge(struct store *store, struct recording *r)
{
	struct pair *stored = NULL;
	char *found;
	int err;

	for (size_t i = 0; i < r->nr_meta; i++)
		if (!strcmp(r->meta[i].name, "invariants"))
			stored = &r->meta[i];
	if (stored ? strcmp(stored->value, "hold") : !r->nr_spans)
		return 0;
	err = store_invariants(store, r, &found);
	if (err)
		return err;
	if (!stored) {
		err = take_meta(r, 2, (const char *const[]){ "invariants", found });
		free(found);
		return err;
	}
	free(stored->value);
	stored->value = found;
	return 0;
}

/* Leave out spans of other phases. */
static void keep_phase(struct recording *r, const char *phase)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nr_spans; i++) {
		if (strcmp(r->spans[i].phase, phase)) {
			free(r->spans[i].phase);
			free(r->spans[i].disk);
			continue;
		}
		r->spans[kept++] = r->spans[i];
	}
	r->nr_spans = kept;
}

int recording_load(struct store *store, const char *phase,
		   struct recording *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = store_each_row(store, "SELECT key, value FROM meta ORDER BY key",
			     take_meta, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT target, disk, driver, pci, hctl,"
				     " unit_3ware, bio_based, rotational,"
				     " capacity_sectors, max_sectors,"
				     " max_hw_sectors, max_segments,"
				     " nr_requests, nr_hw_queues, nr_tags,"
				     " attached_ns, groups, streams, place_sectors"
				     " FROM target ORDER BY target",
				     take_target, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT time_ns, target, name, value"
				     " FROM setting ORDER BY time_ns, rowid",
				     take_setting, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT DISTINCT phase, name, target, disk"
				     " FROM sample JOIN phase USING(phase)"
				     " JOIN target USING(target)"
				     " ORDER BY phase, target",
				     take_span, ret);
	if (!err)
		err = besides_load(store, &ret->besides);
	if (!err && phase)
		keep_phase(ret, phase);
	if (!err)
		err = sum_spans(store, ret);
	return err ? err : judge(store, ret);
}

static void free_pairs(struct pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->nr_spans; i++) {
		free(r->spans[i].phase);
		free(r->spans[i].disk);
		rt_counters_free(&r->spans[i].counters);
	}
	free(r->spans);
	free(r->targets);
	besides_free(&r->besides);
	free_pairs(r->meta, r->nr_meta);
	free_pairs(r->settings, r->nr_settings);
	memset(r, 0, sizeof(*r));
}

const char *recording_meta(const struct recording *r, const char *key)
{
	for (size_t i = 0; i < r->nr_meta; i++)
		if (!strcmp(r->meta[i].name, key))
			return r->meta[i].value;
	return "";
}

const char *recording_setting(const struct recording *r, uint32_t target,
			      const char *name, uint64_t time_ns)
{
	const char *value = NULL;

	for (size_t i = 0; i < r->nr_settings; i++) {
		const struct pair *setting = &r->settings[i];

		if (setting->target == target && setting->time_ns <= time_ns &&
		    !strcmp(setting->name, name))
			value = setting->value;
	}
	return value;
}
