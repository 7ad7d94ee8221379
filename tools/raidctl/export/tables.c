// SPDX-License-Identifier: GPL-2.0-or-later

/* Every table of a recording: as CSV files, and as JSON. */

#include "export/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "format/csv.h"
#include "format/json.h"
#include "numbers/bins.h"
#include "numbers/columns.h"
#include "numbers/groups.h"
#include "store/load.h"
#include "store/store.h"

static void json_pair(FILE *to, const struct pair *pair)
{
	struct json_object *object = json_new_object();

	json_member(object, "key", json_new_string(pair->name));
	json_member(object, "value", json_new_string(pair->value));
	fputs("\n      ", to);
	json_put(to, json_text(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

/*
 * The table meta, as elements of a JSON array or as CSV without a header. A recording is loaded
 * with the invariants as they are found now, not as its recorder wrote them. 0 or -errno.
 */
static int meta_rows(struct store *store, FILE *to, bool json)
{
	struct recording recording;
	int err = recording_load(store, NULL, &recording);

	for (size_t i = 0; i < recording.nr_meta && !err; i++) {
		const struct pair *pair = &recording.meta[i];

		if (json && i)
			fputc(',', to);
		if (json)
			json_pair(to, pair);
		else
			csv_row(to, 2, (const char *const[]){ pair->name, pair->value });
		err = ferror(to) ? -EIO : 0;
	}
	recording_free(&recording);
	return err;
}

/**
 * struct table - a file of the export
 * @name: without .csv
 * @stored: table of the recording, NULL when it has the same name
 * @sql: what fills it, NULL for the columns of the table of that name
 * @order: of the rows
 * @row: writes one
 */
struct table {
	const char *name;
	const char *stored;
	const char *sql;
	const char *order;
	int (*row)(void *file, int nr, const char *const *values);
};

static int plain_row(void *file, int nr, const char *const *values)
{
	csv_row(file, nr, values);
	return ferror(file) ? -EIO : 0;
}

static unsigned int kind_of(const char *name)
{
	unsigned int kind = 0;

	while (kind < RT_KINDS && strcmp(rt_kind_name(kind), name))
		kind++;
	return kind;
}

/* Both ends of a bin, and the row that it is in if there are rows. */
static void bin_texts(unsigned int kind, unsigned int bin, char *row,
		      char *low, char *high, size_t size)
{
	unsigned int width = bin_columns(kind);
	int64_t end = bin_high(kind, bin);

	row[0] = '\0';
	high[0] = '\0';
	if (!strcmp(kind_unit(kind), "class")) {
		snprintf(row, size, "%s", rt_class_name(bin / width));
		snprintf(low, size, "%s", rt_class_name(bin % width));
		return;
	}
	if (width)
		snprintf(row, size, "%" PRIu32,
			 bin_row_low(kind, bin / width));
	snprintf(low, size, "%" PRId64, bin_low(kind, bin));
	if (end != INT64_MAX)
		snprintf(high, size, "%" PRId64, end);
}

/* sample, direction, kind, bin, count; the bounds come from the bin. */
static int histogram_row(void *file, int nr, const char *const *values)
{
	unsigned int kind = kind_of(values[2]);
	unsigned int bin = (unsigned int)strtoul(values[3], NULL, 10);
	char row[32], low[32], high[32];

	(void)nr;
	if (kind >= RT_KINDS || bin >= raidtrace_hist_bins(kind))
		return -EINVAL;
	bin_texts(kind, bin, row, low, high, sizeof(row));
	return plain_row(file, 11, (const char *const[]){
		values[0], values[1], values[2], values[3], row,
		!row[0] ? "" : kind_unit(kind)[0] == 'c' ? "class" : "requests",
		low, high, kind_unit(kind), values[4], kind_counted(kind),
	});
}

static const struct table tables[] = {
	{ "meta", NULL, NULL, "key", plain_row },
	{ "target", NULL, NULL, "target", plain_row },
	{ "setting", NULL, NULL, "time_ns, rowid", plain_row },
	{ "phase", NULL, NULL, "phase", plain_row },
	{ "sample", NULL, NULL, "sample", plain_row },
	{ "flow", NULL, NULL, "sample, direction", plain_row },
	{ "histogram", "bin",
	  "SELECT sample, direction, kind, bin, count FROM bin",
	  "sample, direction, kind, bin", histogram_row },
	{ "stack", NULL, NULL, "parent, target", plain_row },
	{ "note", NULL, NULL, "time_ns, rowid", plain_row },
	{ "host", NULL, NULL, "start_ns, rowid", plain_row },
	{ "disturbance", NULL, NULL, "disturbance", plain_row },
	{ "origin", NULL, NULL, "sample, class", plain_row },
	{ "submitter", NULL, NULL, "sample, submitter", plain_row },
	{ "request", NULL, NULL, "target, number", plain_row },
	{ "output", NULL, NULL, "rowid", plain_row },
};

static void header(FILE *file, const char *table)
{
	const char *names[STORE_COLUMNS];
	int nr = 0;

	for (size_t i = 0; i < nr_columns && nr < STORE_COLUMNS; i++)
		if (!strcmp(columns[i].table, table))
			names[nr++] = columns[i].name;
	csv_row(file, nr, names);
}

/* A file that an export of the same table made, or began and could not go on with: it may be written anew. */
static bool is_export(int fd, const char *table)
{
	char *begin = NULL, *there = NULL;
	size_t size;
	FILE *memory = open_memstream(&begin, &size);
	bool same = false;

	if (memory) {
		header(memory, table);
		/* The C library of Debian 13 says nothing of memory that it did not get. */
		if (!fclose(memory) && begin) {
			ssize_t len;

			there = malloc(size);
			len = there ? pread(fd, there, size, 0) : -1;
			same = len >= 0 && !memcmp(begin, there, (size_t)len);
		}
	}
	free(begin);
	free(there);
	return same;
}

/* No link is followed, and what is not an export stays as it is. */
static int open_own(const char *path, const char *table)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	struct stat st;

	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = open(path, flags);
	if (fd < 0)
		return fd;
	errno = EEXIST;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_export(fd, table) &&
	    !ftruncate(fd, 0))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static FILE *open_table(const char *directory, const char *name)
{
	char path[PATH_MAX];
	FILE *file = NULL;
	int fd;

	snprintf(path, sizeof(path), "%s/%s.csv", directory, name);
	fd = open_own(path, name);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (file)
		return file;
	if (errno == EEXIST)
		fail("%s: it is there and no export of that table; name another directory",
		     path);
	else
		fail("%s: %s; name another directory", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Columns are named: those of the file may be in another order. */
static void query(char *sql, size_t size, const struct table *table)
{
	size_t used = 0;

	if (table->sql) {
		snprintf(sql, size, "%s ORDER BY %s", table->sql, table->order);
		return;
	}
	for (size_t i = 0; i < nr_columns; i++)
		if (!strcmp(columns[i].table, table->name))
			used += (size_t)snprintf(sql + used, size - used,
						 "%s%s", used ? "," : "SELECT ",
						 columns[i].name);
	snprintf(sql + used, size - used, " FROM %s ORDER BY %s", table->name,
		 table->order);
}

static int close_table(FILE *file, const char *directory, const char *name)
{
	int failed = ferror(file);

	if (fclose(file) || failed)
		return fail("%s/%s.csv: %s", directory, name, strerror(errno));
	return 0;
}

static int export_table(struct store *store, const struct table *table,
			const char *path, const char *directory)
{
	FILE *file = open_table(directory, table->name);
	char sql[4096];
	int err;

	if (!file)
		return EXIT_FAILED;
	header(file, table->name);
	query(sql, sizeof(sql), table);
	err = strcmp(table->name, "meta") ?
		      store_each_row(store, sql, table->row, file) :
		      meta_rows(store, file, false);
	if (err && !ferror(file)) {
		fclose(file);
		return fail("%s: table %s cannot be read: %s", path,
			    table->name, err == -EINVAL ? "it is damaged" :
			    store_error(store));
	}
	return close_table(file, directory, table->name);
}

/* The data dictionary, about itself too. */
static int export_columns(const char *directory)
{
	FILE *file = open_table(directory, "columns");

	if (!file)
		return EXIT_FAILED;
	header(file, "columns");
	for (size_t i = 0; i < nr_columns; i++) {
		/* It is histogram.csv, with bounds. */
		if (!strcmp(columns[i].table, "bin"))
			continue;
		csv_row(file, 4, (const char *const[]){
			columns[i].table, columns[i].name, columns[i].unit,
			columns[i].meaning,
		});
	}
	return close_table(file, directory, "columns");
}

int export_csv(struct store *store, const char *path, const char *directory)
{
	int status = 0;

	if (mkdir(directory, 0777) && errno != EEXIST)
		return fail("%s: cannot be made: %s; name another directory",
			    directory, strerror(errno));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !status;
	     i++)
		status = export_table(store, &tables[i], path, directory);
	return status ? status : export_columns(directory);
}

/* A query whose rows are JSON objects with a member for each column. */
static void json_query(char *sql, size_t size, const struct table *table)
{
	const char *name = table->stored ? table->stored : table->name;
	const char *comma = "";
	size_t used = (size_t)snprintf(sql, size, "SELECT json_object(");

	for (size_t i = 0; i < nr_columns; i++) {
		if (strcmp(columns[i].table, name))
			continue;
		used += (size_t)snprintf(sql + used, size - used, "%s'%s',%s",
					 comma, columns[i].name, columns[i].name);
		comma = ",";
	}
	snprintf(sql + used, size - used, ") FROM %s ORDER BY %s", name,
		 table->order);
}

/* struct rows - where the objects of one table go */
struct rows {
	FILE *to;
	bool any;
};

static int json_row(void *data, int nr, const char *const *values)
{
	struct rows *rows = data;
	(void)nr;
	fprintf(rows->to, "%s\n      ", rows->any ? "," : "");
	json_put(rows->to, values[0]);
	rows->any = true;
	return ferror(rows->to) ? -EIO : 0;
}

static void json_columns(FILE *to)
{
	static const char *const members[] = { "table", "column", "unit",
					       "meaning" };

	fputs("{\n  \"columns\": [", to);
	for (size_t i = 0; i < nr_columns; i++) {
		const char *const values[] = { columns[i].table, columns[i].name,
					       columns[i].unit,
					       columns[i].meaning };
		struct json_object *object;

		/* These are of the CSV alone. */
		if (!strcmp(values[0], "histogram") ||
		    !strcmp(values[0], "columns"))
			continue;
		object = json_new_object();
		for (size_t m = 0; m < 4; m++)
			json_member(object, members[m],
				    json_new_string(values[m]));
		fprintf(to, "%s\n    %s", i ? "," : "",
			json_text(object, JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(object);
	}
	fputs("\n  ],\n  \"tables\": {", to);
}

int export_json(struct store *store, const char *path)
{
	char sql[8192];
	int err = 0;

	json_columns(stdout);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++) {
		struct rows rows = { .to = stdout };

		printf("%s\n    \"%s\": [", i ? "," : "",
		       tables[i].stored ? tables[i].stored : tables[i].name);
		json_query(sql, sizeof(sql), &tables[i]);
		err = strcmp(tables[i].name, "meta") ?
			      store_each_row(store, sql, json_row, &rows) :
			      meta_rows(store, stdout, true);
		fputs("\n    ]", stdout);
	}
	fputs("\n  }\n}\n", stdout);
	if (err)
		return fail("%s: cannot be read: %s", path, store_error(store));
	return 0;
}
