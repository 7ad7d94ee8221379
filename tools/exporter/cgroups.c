// SPDX-License-Identifier: GPL-2.0-or-later

/* Counters per cgroup, from scrape to scrape. One thread answers, so there is one state. */

#include "cgroups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "machine/machine.h"

#define CGROUPS	256	/* of a disk, at most */

struct followed {
	uint32_t id;
	uint64_t since_ns;	/* attach or last reset; it differs after another load, attach or reset */
	uint32_t scrape;	/* number of the last one */
	struct rt_counters last;	/* its rows then */
	struct rt_counters sums;	/* a row for each cgroup; its index is the number of the last scrape with it */
};

static struct followed *disks;
static size_t nr_disks;
static uint32_t scrape;

static struct followed *find_disk(const struct rt_counters *counters)
{
	struct followed *more;

	for (size_t i = 0; i < nr_disks; i++)
		if (disks[i].id == counters->id)
			return &disks[i];
	more = reallocarray(disks, nr_disks + 1, sizeof(*more));
	if (!more)
		return NULL;
	disks = more;
	more[nr_disks] = (struct followed){ .id = counters->id, .since_ns = counters->since_ns };
	return &more[nr_disks++];
}

/* Did this row have the same process and cgroup at the last scrape? */
static const struct rt_submitter *before(const struct followed *disk, const struct rt_submitter *row)
{
	for (size_t i = 0; i < disk->last.nr_submitters; i++) {
		const struct rt_submitter *was = &disk->last.submitters[i];

		if (was->index != row->index)
			continue;
#define X(member, attribute, ...)					\
		if (was->member > row->member)				\
			return NULL;
		RT_SUBMITTER_COUNTERS(X)
#undef X
		return was->cgroup == row->cgroup && was->pid == row->pid &&
		       !strcmp(was->comm, row->comm) ? was : NULL;
	}
	return NULL;
}

static struct rt_submitter *sum_of(struct followed *disk, uint64_t cgroup)
{
	const struct rt_submitter none = { .cgroup = cgroup };
	struct rt_counters *sums = &disk->sums;

	for (size_t i = 0; i < sums->nr_submitters; i++)
		if (sums->submitters[i].cgroup == cgroup)
			return &sums->submitters[i];
	return rt_submitters_append(sums, &none) ? NULL : &sums->submitters[sums->nr_submitters - 1];
}

/* Add the gain of a row since the last scrape, or since attach; at the first scrape nothing. */
static int add_gain(struct followed *disk, const struct rt_submitter *row, bool begun)
{
	const struct rt_submitter *was = begun ? before(disk, row) : row;
	struct rt_submitter *sum = sum_of(disk, row->cgroup);

	if (!sum)
		return -ENOMEM;
	sum->index = scrape;
#define X(member, attribute, ...) sum->member += row->member - (was ? was->member : 0);
	RT_SUBMITTER_COUNTERS(X)
#undef X
	return 0;
}

static bool is_forgotten(const struct rt_submitter *sum)
{
	return sum->index != scrape && !strncmp(sum->path, "removed ", strlen("removed "));
}

static int by_last_scrape(const void *a, const void *b)
{
	const struct rt_submitter *x = a, *y = b;

	return (x->index < y->index) - (x->index > y->index);
}

static void forget(struct rt_counters *sums)
{
	size_t kept = 0;

	for (size_t i = 0; i < sums->nr_submitters; i++)
		if (!is_forgotten(&sums->submitters[i]))
			sums->submitters[kept++] = sums->submitters[i];
	sums->nr_submitters = kept;
	if (kept > CGROUPS) {
		qsort(sums->submitters, kept, sizeof(*sums->submitters), by_last_scrape);
		sums->nr_submitters = CGROUPS;
	}
}

int cgroups_follow(struct rt_counters *counters)
{
	struct followed *disk = find_disk(counters);
	struct rt_submitter *copy;
	int err = 0;

	if (!disk)
		return -ENOMEM;
	if (disk->since_ns != counters->since_ns) {
		rt_counters_free(&disk->last);
		rt_counters_free(&disk->sums);
		*disk = (struct followed){ .id = counters->id, .since_ns = counters->since_ns };
	}
	for (size_t i = 0; i < counters->nr_submitters && !err; i++)
		if (counters->submitters[i].cgroup)
			err = add_gain(disk, &counters->submitters[i], scrape);
	disk->scrape = scrape;
	cgroups_name(&disk->sums);
	forget(&disk->sums);
	copy = reallocarray(NULL, disk->sums.nr_submitters + 1, sizeof(*copy));
	if (err || !copy) {
		free(copy);
		return -ENOMEM;
	}
	for (size_t i = 0; i < disk->sums.nr_submitters; i++)
		copy[i] = disk->sums.submitters[i];
	rt_counters_free(&disk->last);
	disk->last.submitters = counters->submitters;
	disk->last.nr_submitters = counters->nr_submitters;
	counters->submitters = copy;
	counters->nr_submitters = disk->sums.nr_submitters;
	return 0;
}

void cgroups_scraped(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr_disks; i++) {
		if (disks[i].scrape == scrape) {
			disks[kept++] = disks[i];
			continue;
		}
		rt_counters_free(&disks[i].last);
		rt_counters_free(&disks[i].sums);
	}
	nr_disks = kept;
	scrape++;
}
