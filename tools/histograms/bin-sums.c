// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * bin-sums RECORDING LAST: the histograms of a recording up to sample LAST, in one pass over its table of bins.
 *
 * For tools/python/raidtrace/bin_sums.py, which has a witness of its own in Python. On standard output: a line
 * "histograms sums samples places", for each histogram a line "direction kind", and then rows of int64:
 *  - sums, by histogram, target, phase and bin: these four, and the count; none that is 0;
 *  - samples in which depth-time or seek was counted: sample, then for read and for write the time (ns), the same
 *    weighted by depth, and the last depth; ns of direction all at depth 0, -1 if it has no row; requests that are seeks;
 *  - places: sample, histogram, bin, count.
 *
 * Exit status 1, with a word on standard error: the file has what raidctl does not write, or cannot be read.
 */

#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HISTOGRAMS 128
#define MOST_BINS 65536
#define MOST_SUMS (1 << 25) /* of all histograms: 256 MiB */
#define SEEK_SAME 64
#define NAME 48

enum role { OTHER, DEPTH_READ, DEPTH_WRITE, DEPTH_ALL, SEEK, PLACE };

enum { SAMPLE, READ, WRITE = READ + 3, IDLE = WRITE + 3, SEEKS, FIELDS };

struct histogram {
	char name[NAME]; /* direction, a blank, kind */
	size_t direction; /* length of it */
	enum role role;
};

struct sums {
	int64_t *count;
	size_t nr;
};

struct group {
	int64_t target, phase;
};

struct rows {
	int64_t *at;
	size_t nr, room; /* numbers */
};

static struct histogram histograms[MOST_HISTOGRAMS];
static size_t nr_histograms, nr_groups, nr_sums;
static struct sums *sums; /* by group and histogram */
static struct group *groups;
static int32_t *group_of; /* by number of sample, -1: there is none */
static int64_t last;
static struct rows samples, places;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bin-sums: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void *must(void *memory)
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

static sqlite3_stmt *prepare(sqlite3 *db, const char *query)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, query, -1, &stmt, NULL))
		die("%s", sqlite3_errmsg(db));
	sqlite3_bind_int64(stmt, 1, last);
	return stmt;
}

static bool step(sqlite3 *db, sqlite3_stmt *stmt)
{
	int err = sqlite3_step(stmt);

	if (err == SQLITE_ROW)
		return true;
	if (err != SQLITE_DONE)
		die("%s", sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	return false;
}

static int64_t number(sqlite3_stmt *stmt, int column)
{
	sqlite3_value *value = sqlite3_column_value(stmt, column);

	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		die("a number is none");
	return sqlite3_value_int64(value);
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return (x->phase > y->phase) - (x->phase < y->phase);
}

static void read_groups(sqlite3 *db)
{
	sqlite3_stmt *stmt = prepare(db, "SELECT DISTINCT target, phase"
				     " FROM sample WHERE sample <= ?");
	struct group key, *found;

	while (step(db, stmt)) {
		groups = must(reallocarray(groups, nr_groups + 1,
					   sizeof(*groups)));
		groups[nr_groups++] = (struct group){ number(stmt, 0),
						      number(stmt, 1) };
	}
	if (nr_groups > MOST_SUMS / MOST_HISTOGRAMS)
		die("too many phases");
	if (nr_groups)
		qsort(groups, nr_groups, sizeof(*groups), by_key);
	sums = must(calloc(nr_groups * MOST_HISTOGRAMS + 1, sizeof(*sums)));
	group_of = must(malloc((last + 1) * sizeof(*group_of)));
	for (int64_t at = 0; at <= last; at++)
		group_of[at] = -1;
	stmt = prepare(db, "SELECT sample, target, phase FROM sample"
		       " WHERE sample <= ?");
	while (step(db, stmt)) {
		key = (struct group){ number(stmt, 1), number(stmt, 2) };
		found = nr_groups ? bsearch(&key, groups, nr_groups,
					    sizeof(key), by_key) : NULL;
		if (!found || number(stmt, 0) < 0)
			die("a sample that raidctl does not write");
		group_of[number(stmt, 0)] = (int32_t)(found - groups);
	}
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

/* Which histogram a row is of: most often that of the row before, and then the one that came after it last time. */
static size_t histogram_of(sqlite3_stmt *stmt)
{
	static size_t after[MOST_HISTOGRAMS], now;
	const char *direction = (const char *)sqlite3_column_text(stmt, 1);
	const char *kind = (const char *)sqlite3_column_text(stmt, 2);
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

static void count(size_t histogram, int32_t group, int64_t bin, int64_t n)
{
	struct sums *s = &sums[group * (size_t)MOST_HISTOGRAMS + histogram];
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

static void read_bins(sqlite3 *db)
{
	sqlite3_stmt *stmt = prepare(db, "SELECT sample, direction, kind, bin, count FROM bin WHERE sample <= ?"
				     " ORDER BY sample, direction, kind, bin");
	int64_t sample, bin, n;
	size_t histogram;

	while (step(db, stmt)) {
		sample = number(stmt, 0);
		bin = number(stmt, 3);
		n = number(stmt, 4);
		histogram = histogram_of(stmt);
		if (sample < 0 || group_of[sample] < 0 || bin < 0 ||
		    bin >= MOST_BINS || n < 0)
			die("bins or counts that raidctl does not write");
		count(histogram, group_of[sample], bin, n);
		note(histogram, sample, bin, n);
	}
}

static void list_sums(struct rows *to)
{
	for (size_t h = 0; h < nr_histograms; h++)
		for (size_t g = 0; g < nr_groups; g++) {
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

static void put(const struct rows *rows)
{
	if (rows->nr)
		fwrite(rows->at, sizeof(*rows->at), rows->nr, stdout);
}

int main(int argc, char **argv)
{
	struct rows all = { 0 };
	sqlite3 *db;
	char *end;

	if (argc != 3 || (last = strtoll(argv[2], &end, 10)) < 0 || *end ||
	    end == argv[2] || last >= INT32_MAX)
		die("usage: bin-sums RECORDING LAST-SAMPLE");
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY |
			    SQLITE_OPEN_NOMUTEX, NULL))
		die("%s", sqlite3_errmsg(db));
	sqlite3_exec(db, "PRAGMA mmap_size=1073741824", NULL, NULL, NULL);
	read_groups(db);
	read_bins(db);
	list_sums(&all);
	printf("%zu %zu %zu %zu\n", nr_histograms, all.nr / 5,
	       samples.nr / FIELDS, places.nr / 4);
	for (size_t h = 0; h < nr_histograms; h++)
		puts(histograms[h].name);
	put(&all);
	put(&samples);
	put(&places);
	sqlite3_close(db);
	return fflush(stdout) || ferror(stdout);
}
