/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Inputs that are drawn, the same each time, and what came of them as one line
 * a text: its length and checksum.  DRAWN_KEEP=DIRECTORY writes the texts, to
 * be compared with those of the commit before.
 */

#ifndef DRAWN_H
#define DRAWN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "full.h"
#include "unit.h"

/* One of the numbers below a limit. */
static inline uint64_t drawn(uint64_t *state, uint64_t limit)
{
	return full_next(state) % limit;
}

/* A number at or beside one where something changes: nothing, one, a unit, a column's width. */
static inline uint64_t drawn_edge(uint64_t *state)
{
	static const uint64_t edges[] = { 0, 1, 2, 8, 10, 100, 256, 1000, 1024, 4096, 10000, 1000000, 1 << 20, 1000000000, 1 << 30 };

	/* One draw: what is drawn first in an expression, compilers choose. */
	uint64_t n = full_next(state), edge = edges[n % (sizeof(edges) / sizeof(edges[0]))];

	return edge * (n >> 8 & 1 ? 3 : 1) + (n >> 12) % 3 - (edge && !(n >> 16 & 3));
}

/* A line on a text, which is freed. */
static inline void digest(FILE *to, const char *name, char *text)
{
	const char *keep = getenv("DRAWN_KEEP");
	char path[512];

	fprintf(to, "%s: %zu bytes, %08lx\n", name, strlen(text),
		crc32(0, (const unsigned char *)text, (unsigned int)strlen(text)));
	if (keep) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", keep, name);
		file = fopen(path, "we");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	free(text);
}

/* What writes a text of drawn inputs. */
struct drawn_kind {
	const char *name;
	void (*go)(FILE *to, uint64_t *state);
};

/* Rounds of each kind, one after the other, held against the golden file of their digests. */
static inline void drawn_golden(const char *file, const struct drawn_kind *kinds, size_t nr, int rounds, uint64_t state)
{
	char *all, *text, name[32];
	size_t size;
	FILE *to = open_memstream(&all, &size);

	for (size_t k = 0; k < nr; k++)
		for (int i = 0; i < rounds; i++) {
			FILE *one = open_memstream(&text, &size);

			kinds[k].go(one, &state);
			fclose(one);
			snprintf(name, sizeof(name), "%s-%d", kinds[k].name, i);
			digest(to, name, text);
		}
	fclose(to);
	golden(file, all);
}

static inline void say_histogram(FILE *to, const struct rt_histogram *h)
{
	fprintf(to, "; from %u %u:", h->first_bin, h->nr_bins);
	for (unsigned int i = 0; i < h->nr_bins; i++)
		fprintf(to, " %" PRIu64, h->counts[i]);
}

/* All that was counted. */
static inline void say_counters(FILE *to, const struct rt_counters *c)
{
	fprintf(to, "%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %d %" PRIu64 " %x %" PRIx64 " %x", c->id, c->snapshot, c->since_ns,
		c->now_ns, c->resets, c->gone, c->readahead_sectors, c->groups, c->unknown, c->disk.unknown);
#define X(member, attribute, ...) fprintf(to, " %" PRIu64, c->disk.member);
	RT_DISK_COUNTERS(X)
#undef X
	fprintf(to, " %u %u\n", c->disk.streams_alive, c->disk.streams_alive_queued);
	for (unsigned int i = 0; i < RT_CLASSES; i++) {
#define X(member, attribute, ...) fprintf(to, " %" PRIu64, c->origin[i].member);
		RT_ORIGIN_COUNTERS(X)
#undef X
	}
	for (unsigned int i = 0; i < c->nr_hwqs; i++) {
		fprintf(to, "\n%u %u", c->hwq[i].in_flight, c->hwq[i].in_flight_max);
#define X(member, attribute, ...) fprintf(to, " %" PRIu64, c->hwq[i].member);
		RT_HWQ_COUNTERS(X)
#undef X
	}
	for (size_t i = 0; i < c->nr_submitters; i++) {
		const struct rt_submitter *s = &c->submitters[i];

		fprintf(to, "\n%u %d %u %s %" PRIu64, s->index, s->rest, s->pid, s->comm, s->cgroup);
#define X(member, attribute, ...) fprintf(to, " %" PRIu64, s->member);
		RT_SUBMITTER_COUNTERS(X)
#undef X
	}
	for (unsigned int d = 0; d < RT_DIRECTIONS; d++) {
		fprintf(to, "\n%u %u", c->flow[d].in_flight, c->flow[d].in_flight_max);
#define X(member, attribute, ...) fprintf(to, " %" PRIu64, c->flow[d].member);
		RT_FLOW_COUNTERS(X)
#undef X
		for (unsigned int k = 0; k < RT_KINDS; k++)
			if (c->histogram[d][k].counts)
				say_histogram(to, &c->histogram[d][k]);
	}
	fputc('\n', to);
}

#endif
