// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl export: a recording as tables that other programs read. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "cmd/command.h"
#include "export/openmetrics.h"
#include "export/tables.h"
#include "store/load.h"
#include "store/store.h"

#define KEY_CSV 'c'
#define KEY_OPENMETRICS 'm'
#define KEY_PERFETTO 'p'
/* A program of its own. */
#define PERFETTO_VERB "export-perfetto"

struct export_options {
	const char *directory;
	const char *metrics;
	const char *trace;
	const char *path;
	bool json;
};

static const struct argp_option options[] = {
	{ "csv", KEY_CSV, "DIR", 0, "Write one CSV file per table into DIR, which is made if it is not there", 0 },
	{ "openmetrics", KEY_OPENMETRICS, "FILE", 0,
	  "Write the totals as OpenMetrics text, for a node exporter's textfile directory; FILE is replaced at once",
	  0 },
	{ "perfetto", KEY_PERFETTO, "FILE", 0,
	  "Write what happened over time as a trace of Perfetto: phases as slices, throughput, depth and latency as counters",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "Print every row of every table as JSON, and what each column means", 0 },
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
	case KEY_PERFETTO:
		export->trace = arg;
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
		if (!export->directory && !export->json && !export->metrics &&
		    !export->trace)
			argp_error(state, "say how: --csv DIR or --json or --openmetrics FILE or --perfetto FILE");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

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
	err = openmetrics_write(file, recording, false);
	/*
	 * A write in the middle that failed is forgotten by those after it.
	 * mkostemp() keeps others out; an exporter is somebody else.
	 */
	if (!err && (fflush(file) || ferror(file) ||
		     fchmod(fd, 0666 & ~mask) || fsync(fd)))
		err = errno ? -errno : -EIO;
	if (fclose(file) && !err)
		err = -errno;
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

/* A file that an export made before, or an empty one: what else is there is somebody's. */
static bool is_metrics(const char *path)
{
	static const char begin[] = "# TYPE raidtrace";
	char text[sizeof(begin) - 1];
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, sizeof(text), file) : 1;

	if (file)
		fclose(file);
	return !len || (len == sizeof(text) && !memcmp(text, begin, len));
}

static int export_metrics(struct store *store,
			  const struct export_options *export)
{
	struct recording recording;
	int err, status = 0;
	struct stat st;

	/* A device, say, of the whole machine. */
	if (!lstat(export->metrics, &st) && !S_ISREG(st.st_mode))
		return fail("%s: exists and is no regular file; name another file",
			    export->metrics);
	if (!access(export->metrics, F_OK) && !is_metrics(export->metrics))
		return fail("%s: is there and is no export; name another file",
			    export->metrics);
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

/* Become the program that writes a trace; returns only if that fails. */
static int export_trace(const struct context *context,
			const struct export_options *export)
{
	char program[PATH_MAX + 64];

	if (!find_program(context->directory, PERFETTO_VERB, program,
			  sizeof(program)))
		return fail("export --perfetto: its program raidctl-" PERFETTO_VERB
			    " is not installed beside %s/raidctl; build it with: make tools",
			    context->directory);
	fflush(stdout);
	execl(program, "raidctl export --perfetto", "--", export->trace,
	      export->path, NULL);
	return no_program(program, errno);
}

static int run(struct context *context, void *data)
{
	struct export_options *export = data;
	struct store *store;
	int status = 0;

	if (store_open(export->path, &store))
		return fail("%s: %s", export->path, store_error(NULL));
	if (export->directory)
		status = export_csv(store, export->path, export->directory);
	if (!status && export->metrics)
		status = export_metrics(store, export);
	if (!status && export->json)
		status = export_json(store, export->path);
	store_close(store);
	return !status && export->trace ? export_trace(context, export) : status;
}

const struct verb verb_export = {
	.argp = {
		options, parse, "RECORDING",
		"Write a recording as CSV (RFC 4180), one file per table and columns.csv that says what each column means, as OpenMetrics text, as a trace of Perfetto, or as JSON.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct export_options),
	.run = run,
};
