// SPDX-License-Identifier: GPL-2.0-or-later

/* raidctl report: what a recording holds, or how two of them differ. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/pager.h"
#include "cmd/command.h"
#include "disk/args.h"
#include "report/compare.h"
#include "report/definitions.h"
#include "report/print.h"
#include "store/load.h"
#include "store/store.h"

#define KEY_PHASE	'p'
#define KEY_EXPLAIN	'e'
#define KEY_HTML	'H'
#define KEY_VERBOSE	'v'
#define EXPLAIN_VERB	"explain"
/* Pages are drawn by a program of its own. */
#define HTML_VERB	"report-html"

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
	{ "html", KEY_HTML, "FILE", 0, "Write one self-contained HTML page with pictures to FILE instead of text; of one or two recordings, or of the directory of a sweep", 0 },
	{ "verbose", KEY_VERBOSE, NULL, 0, "Print all that was counted, behind the table", 0 },
	{ "explain", KEY_EXPLAIN, NULL, 0, "Instead of a report, say what the numbers are that have a NAME in it, or what all are; a name is a heading of the text or a member of the JSON", 0 },
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

static int print_two(const struct print_ops *print, const struct recording *a,
		     const struct recording *b)
{
	struct comparison comparison;
	int err = compare(a, b, &comparison);

	if (!err)
		print->comparison(stdout, &comparison);
	compare_free(&comparison);
	return err ? fail("%s", strerror(-err)) : EXIT_DONE;
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

static int report_all(const struct context *context,
		      const struct report_options *report)
{
	const struct print_ops *print = print_ops_of(report->json);
	struct recording recordings[2] = { 0 };
	int status = EXIT_DONE;

	for (size_t i = 0; i < report->words.nr && !status; i++)
		status = load(report->words.word[i], report->phase,
			      &recordings[i]);
	if (!status && report->words.nr == 2)
		status = print_two(print, &recordings[0], &recordings[1]);
	else if (!status)
		print_one(context, report, &recordings[0]);
	recording_free(&recordings[0]);
	recording_free(&recordings[1]);
	return status;
}

/* Become the program that draws; returns only if that fails. */
static int html(struct context *context, const struct report_options *report)
{
	char path[PATH_MAX + 64];
	char name[] = "raidctl report --html", end[] = "--";
	char *words[6] = { name, end, (char *)report->html, NULL };

	for (size_t i = 0; i < report->words.nr; i++)
		words[3 + i] = (char *)report->words.word[i];
	if (!find_program(context->directory, HTML_VERB, path, sizeof(path)))
		return fail("report --html: its program raidctl-" HTML_VERB
			    " is not installed beside %s/raidctl; build it with: make tools",
			    context->directory);
	execv(path, words);
	return fail("%s: %s", path, strerror(errno));
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
	status = report->explain ? explain(report) : report_all(context, report);
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
