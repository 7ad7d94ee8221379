// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl report: what a recording holds. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/terminal.h"
#include "cmd/command.h"
#include "disk/args.h"
#include "report/definitions.h"
#include "report/print.h"
#include "store/load.h"
#include "store/store.h"

#define KEY_PHASE	'p'
#define KEY_EXPLAIN	'e'
#define KEY_HTML	'H'
#define KEY_VERBOSE	'v'
#define EXPLAIN_VERB	"explain"
/* Pages are drawn, and two recordings set side by side, by programs of their own. */
#define HTML_VERB	"report-html"
#define COMPARE_VERB	"compare"

struct report_options {
	struct words words;
	const char *phase;
	const char *html;
	bool explain;
	bool verbose;
	bool json;
};

static const struct argp_option options[] = {
	OPTION_JSON,
	{ "phase", KEY_PHASE, "NAME", 0, "Only phases of that name", 0 },
	{ "html", KEY_HTML, "FILE", 0,
	  "Write one self-contained HTML page with pictures to FILE instead of text; of one or two recordings, or of the directory of a sweep",
	  0 },
	{ "verbose", KEY_VERBOSE, NULL, 0, "Print all that was counted, behind the table", 0 },
	{ "explain", KEY_EXPLAIN, NULL, 0,
	  "Instead of a report, say what the numbers are that have a NAME in it, or what all are; a name is a heading of the text or a member of the JSON",
	  0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *report = state->input;

	switch (key) {
	case KEY_JSON:
		report->json = true;
		return 0;
	case KEY_PHASE:
		report->phase = arg;
		return 0;
	case KEY_HTML:
		report->html = arg;
		return 0;
	case KEY_VERBOSE:
		report->verbose = true;
		return 0;
	case KEY_EXPLAIN:
		report->explain = true;
		return 0;
	case ARGP_KEY_ARG:
		return words_add(&report->words, arg);
	case ARGP_KEY_END:
		if (report->explain)
			return 0;
		if (!report->words.nr)
			argp_error(state, "name a RECORDING");
		if (report->words.nr > 2)
			argp_error(state, "one RECORDING, or two to compare");
		if (report->html && (report->json || report->phase))
			argp_error(state, "--html is the whole report: neither --json nor --phase go with it");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int explain(const struct report_options *report)
{
	const struct definition *found = NULL;
	int status = EXIT_DONE;

	for (size_t i = 0; i < nr_definitions && !report->words.nr; i++)
		explain_print(stdout, &definitions[i]);
	for (size_t i = 0; i < report->words.nr; i++) {
		const char *name = report->words.word[i];

		found = explain_find(name, NULL);
		if (!found)
			status = fail("%s: no number has that name; see them all: raidctl report --explain",
				      name);
		for (; found; found = explain_find(name, found))
			explain_print(stdout, found);
	}
	return status;
}

/* Read one recording whole; @recording is to be freed whatever comes of it. */
static int load(const char *path, const char *phase,
		struct recording *recording)
{
	struct store *store;
	int status = EXIT_DONE;

	memset(recording, 0, sizeof(*recording));
	if (store_open(path, &store))
		return fail("%s: %s", path, store_error(NULL));
	if (recording_load(store, phase, recording))
		status = fail("%s: cannot be read: %s", path,
			      store_error(store));
	else if (phase && !recording->nr_spans)
		status = fail("%s: it has no phase %s; see them all: raidctl report %s",
			      path, phase, path);
	recording->path = path;
	store_close(store);
	return status;
}

/* A recording as text begins with what explain says of it. */
static void print_one(const struct context *context,
		      const struct report_options *report,
		      const struct recording *recording)
{
	struct reading reading = { .verbose = report->verbose };
	struct explained explained = { 0 };
	char path[PATH_MAX + 64];

	if (!report->json) {
		explained_ask(find_program(context->directory, EXPLAIN_VERB, path,
					   sizeof(path)) ? path : NULL,
			    recording->path, report->phase, &explained);
		reading.explained = &explained;
	}
	print_ops_of(report->json)->recording(stdout, recording, &reading);
	explained_free(&explained);
}

static int report_one(const struct context *context,
		      const struct report_options *report)
{
	struct recording recording;
	int status = load(report->words.word[0], report->phase, &recording);

	if (!status)
		print_one(context, report, &recording);
	recording_free(&recording);
	return status;
}

/* Become a program that lies beside this one; returns only if that fails. */
static int become(const struct context *context, const char *verb, char **words)
{
	char path[PATH_MAX + 64];

	if (!find_program(context->directory, verb, path, sizeof(path)))
		return fail("report: its program raidctl-%s is not installed beside %s/raidctl; build it with: make tools",
			    verb, context->directory);
	execv(path, words);
	return no_program(path, errno);
}

static int html(const struct context *context, const struct report_options *report)
{
	char name[] = "raidctl report --html", end[] = "--";
	char *words[6] = { name, end, (char *)report->html, NULL };

	for (size_t i = 0; i < report->words.nr; i++)
		words[3 + i] = (char *)report->words.word[i];
	return become(context, HTML_VERB, words);
}

/* Two recordings side by side; the pager stays, so the program is a child. */
static int compare(const struct context *context, const struct report_options *report)
{
	char name[] = "raidctl report", all[] = "--all", json[] = "--json", phase[] = "--phase", end[] = "--";
	char columns[16];
	char *words[9] = { name, all };
	size_t nr = 2;
	int status;
	pid_t child;

	if (report->json)
		words[nr++] = json;
	if (report->phase) {
		words[nr++] = phase;
		words[nr++] = (char *)report->phase;
	}
	words[nr++] = end;
	for (size_t i = 0; i < report->words.nr; i++)
		words[nr++] = (char *)report->words.word[i];
	snprintf(columns, sizeof(columns), "%d", terminal_width(stdout));
	child = fork();
	if (!child) {
		setenv("COLUMNS", columns, 1);
		_exit(become(context, COMPARE_VERB, words));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return fail("report: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int run(struct context *context, void *data)
{
	struct report_options *report = data;
	int status;

	if (report->html && !report->explain) {
		status = html(context, report);
		free(report->words.word);
		return status;
	}
	if (!report->json)
		pager_begin();
	status = report->explain ? explain(report) :
		 report->words.nr == 2 ? compare(context, report) : report_one(context, report);
	pager_end();
	free(report->words.word);
	return status;
}

const struct verb verb_report = {
	.argp = {
		options, parse, "RECORDING [RECORDING]\n--html=FILE RECORDING [RECORDING]\n--html=FILE SWEEP\n--explain [NAME...]",
		"Print per phase and disk: requests, bytes, throughput, requests in flight, request sizes, sequential share, seeks, merges and splits, and latency from issue to completion (d2c). Of two recordings print both side by side, what differs between them, and what is not comparable.",
		NULL, NULL, NULL,
	},
	.options_size = sizeof(struct report_options),
	.run = run,
};
