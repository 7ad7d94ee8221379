// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * bin-sums RECORDING LAST: the histograms of a recording up to sample LAST, in one pass over its samples, or over its table
 * of bins where an older raidctl made it.
 *
 * For tools/python/raidtrace/recording/bin_sums.py, which has a witness of its own in Python. On standard output: a line
 * "histograms sums samples places", for each histogram a line "direction kind", and then rows of int64:
 *  - sums, by histogram, target, phase and bin: these four, and the count; none that is 0;
 *  - samples in which depth-time or seek was counted: sample, then for read and for write the time (ns), the same
 *    weighted by depth, and the last depth; ns of direction all at depth 0, -1 if it has no row; requests that are seeks;
 *  - places: sample, histogram, bin, count.
 *
 * Exit status 1, with a word on standard error: the file has what raidctl does not write, or cannot be read.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db.h"
#include "store/packed-read.h"
#include "sums.h"

static size_t nr_groups;
static struct group *groups;
static int32_t *group_of; /* by number of sample, -1: there is none */
static int64_t last;

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
	sums_begin(nr_groups);
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

static void take_bin(int64_t sample, size_t histogram, int64_t bin, int64_t n)
{
	if (sample < 0 || group_of[sample] < 0 || bin < 0 ||
	    bin >= PACKED_BINS || n < 0)
		die("bins or counts that raidctl does not write");
	sums_add(histogram, (size_t)group_of[sample], sample, bin, n);
}

static void read_rows(sqlite3 *db)
{
	sqlite3_stmt *stmt = prepare(db, "SELECT sample, direction, kind, bin, count FROM bin WHERE sample <= ?"
				     " ORDER BY sample, direction, kind, bin");

	while (step(db, stmt))
		take_bin(number(stmt, 0),
			 histogram_of((const char *)sqlite3_column_text(stmt, 1),
				      (const char *)sqlite3_column_text(stmt, 2)),
			 number(stmt, 3), number(stmt, 4));
}

/* The text of one sample. */
struct sample_text {
	int64_t sample;
	size_t histogram;
};

static int on_histogram(void *data, const char *direction, const char *kind)
{
	((struct sample_text *)data)->histogram = histogram_of(direction, kind);
	return 0;
}

static int on_bin(void *data, unsigned int bin, uint64_t n)
{
	const struct sample_text *packed = data;

	take_bin(packed->sample, packed->histogram, bin, (int64_t)n);
	return 0;
}

static void read_packed(sqlite3 *db)
{
	sqlite3_stmt *stmt = prepare(db, "SELECT sample, histograms FROM sample WHERE sample <= ?"
				     " AND histograms IS NOT NULL");
	struct sample_text packed;
	const struct packed_reader reader = { on_histogram, on_bin, &packed };

	while (step(db, stmt)) {
		const char *text = (const char *)sqlite3_column_text(stmt, 1);

		packed.sample = number(stmt, 0);
		if (!text || packed_read(text, &reader))
			die("histograms that raidctl does not write");
	}
}

static bool has(sqlite3 *db, const char *query)
{
	sqlite3_stmt *stmt = prepare(db, query);
	bool any = sqlite3_step(stmt) == SQLITE_ROW;

	sqlite3_finalize(stmt);
	return any;
}

/* Rows of a table in older recordings, else a text of each sample. */
static void read_bins(sqlite3 *db)
{
	if (has(db, "SELECT 1 FROM pragma_table_info('sample') WHERE name='histograms'"))
		read_packed(db);
	if (has(db, "SELECT 1 FROM sqlite_master WHERE type='table' AND name='bin'"))
		read_rows(db);
}

static void put(const struct rows *rows)
{
	if (rows->nr)
		fwrite(rows->at, sizeof(*rows->at), rows->nr, stdout);
}

int main(int argc, char **argv)
{
	struct rows all = { 0 };
	struct store *store;
	sqlite3 *db;
	char *end;

	if (argc != 3 || (last = strtoll(argv[2], &end, 10)) < 0 || *end ||
	    end == argv[2] || last >= INT32_MAX)
		die("usage: bin-sums RECORDING LAST-SAMPLE");
	if (store_open_part(argv[1], &store))
		die("%s", store_error(NULL));
	db = store->db;
	read_groups(db);
	read_bins(db);
	sums_list(groups, nr_groups, &all);
	printf("%zu %zu %zu %zu\n", nr_histograms, all.nr / 5,
	       samples.nr / FIELDS, places.nr / 4);
	for (size_t h = 0; h < nr_histograms; h++)
		puts(histogram_name(h));
	put(&all);
	put(&samples);
	put(&places);
	store_close(store);
	return fflush(stdout) || ferror(stdout);
}
