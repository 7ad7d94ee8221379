// SPDX-License-Identifier: GPL-2.0-or-later

/* Arithmetic on the processes of struct rt_counters. */

#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rt_submitters_append(struct rt_counters *counters,
			 const struct rt_submitter *submitter)
{
	struct rt_submitter *more;

	more = reallocarray(counters->submitters, counters->nr_submitters + 1,
			    sizeof(*more));
	if (!more)
		return -ENOMEM;
	counters->submitters = more;
	more[counters->nr_submitters++] = *submitter;
	return 0;
}

/* Between two resets a row belongs to one process, but a span may cross a reset. */
static bool same(const struct rt_submitter *a, const struct rt_submitter *b)
{
	return a->index == b->index && a->rest == b->rest && a->pid == b->pid &&
	       !strcmp(a->comm, b->comm) && a->cgroup == b->cgroup &&
	       (a->cgroup || !strcmp(a->path, b->path));
}

static struct rt_submitter *find(struct rt_counters *counters,
				 const struct rt_submitter *like)
{
	for (size_t i = 0; i < counters->nr_submitters; i++)
		if (same(&counters->submitters[i], like))
			return &counters->submitters[i];
	return NULL;
}

int rt_submitters_add(struct rt_counters *sum, const struct rt_counters *next)
{
	for (size_t i = 0; i < next->nr_submitters; i++) {
		const struct rt_submitter *from = &next->submitters[i];
		struct rt_submitter *to = find(sum, from);

		if (!to) {
			if (rt_submitters_append(sum, from))
				return -ENOMEM;
			continue;
		}
#define X(member, attribute, ...) to->member += from->member;
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	return 0;
}

static bool less(const struct rt_submitter *a, const struct rt_submitter *b)
{
#define X(member, attribute, ...)						\
	if (a->member < b->member)					\
		return true;
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return false;
}

/* The process that has a row now, NULL if the reply does not contain it. */
static const struct rt_submitter *current_process(const struct rt_counters *now,
						  uint32_t index)
{
	for (size_t i = 0; i < now->nr_submitters; i++)
		if (now->submitters[i].index == index)
			return &now->submitters[i];
	return NULL;
}

int rt_submitters_release(struct rt_counters *last, const struct rt_counters *now)
{
	struct rt_submitter rest = { .rest = true };
	bool any = false;
	size_t kept = 0;

	for (size_t i = 0; i < now->nr_submitters; i++)
		if (now->submitters[i].rest)
			rest.index = now->submitters[i].index;
	for (size_t i = 0; i < last->nr_submitters; i++) {
		const struct rt_submitter *was = &last->submitters[i];
		const struct rt_submitter *is = current_process(now, was->index);

		if (was->rest || !is || (same(was, is) && !less(is, was))) {
			last->submitters[kept++] = *was;
			continue;
		}
		any = true;
#define X(member, attribute, ...) rest.member += was->member;
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	last->nr_submitters = kept;
	if (!any)
		return 0;
	return rt_submitters_add(last, &(const struct rt_counters){
					       .nr_submitters = 1, .submitters = &rest });
}

static int subtract(struct rt_submitter *to, const struct rt_submitter *from)
{
#define X(member, attribute, ...)					\
	if (to->member < from->member)					\
		return -ERANGE;						\
	to->member -= from->member;
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return 0;
}

int rt_submitters_subtract(struct rt_counters *counters,
			   const struct rt_counters *from)
{
	for (size_t i = 0; i < from->nr_submitters; i++) {
		struct rt_submitter *to = find(counters, &from->submitters[i]);

		if (!to || subtract(to, &from->submitters[i]))
			return -ERANGE;
	}
	return 0;
}

/* New processes are few, so memory is reserved one by one. */
int rt_submitters_make_room(struct rt_counters *counters,
			    const struct rt_counters *next)
{
	for (size_t i = 0; i < next->nr_submitters; i++) {
		struct rt_submitter none = next->submitters[i];

		if (find(counters, &none))
			continue;
#define X(member, attribute, ...) none.member = 0;
		RT_SUBMITTER_COUNTERS(X)
#undef X
		if (rt_submitters_append(counters, &none))
			return -ENOMEM;
	}
	return 0;
}

int rt_submitters_less(struct rt_counters *counters,
		       const struct rt_counters *from)
{
	for (size_t i = 0; i < counters->nr_submitters; i++) {
		struct rt_submitter *to = &counters->submitters[i];
		const struct rt_submitter *before =
			find((struct rt_counters *)from, to);

		if (before && subtract(to, before))
			return -ERANGE;
	}
	return 0;
}
