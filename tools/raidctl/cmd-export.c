// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl export: a recording as tables that other programs read. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns.h"
#include "command.h"
#include "csv.h"
#include "histogram.h"
#include "message.h"
#include "openmetrics.h"
#include "print.h"
#include "recording.h"
#include "store.h"

#define KEY_CSV 'c'
#define KEY_OPENMETRICS 'm'

struct export_options {
	const char *directory;
	const char *metrics;
	const char *path;
	bool json;
};

static const struct argp_option options[] = {
	{ "csv", KEY_CSV, "DIR", 0, "Write one CSV file per table into DIR, which is made if it is not there", 0 },
	{ "openmetrics", KEY_OPENMETRICS, "FILE", 0, "Write the totals as OpenMetrics text, for a node exporter's textfile directory; FILE is replaced at once", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print the sums per phase and disk as JSON, as raidctl report --json does", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_options *export = state->input;

	switch (key) {
	case KEY_CSV:
		export->directory = arg;
		return 0;
	case KEY_OPENMETRICS:
		export->metrics = arg;
		return 0;
	case KEY_JSON:
		export->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (export->path)
			argp_error(state, "one RECORDING at a time");
		export->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!export->path)
			argp_error(state, "name a RECORDING");
		if (!export->directory && !export->json && !export->metrics)
			argp_error(state, "say how: --csv DIR or --json or --openmetrics FILE");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/**
 * struct table - a file of the export
 * @name: without .csv
 * @sql: what fills it, NULL for the columns of the table of that name
 * @order: of the rows
 * @row: writes one
 */
struct table {
	const char *name;
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

/* sample, direction, kind, bin, count; the bounds come from the bin. */
static int histogram_row(void *file, int nr, const char *const *values)
{
	static const char *const units[RT_KINDS] = {
		[RAIDTRACE_HISTOGRAM_KIND_SIZE] = "sectors",
		[RAIDTRACE_HISTOGRAM_KIND_SEEK] = "sectors",
		[RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME] = "requests",
		[RAIDTRACE_HISTOGRAM_KIND_DEPTH_ISSUE] = "requests",
		[RAIDTRACE_HISTOGRAM_KIND_D2C] = "ns",
		[RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED] = "sectors",
		[RAIDTRACE_HISTOGRAM_KIND_I2D] = "ns",
		[RAIDTRACE_HISTOGRAM_KIND_Q2C] = "ns",
		[RAIDTRACE_HISTOGRAM_KIND_DEPTH_D2C] = "ns",
		[RAIDTRACE_HISTOGRAM_KIND_PLACE] = "1/256 of the disk",
		[RAIDTRACE_HISTOGRAM_KIND_UNPLUG] = "requests",
		[RAIDTRACE_HISTOGRAM_KIND_BLAME] = "class",
		[RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE] = "class",
		[RAIDTRACE_HISTOGRAM_KIND_RA_SYNC] = "sectors",
		[RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC] = "sectors",
	};
	static const char *const counted[RT_KINDS] = {
		[RAIDTRACE_HISTOGRAM_KIND_DEPTH_TIME] = "ns",
		[RAIDTRACE_HISTOGRAM_KIND_SEEK_QUEUED] = "bios",
		[RAIDTRACE_HISTOGRAM_KIND_Q2C] = "pieces",
		[RAIDTRACE_HISTOGRAM_KIND_PLACE] = "bytes",
		[RAIDTRACE_HISTOGRAM_KIND_UNPLUG] = "unplugs",
		[RAIDTRACE_HISTOGRAM_KIND_BLAME_DISTANCE] = "sectors",
		[RAIDTRACE_HISTOGRAM_KIND_RA_SYNC] = "windows",
		[RAIDTRACE_HISTOGRAM_KIND_RA_ASYNC] = "windows",
	};
	unsigned int kind = kind_of(values[2]);
	unsigned int bin = (unsigned int)strtoul(values[3], NULL, 10);
	char low[32], high[32] = "";
	int64_t end;

	(void)nr;
	if (kind >= RT_KINDS || bin >= raidtrace_hist_bins(kind))
		return -EINVAL;
	end = raidtrace_hist_high(kind, bin);
	snprintf(low, sizeof(low), "%" PRId64, raidtrace_hist_low(kind, bin));
	if (end != INT64_MAX)
		snprintf(high, sizeof(high), "%" PRId64, end);
	return plain_row(file, 9, (const char *const[]){
		values[0], values[1], values[2], values[3], low, high,
		units[kind], values[4],
		counted[kind] ? counted[kind] : "requests",
	});
}

static const struct table tables[] = {
	{ "meta", NULL, "key", plain_row },
	{ "target", NULL, "target", plain_row },
	{ "setting", NULL, "time_ns, rowid", plain_row },
	{ "phase", NULL, "phase", plain_row },
	{ "sample", NULL, "sample", plain_row },
	{ "flow", NULL, "sample, direction", plain_row },
	{ "histogram",
	  "SELECT sample, direction, kind, bin, count FROM bin",
	  "sample, direction, kind, bin", histogram_row },
	{ "stack", NULL, "parent, target", plain_row },
	{ "note", NULL, "time_ns, rowid", plain_row },
	{ "host", NULL, "start_ns, rowid", plain_row },
	{ "disturbance", NULL, "disturbance", plain_row },
	{ "output", NULL, "rowid", plain_row },
};

static FILE *open_table(const char *directory, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.csv", directory, name);
	file = fopen(path, "we");
	if (!file)
		fail("%s: %s; name another directory", path, strerror(errno));
	return file;
}

static void header(FILE *file, const char *table)
{
	const char *names[STORE_COLUMNS];
	int nr = 0;

	for (size_t i = 0; i < nr_columns && nr < STORE_COLUMNS; i++)
		if (!strcmp(columns[i].table, table))
			names[nr++] = columns[i].name;
	csv_row(file, nr, names);
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
			const struct export_options *export)
{
	FILE *file = open_table(export->directory, table->name);
	char sql[4096];
	int err;

	if (!file)
		return EXIT_FAILED;
	header(file, table->name);
	query(sql, sizeof(sql), table);
	err = store_each_row(store, sql, table->row, file);
	if (err && !ferror(file)) {
		fclose(file);
		return fail("%s: table %s cannot be read: %s", export->path,
			    table->name, err == -EINVAL ? "it is damaged" :
			    store_error(store));
	}
	return close_table(file, export->directory, table->name);
}

/* The data dictionary, about itself too. */
static int export_columns(const char *directory)
{
	FILE *file = open_table(directory, "columns");

	if (!file)
		return EXIT_FAILED;
	header(file, "columns");
	for (size_t i = 0; i < nr_columns; i++)
		csv_row(file, 4, (const char *const[]){
			columns[i].table, columns[i].name, columns[i].unit,
			columns[i].meaning,
		});
	return close_table(file, directory, "columns");
}

static int export_csv(struct store *store, const struct export_options *export)
{
	int status = 0;

	if (mkdir(export->directory, 0777) && errno != EEXIST)
		return fail("%s: cannot be made: %s; name another directory",
			    export->directory, strerror(errno));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !status;
	     i++)
		status = export_table(store, &tables[i], export);
	return status ? status : export_columns(export->directory);
}

static int export_json(struct store *store, const struct export_options *export)
{
	struct recording recording;
	int status = 0;

	if (recording_load(store, NULL, &recording))
		status = fail("%s: cannot be read: %s", export->path,
			      store_error(store));
	recording.path = export->path;
	if (!status)
		print_json.recording(stdout, &recording);
	recording_free(&recording);
	return status;
}

/* Into a file beside @path, which a reader never finds half written. */
static int write_metrics(const char *path, const struct recording *recording)
{
	char beside[PATH_MAX];
	mode_t mask = umask(0);
	int fd, err;
	FILE *file;

	umask(mask);
	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >=
	    (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		err = -errno;
		close(fd);
		unlink(beside);
		return err;
	}
	err = openmetrics_write(file, recording);
	/* mkostemp() keeps others out; an exporter is somebody else. */
	if (!err && (fflush(file) || fchmod(fd, 0666 & ~mask) || fsync(fd)))
		err = -errno;
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

static int export_metrics(struct store *store,
			  const struct export_options *export)
{
	struct recording recording;
	int err, status = 0;

	if (recording_load(store, NULL, &recording)) {
		status = fail("%s: cannot be read: %s", export->path,
			      store_error(store));
	} else {
		err = write_metrics(export->metrics, &recording);
		if (err)
			status = fail("%s: %s; name another file",
				      export->metrics, strerror(-err));
	}
	recording_free(&recording);
	return status;
}

static int run(struct context *context, void *data)
{
	struct export_options *export = data;
	struct store *store;
	int status = 0;

	(void)context;
	if (store_open(export->path, &store))
		return fail("%s: %s", export->path, store_error(NULL));
	if (export->directory)
		status = export_csv(store, export);
	if (!status && export->metrics)
		status = export_metrics(store, export);
	if (!status && export->json)
		status = export_json(store, export);
	store_close(store);
	return status;
}

const struct verb verb_export = {
	.argp = {
		options, parse, "RECORDING",
		"Write a recording as CSV (RFC 4180), one file per table and columns.csv that says what each column means, as OpenMetrics text, or as JSON.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct export_options),
	.run = run,
};
