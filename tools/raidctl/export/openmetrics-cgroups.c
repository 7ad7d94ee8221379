// SPDX-License-Identifier: GPL-2.0-or-later

/* Counters of each cgroup as OpenMetrics text: sums over the rows of all its processes. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "export/openmetrics.h"

/* Rows of one disk with the same path of a cgroup. */
struct charged {
	const char *disk;
	struct rt_submitter sum;
};

static const struct family {
	const char *name;
	const char *unit;
	const char *help;
	size_t offset;
} families[] = {
#define X(member, attribute, name, unit, help)				\
	{ name, unit, "of processes, charged to the cgroup: " help, offsetof(struct rt_submitter, member) },
	RT_SUBMITTER_COUNTERS(X)
#undef X
};

static struct charged *find(struct charged *all, size_t nr, const char *disk, const char *path)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(all[i].disk, disk) && !strcmp(all[i].sum.path, path))
			return &all[i];
	return NULL;
}

static struct charged *add_up(const struct span *spans, size_t nr_spans, size_t *nr)
{
	struct charged *all;
	size_t room = 1;

	for (size_t i = 0; i < nr_spans; i++)
		room += spans[i].counters.nr_submitters;
	all = calloc(room, sizeof(*all));
	*nr = 0;
	for (size_t i = 0; all && i < nr_spans; i++) {
		const struct span *span = &spans[i];

		for (size_t k = 0; k < span->counters.nr_submitters; k++) {
			const struct rt_submitter *row = &span->counters.submitters[k];
			struct charged *to;

			if (!*row->path)
				continue;
			to = find(all, *nr, span->disk, row->path);
			if (!to) {
				to = &all[(*nr)++];
				to->disk = span->disk;
				strcpy(to->sum.path, row->path);
			}
#define X(member, attribute, ...) to->sum.member += row->member;
			RT_SUBMITTER_COUNTERS(X)
#undef X
		}
	}
	return all;
}

static void write_family(FILE *to, const struct family *family,
			 const struct charged *all, size_t nr)
{
	metric_head(to, family->name, "counter", family->unit, family->help);
	for (size_t i = 0; i < nr; i++) {
		uint64_t n;

		memcpy(&n, (const char *)&all[i].sum + family->offset, sizeof(n));
		fprintf(to, "raidtrace_%s_total", family->name);
		metric_labels(to, all[i].disk, NULL, NULL);
		fputs(",cgroup=", to);
		metric_quoted(to, all[i].sum.path);
		fputs("} ", to);
		metric_total(to, family->unit, n);
		fputc('\n', to);
	}
}

int openmetrics_cgroups(FILE *to, const struct span *spans, size_t nr_spans)
{
	size_t nr;
	struct charged *all = add_up(spans, nr_spans, &nr);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; nr && i < sizeof(families) / sizeof(families[0]); i++)
		write_family(to, &families[i], all, nr);
	free(all);
	return 0;
}
