// SPDX-License-Identifier: GPL-2.0-or-later

/* What bin-sums adds up: by histogram, group and bin, and by sample. */

#include "sums.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/packed-read.h"

#define SEEK_SAME 64
#define NAME 48

enum role { OTHER, DEPTH_READ, DEPTH_WRITE, DEPTH_ALL, SEEK, PLACE };

struct histogram {
	char name[NAME]; /* direction, a blank, kind */
	size_t direction; /* length of it */
	enum role role;
};

struct sums {
	int64_t *count;
	size_t nr;
};

struct rows samples, places;
size_t nr_histograms;

static struct histogram histograms[MOST_HISTOGRAMS];
static size_t nr_sums;
static struct sums *sums; /* by group and histogram */

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bin-sums: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

void *must(void *memory)
{
	if (!memory)
		die("no memory");
	return memory;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		die("a sum is too large");
	return sum;
}

/* A row more, its numbers not set. */
static int64_t *row(struct rows *rows, size_t fields)
{
	if (rows->nr + fields > rows->room) {
		rows->room = 2 * rows->room + 1024 * fields;
		rows->at = must(reallocarray(rows->at, rows->room,
					     sizeof(*rows->at)));
	}
	rows->nr += fields;
	return rows->at + rows->nr - fields;
}

void sums_begin(size_t nr)
{
	sums = must(calloc(nr * MOST_HISTOGRAMS + 1, sizeof(*sums)));
}

static enum role role_of(const char *name)
{
	if (!strcmp(name, "read depth_time"))
		return DEPTH_READ;
	if (!strcmp(name, "write depth_time"))
		return DEPTH_WRITE;
	if (!strcmp(name, "all depth_time"))
		return DEPTH_ALL;
	if (!strcmp(strchr(name, ' '), " seek"))
		return SEEK;
	if (!strcmp(name, "read place") || !strcmp(name, "write place"))
		return PLACE;
	return OTHER;
}

static size_t new_histogram(const char *direction, const char *kind)
{
	struct histogram *h = &histograms[nr_histograms];

	if (nr_histograms == MOST_HISTOGRAMS)
		die("too many histograms");
	if (!*direction || !*kind ||
	    direction[strspn(direction, "abcdefghijklmnopqrstuvwxyz")] ||
	    kind[strspn(kind, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
	    snprintf(h->name, NAME, "%s %s", direction, kind) >= NAME)
		die("a histogram that raidctl does not write");
	h->direction = strlen(direction);
	h->role = role_of(h->name);
	return nr_histograms++;
}

static bool is(size_t at, const char *direction, const char *kind)
{
	const struct histogram *h = &histograms[at];

	return at < nr_histograms &&
	       !strncmp(h->name, direction, h->direction) &&
	       !direction[h->direction] &&
	       !strcmp(h->name + h->direction + 1, kind);
}

const char *histogram_name(size_t histogram)
{
	return histograms[histogram].name;
}

/* Which histogram a row is of: most often that of the row before, and then the one that came after it last time. */
size_t histogram_of(const char *direction, const char *kind)
{
	static size_t after[MOST_HISTOGRAMS], now;
	size_t before = now;

	if (!direction || !kind)
		die("a histogram without a name");
	if (is(now, direction, kind))
		return now;
	now = after[before];
	if (is(now, direction, kind))
		return now;
	for (now = 0; now < nr_histograms; now++)
		if (is(now, direction, kind))
			break;
	if (now == nr_histograms)
		now = new_histogram(direction, kind);
	after[before] = now;
	return now;
}

static void count(size_t histogram, size_t group, int64_t bin, int64_t n)
{
	struct sums *s = &sums[group * MOST_HISTOGRAMS + histogram];
	size_t nr = bin + 1;

	if (nr > s->nr) {
		nr_sums += nr - s->nr;
		if (nr_sums > MOST_SUMS)
			die("too many bins");
		s->count = must(reallocarray(s->count, nr, sizeof(*s->count)));
		memset(s->count + s->nr, 0, (nr - s->nr) * sizeof(*s->count));
		s->nr = nr;
	}
	s->count[bin] = add(s->count[bin], n);
}

static int64_t *sample_row(int64_t sample)
{
	int64_t *found = samples.nr ? samples.at + samples.nr - FIELDS : NULL;

	if (found && found[SAMPLE] == sample)
		return found;
	found = row(&samples, FIELDS);
	memset(found, 0, FIELDS * sizeof(*found));
	found[SAMPLE] = sample;
	found[IDLE] = -1;
	return found;
}

static void weigh(int64_t *depth, int64_t bin, int64_t n)
{
	int64_t weighted;

	if (__builtin_mul_overflow(bin, n, &weighted))
		die("a time is too long");
	depth[0] = add(depth[0], n);
	depth[1] = add(depth[1], weighted);
	depth[2] = bin;
}

static void note(size_t histogram, int64_t sample, int64_t bin, int64_t n)
{
	int64_t *to;

	switch (histograms[histogram].role) {
	case DEPTH_READ:
		weigh(sample_row(sample) + READ, bin, n);
		break;
	case DEPTH_WRITE:
		weigh(sample_row(sample) + WRITE, bin, n);
		break;
	case DEPTH_ALL:
		to = sample_row(sample) + IDLE;
		*to = *to < 0 ? 0 : *to;
		*to = bin ? *to : add(*to, n);
		break;
	case SEEK:
		to = sample_row(sample) + SEEKS;
		*to = bin == SEEK_SAME ? *to : add(*to, n);
		break;
	case PLACE:
		to = row(&places, 4);
		to[0] = sample;
		to[1] = (int64_t)histogram;
		to[2] = bin;
		to[3] = n;
		break;
	case OTHER:
		break;
	}
}

void sums_add(size_t histogram, size_t group, int64_t sample, int64_t bin, int64_t n)
{
	count(histogram, group, bin, n);
	note(histogram, sample, bin, n);
}

void sums_list(const struct group *groups, size_t nr, struct rows *to)
{
	for (size_t h = 0; h < nr_histograms; h++)
		for (size_t g = 0; g < nr; g++) {
			struct sums *s = &sums[g * MOST_HISTOGRAMS + h];

			for (size_t bin = 0; bin < s->nr; bin++) {
				int64_t *one;

				if (!s->count[bin])
					continue;
				one = row(to, 5);
				one[0] = (int64_t)h;
				one[1] = groups[g].target;
				one[2] = groups[g].phase;
				one[3] = (int64_t)bin;
				one[4] = s->count[bin];
			}
		}
}
