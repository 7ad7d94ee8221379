// SPDX-License-Identifier: GPL-2.0-or-later

/* Sums of what was stored. */

#include "store/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	/* Of a disk that is given bios alone nothing tells that, where it had none. */
	if (number(values[4]))
		span->counters.unknown = RT_COUNTER_BIT(ISSUED) | RT_COUNTER_BIT(COMPLETED) |
					 RT_COUNTER_BIT(IN_FLIGHT);
	return copied(span->phase, span->disk);
}

int recording_load(struct store *store, struct recording *ret)
{
	int err;

	memset(ret, 0, sizeof(*ret));
	err = store_each_row(store, "SELECT key, value FROM meta ORDER BY key",
			     take_meta, ret);
	if (!err)
		err = store_each_row(store,
				     "SELECT DISTINCT phase, name, target, disk, bio_based"
				     " FROM sample JOIN phase USING(phase)"
				     " JOIN target USING(target)"
				     " ORDER BY phase, target",
				     take_span, ret);
	for (size_t i = 0; i < ret->nr_spans && !err; i++) {
		struct span *span = &ret->spans[i];
		uint64_t never = span->counters.unknown;

		err = store_sum(store, span->number, span->counters.id, &span->counters);
		span->counters.unknown |= never;
	}
	return err;
}

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->nr_spans; i++) {
		free(r->spans[i].phase);
		free(r->spans[i].disk);
		rt_counters_free(&r->spans[i].counters);
	}
	free(r->spans);
	for (size_t i = 0; i < r->nr_meta; i++) {
		free(r->meta[i].name);
		free(r->meta[i].value);
	}
	free(r->meta);
	memset(r, 0, sizeof(*r));
}

const char *recording_meta(const struct recording *r, const char *key)
{
	for (size_t i = 0; i < r->nr_meta; i++)
		if (!strcmp(r->meta[i].name, key))
			return r->meta[i].value;
	return "";
}
